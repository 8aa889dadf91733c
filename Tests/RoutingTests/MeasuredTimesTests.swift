import Routing
import SimKit
import Testing

/// Ways that somebody measured, in the decisions of a campus.
struct MeasuredTimesTests {
    private static let (a, b) = (CampusPoint(xM: 0, yM: 0), CampusPoint(xM: 1_000, yM: 0))
    private static let (pickup, dropoff) = (CampusPoint(xM: 400, yM: 0), CampusPoint(xM: 400, yM: 900))

    private static func campus() -> Campus {
        var campus = Campus(rules: DispatchRules(), travel: .kilometresPerHour(20))!
        _ = campus.apply(.entered(vehicle: "a", capacity: 4, place: a), atMs: 0, seed: 0)
        _ = campus.apply(.entered(vehicle: "b", capacity: 4, place: b), atMs: 0, seed: 0)
        return campus
    }

    private static func table(_ toPickup: [Double?]) -> MeasuredTable {
        let seconds: [Double?] = [toPickup[0], 500, toPickup[1], 400, nil, 200, 210, nil]
        return MeasuredTable(by: "roads", from: [a, b, pickup, dropoff], to: [pickup, dropoff], seconds: seconds)!
    }

    private static let request = RideRequest(id: "r", passengers: 1, pickup: pickup, dropoff: dropoff)

    @Test("Measured ways decide where they are known: a railway lies between") func decides() {
        var campus = Self.campus()
        let plain = campus.apply(.requested(Self.request), atMs: 1_000, seed: 0)
        #expect(plain.outcome == .assigned(vehicle: "a"))
        campus = Self.campus()
        let said = campus.apply(.timesMeasured(Self.table([300, 120])), atMs: 900, seed: 0)
        #expect(said.outcome == .done && said.itineraries.isEmpty && campus.measuredBy == "roads")
        let decision = campus.apply(.requested(Self.request), atMs: 1_000, seed: 0)
        #expect(decision.outcome == .assigned(vehicle: "b"))
        let best = decision.choices[0].options[0]
        #expect(best.legs.map(\.seconds) == [120, 200] && best.legs.allSatisfy(\.isMeasured))
        // Driven, waited and ridden by one.
        #expect((best.growth - (120 + 200 + 120 + 200)).magnitude < 1e-9)
    }

    @Test("A vehicle that has driven on some metres is still where it was measured; further away distance decides")
    func near() {
        for (metres, isMeasured) in [(99.0, true), (101.0, false)] {
            var campus = Self.campus()
            _ = campus.apply(.timesMeasured(Self.table([300, 120])), atMs: 900, seed: 0)
            _ = campus.apply(.moved(vehicle: "b", place: CampusPoint(xM: 1_000 + metres, yM: 0)), atMs: 950, seed: 0)
            let decision = campus.apply(.requested(Self.request), atMs: 1_000, seed: 0)
            let option = decision.choices[0].options.first { $0.vehicle == "b" }
            #expect(option?.legs.map(\.isMeasured) == [isMeasured, true])
        }
    }

    @Test("What nobody needs is forgotten after a while, and what is outstanding is kept") func forgets() {
        var campus = Self.campus()
        _ = campus.apply(.timesMeasured(Self.table([300, 120])), atMs: 900, seed: 0)
        _ = campus.apply(.requested(Self.request), atMs: 1_000, seed: 0)
        campus.forgetMeasured(nowMs: 1_000_000)
        #expect(campus.measuredPlaceCount == 4 && campus.fault == nil)
        _ = campus.apply(.cancelled(request: "r"), atMs: 1_100, seed: 0)
        campus.forgetMeasured(nowMs: 100_000)
        #expect(campus.measuredPlaceCount == 4)
        campus.forgetMeasured(nowMs: 200_000)
        // The vehicles stand there still.
        #expect(campus.measuredPlaceCount == 2 && campus.travel.sites == 2)
        #expect(campus.vehicles.map(\.place.site) == [0, 1])
    }

    @Test("Another source replaces what the one before said") func anotherSource() {
        var campus = Self.campus()
        _ = campus.apply(.timesMeasured(Self.table([300, 120])), atMs: 900, seed: 0)
        let other = MeasuredTable(by: "other", from: [Self.a], to: [Self.pickup], seconds: [77])!
        _ = campus.apply(.timesMeasured(other), atMs: 950, seed: 0)
        #expect(campus.measuredPlaceCount == 2 && campus.measuredBy == "other")
        #expect(campus.travel.measuredS.filter { !$0.isNaN } == [77])
    }

    @Test(
        "Tables beyond the bounds are none",
        arguments: [
            ("", 1, 1, [1.0]), ("by", 1, 1, []), ("by", 1, 1, [-1]), ("by", 1, 1, [.nan]), ("by", 1, 1, [1e7]),
            ("by", 201, 0, []),
        ] as [(String, Int, Int, [Double])])
    func bad(_ by: String, _ rows: Int, _ columns: Int, _ seconds: [Double]) {
        let (from, to) = (
            Array(repeating: Self.a, count: rows), Array(repeating: Self.b, count: columns)
        )
        #expect(MeasuredTable(by: by, from: from, to: to, seconds: seconds) == nil)
    }

    @Test(
        "Any tables in any order: the campus stays sound, bounded and the same after a snapshot",
        arguments: 0..<UInt64(5))
    func anything(_ seed: UInt64) throws {
        var chance = SeededChance(seed: seed)
        var campus = Self.campus()
        func place() -> CampusPoint {
            CampusPoint(xM: Double(chance.below(30)) * 40, yM: Double(chance.below(30)) * 40)
        }
        var nowMs: Int64 = 1_000
        for number in 0..<40 {
            nowMs += chance.below(40_000)
            switch chance.below(5) {
            case 0, 1:
                let (from, to) = (
                    (0..<1 + chance.below(12)).map { _ in place() }, (0..<1 + chance.below(12)).map { _ in place() }
                )
                let seconds = (0..<from.count * to.count).map { _ in
                    chance.once(in: 5) ? nil : Double(chance.below(600_000)) / 1_000
                }
                let by = chance.once(in: 20) ? "other" : "roads"
                _ = campus.apply(
                    .timesMeasured(MeasuredTable(by: by, from: from, to: to, seconds: seconds)!), atMs: nowMs, seed: 0)
            case 2:
                _ = campus.apply(
                    .requested(RideRequest(id: "r\(number)", passengers: 1, pickup: place(), dropoff: place())),
                    atMs: nowMs, seed: 3)
            case 3:
                if let ride = campus.rides.first {
                    _ = campus.apply(.pickedUp(request: ride.request.id), atMs: nowMs, seed: 0);
                    _ = campus.apply(.droppedOff(request: ride.request.id), atMs: nowMs, seed: 0)
                }
            default: _ = campus.apply(.moved(vehicle: "a", place: place()), atMs: nowMs, seed: 0)
            }
            campus.forgetMeasured(nowMs: nowMs)
            #expect(campus.fault == nil && campus.measuredPlaceCount <= 250, "seed \(seed)")
            let again = try Campus(packed: campus.packed())
            #expect(
                again.packed() == campus.packed() && again.vehicles == campus.vehicles && again.rides == campus.rides,
                "seed \(seed)")
        }
    }
}
