import Codecs
import Emulators
import Fleet
import Foundation
import Pipeline
import SimKit
import Testing

/// A day of an emulated campus, decided by the real `CampusPartition`.
struct EmulatedCampusTests {
    private struct Day {
        var records: [RideRecord] = []
        var rides: [String: RideRow] = [:]
        var alarmed = false
    }

    private static let startMs: Int64 = 1_795_269_600_000

    private static func play(seed: UInt64, streets: Streets? = nil) throws -> Day {
        var campus = EmulatedCampus(campus: "c", seed: seed, startMs: startMs, streets: streets)
        var (campuses, day) = (CampusPartition(clockMs: 0, decidesFrom: 0), Day())
        func take(_ records: [RideRecord]) throws {
            for record in records {
                // As it goes over the log.
                let value = RideRecords.encode(record)
                let read = try unsafe TickOrRecord(value, key: Array("c".utf8), RideRecords.decode)
                #expect(read == .record(record))
                try campuses.accept(record, offset: Int64(day.records.count), atMs: 1_900_000_000_000)
                day.records.append(record)
            }
            let changes = campuses.drainChanges()
            for (key, ride) in changes.rides { day.rides[key.id] = ride }
            day.alarmed = day.alarmed || changes.vehicles.values.contains(where: \.isAlarmed)
        }
        try take(campus.opening())
        while let records = campus.step(plan(campuses)) {
            #expect(!records.isEmpty)
            try take(records)
            try #require(day.records.count < 20_000, "the day has no end")
        }
        return day
    }

    private static func plan(_ campuses: CampusPartition) -> EmulatedCampus.Plan {
        var plan = EmulatedCampus.Plan()
        guard let dispatcher = campuses.dispatchers["c"] else { return plan }
        for (id, vehicle) in dispatcher.vehicles where vehicle.state != .out {
            plan.stops[id] = vehicle.stops.map { stop in
                EmulatedCampus.Stop(request: String(stop.dropLast(2)), isPickup: stop.hasSuffix(" p"))
            }
        }
        plan.outstanding = Set(dispatcher.rides.keys)
        plan.onBoard = Set(dispatcher.rides.filter { $0.value.state == .onBoard }.keys)
        return plan
    }

    @Test("The sample's day has everything in it, and everybody gets somewhere") func sample() throws {
        let file = try JSONDecoder().decode(
            Streets.File.self, from: Data(Repository.bytes("Deploy/sample/streets.json")))
        let day = try EmulatedCampusTests.play(seed: 6, streets: Streets(file))
        let kinds = Set(day.records.map { String("\($0.kind)".prefix { $0 != "(" }) })
        #expect(
            kinds.isSuperset(of: [
                "campus", "profile", "pickup", "cancel", "override", "done", "inService", "outOfService", "breakdown",
                "position", "riderSign", "surge",
            ]), "\(kinds)")
        let states = Dictionary(grouping: day.rides.values, by: \.state).mapValues(\.count)
        #expect(states[.done] ?? 0 > 30 && states[.cancelled] ?? 0 > 2, "\(states)")
        let waits = day.rides.values.filter { $0.state == .done }.map { ($0.pickupMs! - $0.requestedMs) / 1_000 }
        #expect(waits.reduce(0, +) / Int64(waits.count) < 900, "a quarter of an hour in the mean")
        #expect(day.records.count < 5_000)
    }

    @Test("Every day ends, in order of time, with nobody left", arguments: 0..<3 as Range<UInt64>)
    func ends(seed: UInt64) throws {
        let day = try EmulatedCampusTests.play(seed: seed)
        #expect(zip(day.records, day.records.dropFirst()).allSatisfy { $0.ts <= $1.ts })
        #expect(day.rides.values.allSatisfy { $0.endedMs != nil } && !day.alarmed)
        #expect(Set(day.records.map(\.id)).count == day.records.count)
        #expect(day.records.last!.ts - EmulatedCampusTests.startMs < 6 * 3_600_000)
        let requests = day.records.count { if case .pickup = $0.kind { true } else { false } }
        #expect(day.rides.count == requests)
    }

    @Test("The same seed gives the same day") func same() throws {
        let (a, b) = (try EmulatedCampusTests.play(seed: 3), try EmulatedCampusTests.play(seed: 3))
        #expect(a.records == b.records && a.rides == b.rides)
        #expect(try EmulatedCampusTests.play(seed: 4).records != a.records)
    }

    @Test("Its roster can be imported, and has who speaks") func roster() {
        let campus = EmulatedCampus(campus: "c", seed: 6, startMs: EmulatedCampusTests.startMs)
        let lines = campus.roster.map { "\($0.id),\($0.role.rawValue),\($0.name),\($0.mail)" }
        let file = (["id,role,name,mail"] + lines).joined(separator: "\n")
        guard case .success(let roster) = RosterFile.read(Array(file.utf8)) else {
            Issue.record("not a roster")
            return
        }
        #expect(roster.people == campus.roster)
    }
}
