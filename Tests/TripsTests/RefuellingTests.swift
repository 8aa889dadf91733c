import Codecs
import Fleet
import Foundation
import SimKit
import Testing
import Trips

struct RefuellingTests {
    private static let startMs: Int64 = 1_767_225_600_000

    /// A reading each ten seconds: levels by minute in percent, with sloshing of up to `slosh` percent and the steps of
    /// PID 2F. A minute that is left out says nothing.
    private func drive(
        _ levels: [Int: Double], standing: Range<Int> = 0..<0, slosh: Double = 6, seed: UInt64 = 1
    ) -> [CarReading] {
        var chance = SeededChance(seed: seed)
        return levels.sorted { $0.key < $1.key }.flatMap { minute, level in
            (0..<6).map { part in
                let swing = (Double(chance.below(2_001)) / 1_000 - 1) * slosh
                let raw = min(255, max(0, ((level + swing) * 2.55).rounded()))
                return CarReading(
                    ts: Self.startMs + Int64(minute) * 60_000 + Int64(part) * 10_000,
                    [
                        .fuelLevel: Int32((raw * 100 / 255 * 1_000).rounded()),
                        .speed: standing.contains(minute) ? 0 : 50_000,
                    ])
            }
        }
    }

    private func levels(_ minutes: Range<Int>, _ level: @escaping (Int) -> Double) -> [Int: Double] {
        Dictionary(uniqueKeysWithValues: minutes.map { ($0, level($0)) })
    }

    @Test("A filling behind a silence is found where it was, sloshing or not", arguments: 0..<40 as Range<UInt64>)
    func silence(seed: UInt64) throws {
        let before = levels(0..<20) { 30 - Double($0) * 0.2 }
        let after = levels(30..<50) { 80 - Double($0 - 30) * 0.2 }
        let found = Refuelling.all(in: drive(before.merging(after) { $1 }, seed: seed))
        let filling = try #require(found.first)
        #expect(found.count == 1)
        #expect(filling.fromMs == Self.startMs + 19 * 60_000)
        #expect(filling.untilMs == Self.startMs + 30 * 60_000)
        // From 26.4 to 79.6 %, within what sloshing leaves: 53.2 % of 50 L.
        #expect(abs(try #require(filling.litres(tankMl: 50_000)) - 26.6) < 3)
        #expect(filling.litres(tankMl: nil) == nil)
    }

    @Test func aFillingWithTheEngineOnIsFoundWhereTheCarStands() {
        let all = levels(0..<40) { $0 < 20 ? 40 : 60 }
        #expect(Refuelling.all(in: drive(all, standing: 18..<21)).count == 1)
        // A tank does not fill on the road: the sensor stuck, or the car came off a slope.
        #expect(Refuelling.all(in: drive(all)).isEmpty)
    }

    @Test func twoFillingsAreTwo() {
        let all = levels(0..<10) { _ in 10 }.merging(levels(20..<30) { _ in 40 }) { $1 }
            .merging(levels(40..<50) { _ in 90 }) { $1 }
        #expect(
            Refuelling.all(in: drive(all)).map { $0.untilMs } == [20, 40].map { Self.startMs + $0 * 60_000 })
    }

    @Test(
        "No filling",
        arguments: [
            ("a flat level", 0..<30, 0..<0, 50.0, 50.0), ("5 % more behind a silence", 0..<10, 20..<30, 50, 55),
            ("less behind a silence", 0..<10, 20..<30, 50, 30), ("two minutes only behind it", 0..<10, 20..<22, 20, 80),
            ("two minutes only before it", 8..<10, 20..<30, 20, 80), ("nothing", 0..<0, 0..<0, 0, 0),
        ] as [(String, Range<Int>, Range<Int>, Double, Double)])
    func none(_ name: String, _ first: Range<Int>, _ second: Range<Int>, _ before: Double, _ after: Double) {
        let all = levels(first) { _ in before }.merging(levels(second) { _ in after }) { $1 }
        #expect(Refuelling.all(in: drive(all, standing: 0..<60, slosh: 4)).isEmpty, "\(name)")
    }

    private func recorded(_ name: String, from startMs: Int64) throws -> [CarReading] {
        let bytes = [UInt8](try Data(contentsOf: Reference.shared[0].appending(path: name)))
        return try LoggerFile(fileName: name, startMs: startMs).read(bytes).readings.unioned()
    }

    @Test(
        "Recorded drives, whose levels swing by up to 49 % of the tank, show none",
        .enabled(if: Reference.hasShared, "put the project's ../shared beside the checkout"))
    func recordedDrives() throws {
        let names = Reference.cases([Reference.shared[0]]).map { $0.columns["file"]! }
        #expect(names.count == 11)
        for name in names { #expect(Refuelling.all(in: try recorded(name, from: Self.startMs)).isEmpty) }
    }

    /// The medians of the last and first five minutes of the two recordings, by Python: 18.4 and 59.6 %.
    @Test(
        "A recorded drive on a low tank, then one on a full one",
        .enabled(if: Reference.hasShared, "put the project's ../shared beside the checkout"))
    func recordedPair() throws {
        let first = try recorded("drive5.csv", from: Self.startMs)
        let second = try recorded("drive1.csv", from: Self.startMs + 3_600_000)
        let found = Refuelling.all(in: first + second)
        #expect(found.count == 1)
        #expect(abs(Double(found[0].beforeMilliPct) / 1_000 - 20.0) < 1.5)
        #expect(abs(Double(found[0].afterMilliPct) / 1_000 - 58.5) < 2)
    }
}
