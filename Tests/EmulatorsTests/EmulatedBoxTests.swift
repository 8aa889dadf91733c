import Codecs
import Emulators
import Fleet
import Settings
import SimKit
import Testing

struct EmulatedBoxTests {
    private static let now: Int64 = 1_789_344_000_000
    private static func scenario(_ yaml: String) throws -> Scenario {
        try Scenario(yaml: Array(yaml.utf8), name: "s.yaml")
    }

    @Test func whatABoxSaysFollowsFromScenarioSeedAndTime() throws {
        let scenario = try Self.scenario(
            "memory_min: 5\nboxes:\n  a:\n    values:\n      coolant_c: 80 .. 99 over 40 min\n")
        let box = EmulatedBox(scenario, seed: 7, index: 3)
        let newest = Self.now / 60_000
        #expect(box.newest(atMs: Self.now + 59_999) == newest && box.newest(atMs: Self.now + 60_000) == newest + 1)
        let page = box.answer(.backlog(after: 0, most: 64), atMs: Self.now, challenge: [], isProven: false)
        #expect(page == .backlog(newest: newest, (newest - 4...newest).map { box.reading($0) }))
        #expect(box.reading(newest).ts == newest * 60_000)
        let again = EmulatedBox(scenario, seed: 7, index: 3)
        #expect(again.reading(newest) == box.reading(newest) && again.debugLogKey == box.debugLogKey)
        let others = (0..<1_000).map { EmulatedBox(scenario, seed: 8, index: $0).serial }
        #expect(Set(others).count == 1_000 && !others.contains(box.serial))
    }

    @Test func everyStandardValueIsPossibleForTheWire() throws {
        let scenario = try Self.scenario("boxes:\n  a:\n    model: S690 Combine\n  b:\n    weight: 1\n")
        for index in 0..<20 {
            let box = EmulatedBox(scenario, seed: 1, index: index)
            for minute in Int64(0)..<200 {
                let reading = box.reading((Self.now / 60_000) + minute * 7)
                let answer = MTGAnswer.reading(reading)
                let frame = try #require(try MTGFrame.first(of: answer.encoded(), contentMax: 1_000)).frame
                #expect(try MTGAnswer(frame) == answer)
                #expect(reading.values.count == MachineParameter.ofBox.count)
            }
        }
    }

    @Test func wavesGoWhereTheySay() {
        let there = Wave("80 .. 100 over 40 min")!
        #expect(
            [0, 10, 20, 30, 40].map { there.value(atMs: $0 * 60_000, shift: 0) } == [
                80_000, 90_000, 100_000, 90_000, 80_000,
            ])
        let again = Wave("193 to 153 over 40 min")!
        #expect(
            [0, 10, 39, 40].map { again.value(atMs: $0 * 60_000, shift: 0) } == [193_000, 183_000, 154_000, 193_000])
        #expect(Wave("84.999")!.value(atMs: Self.now, shift: 500) == 84_999)
        for text in ["", "x", "1 2", "1 to 2", "1 to 2 over 0 min", "1 to 2 over 3 h", "1 - 2 over 3 min"] {
            #expect(Wave(text) == nil, "\(text)")
        }
    }

    @Test func weightsAreKeptExactly() throws {
        let scenario = try Self.scenario("boxes:\n  bad:\n    weight: 1\n    peer: silent\n  good:\n    weight: 99\n")
        let peers = (0..<300).map { scenario.group(ofBox: $0).peer }
        #expect(peers.count { $0 == .silent } == 3)
    }

    @Test func everyFaultOfAScenarioIsSaid() {
        let error = #expect(throws: SettingsError.self) {
            try Self.scenario(
                "interval_s: soon\ncolour: red\nboxes:\n  a:\n    peer: rude\n    wight: 1\n    values:\n      coolant_c: hot\n      colour: 1\n"
            )
        }
        #expect(error?.faults.count == 6)
        #expect(error?.description.contains("s.yaml: boxes.a.peer: is `rude`, must be one of answers, silent") == true)
        #expect(throws: SettingsError.self) { try Self.scenario("interval_s: 1\n") }
    }

    @Test func theDebugLogNeedsTheProofAndComesInPages() throws {
        let box = EmulatedBox(try Self.scenario("memory_min: 4320\nboxes:\n  a:\n    weight: 1\n"), seed: 1, index: 0)
        let (request, none) = (MTGRequest.debugLog(from: 0, proof: [UInt8](repeating: 0, count: 32)), [UInt8]())
        #expect(box.answer(request, atMs: Self.now, challenge: none, isProven: false) == .refused(.proofWrong))
        guard
            case .debugLog(0, let total, let text) = box.answer(
                request, atMs: Self.now, challenge: none, isProven: true)
        else {
            Issue.record("no log")
            return
        }
        #expect(text.count == 32_768 && total > 100_000)
        let beyond = MTGRequest.debugLog(from: .max, proof: [])
        #expect(
            box.answer(beyond, atMs: Self.now, challenge: none, isProven: true)
                == .debugLog(from: .max, total: total, []))
    }

    @Test("A machine goes up and down its field") func field() throws {
        let yaml = """
            interval_s: 10
            boxes:
              a:
                field: 60.3630,25.1994 60.3630,25.2060 60.3648,25.1994 lanes 8 at 6 km/h
            """
        let box = EmulatedBox(try Self.scenario(yaml), seed: 1, index: 0)
        let places = (0..<2_000 as Range<Int64>).map { step -> Position in
            let reading = box.reading(Self.now / 10_000 + step)
            return Position(latitude: reading.latitude!, longitude: reading.longitude!)
        }
        #expect(
            places.allSatisfy {
                (603_630_000...603_648_000).contains($0.latitude) && (251_994_000...252_060_000).contains($0.longitude)
            })
        // 6 km/h are 16.7 m in 10 s.
        #expect(zip(places, places.dropFirst()).allSatisfy { $0.metres(to: $1) < 17.5 })
        #expect(
            Set(places.map(\.latitude)).count > 8
                && places.contains { $0.longitude == 252_060_000 || $0.longitude > 252_058_000 })
        #expect(throws: SettingsError.self) { try Self.scenario("boxes:\n  a:\n    field: here and there\n") }
    }

    @Test("Waves begin when they are told to") func begins() throws {
        let scenario = try Self.scenario("boxes:\n  a:\n    values:\n      coolant_c: 80 .. 100 over 40 min\n")
        let box = EmulatedBox(scenario, seed: 5, index: 0, startMs: Self.now)
        let minute = Self.now / 60_000
        let values = [-10, 0, 10, 20, 40].map { box.reading(minute + $0).values[.coolantTemperature] }
        #expect(values == [90_000, 80_000, 90_000, 100_000, 80_000])
    }

    @Test("The sample's machines load") func sample() throws {
        let scenario = try Scenario(yaml: Repository.bytes("Deploy/sample/farm.yaml"), name: "farm.yaml")
        #expect(
            scenario.groups.count == 5 && scenario.box(of: "north-combine") != nil && scenario.box(of: "none") == nil)
    }

    @Test("The scenarios that ship load", arguments: try! Repository.names("Deploy/scenarios", ending: ".yaml"))
    func shipped(_ name: String) throws {
        let yaml = try Repository.bytes("Deploy/scenarios/\(name)")
        #expect(try !Scenario(yaml: yaml, name: name).groups.isEmpty)
    }
}
