import Codecs
import Fleet
import Pipeline
import Testing

/// Vehicles that nobody has heard of: they are not planned with, and who is on board of one is not forgotten.
struct SilentVehicleTests {
    private static let startMs: Int64 = 1_700_000_000_000

    /// A campus whose log is written as it is told, second by second.
    private struct Log {
        var campuses = CampusPartition(clockMs: 0, decidesFrom: 0)
        var offset: Int64 = 0
        var changes: [CampusPartition.Changes] = []

        init(_ settings: CampusSettings = squareCampus) throws {
            try say(.campus(settings), at: 0)
        }

        mutating func say(_ kind: RideRecord.Kind, at second: Int64) throws {
            let ms = startMs + second * 1_000
            let record = RideRecord(id: "x-\(offset)", campus: "c", ts: ms, by: "test", kind: kind)
            try campuses.accept(record, offset: offset, atMs: ms)
            end()
        }

        mutating func tick(at second: Int64) {
            campuses.tick(startMs + second * 1_000, offset: offset)
            end()
        }

        private mutating func end() {
            offset += 1
            changes.append(campuses.drainChanges())
        }

        var dispatcher: CampusDispatcher { campuses.dispatchers["c"]! }
        var events: [String] { changes.flatMap(\.decisions).map(\.why) }
    }

    private static func pickup(_ request: String) -> RideRecord.Kind {
        .pickup(
            .init(
                request: request, rider: "of-\(request)", passengers: 1, from: place(2_000, 2_000),
                to: place(90_000, 90_000)))
    }

    @Test("A vehicle that was last seen yesterday is promised to nobody, though nothing is outstanding")
    func yesterday() throws {
        var log = try Log()
        try log.say(entered("near", place(1_000, 1_000)), at: 0)
        try log.say(entered("far", place(150_000, 150_000)), at: 0)
        try log.say(.position(vehicle: "far", place: place(150_000, 150_000), speedMmPerS: 0), at: 80_000)
        log.tick(at: 80_001)
        #expect(
            log.dispatcher.vehicles["near"]?.isSilent == true && log.dispatcher.vehicles["near"]?.state == .inService)
        #expect(
            log.events.last!.contains(#""event":"fell_silent""#) && log.events.last!.contains(#""of_vehicle":"near""#))
        try log.say(SilentVehicleTests.pickup("r"), at: 80_002)
        #expect(log.dispatcher.rides["r"]?.vehicle == "far")
        // Heard of again it is planned with.
        try log.say(.position(vehicle: "near", place: place(1_000, 1_000), speedMmPerS: 0), at: 80_003)
        #expect(log.dispatcher.vehicles["near"]?.isSilent == false)
        try log.say(SilentVehicleTests.pickup("s"), at: 80_004)
        #expect(log.dispatcher.rides["s"]?.vehicle == "near")
    }

    @Test("An app that only listens says nothing of where its vehicle is: who waits for it gets another")
    func listening() throws {
        var log = try Log()
        try log.say(entered("near", place(1_000, 1_000)), at: 0)
        try log.say(entered("far", place(150_000, 150_000)), at: 0)
        try log.say(SilentVehicleTests.pickup("r"), at: 1)
        #expect(log.dispatcher.rides["r"]?.vehicle == "near")
        for second in stride(from: Int64(60), through: 300, by: 60) {
            try log.say(.vehicleSign(vehicle: "near"), at: second)
            try log.say(.riderSign(rider: "of-r"), at: second)
            try log.say(.position(vehicle: "far", place: place(150_000, 150_000), speedMmPerS: 0), at: second)
            log.tick(at: second)
        }
        #expect(log.dispatcher.rides["r"]?.vehicle == "near", "five minutes are not over")
        log.tick(at: 301)
        #expect(log.dispatcher.rides["r"]?.vehicle == "far")
    }

    @Test("A setting says how old a position may be; days from files have none of their own")
    func setting() throws {
        var ground = squareCampus
        ground.numbers = [.staleS: 30_000]
        var log = try Log(ground)
        try log.say(entered("bus", place(1_000, 1_000)), at: 0)
        log.tick(at: 31)
        #expect(log.dispatcher.vehicles["bus"]?.isSilent == true)
        ground.numbers = [.recordTime: 1_000]
        log = try Log(ground)
        try log.say(entered("bus", place(1_000, 1_000)), at: 0)
        try log.say(.clock, at: 80_000)
        #expect(log.dispatcher.vehicles["bus"]?.isSilent == false)
    }

    private static func alarmed() throws -> Log {
        var log = try Log()
        try log.say(entered("bus", place(1_000, 1_000)), at: 0)
        try log.say(SilentVehicleTests.pickup("r"), at: 1)
        try log.say(.done(request: "r", isPickup: true), at: 2)
        log.tick(at: 303)
        return log
    }

    @Test("Silent with somebody on board needs attention until somebody gives it; being heard of is not enough")
    func attention() throws {
        var log = try SilentVehicleTests.alarmed()
        #expect(log.dispatcher.vehicles["bus"]?.isAlarmed == true && log.dispatcher.rides["r"]?.state == .onBoard)
        try log.say(.vehicleSign(vehicle: "bus"), at: 304)
        try log.say(.position(vehicle: "bus", place: place(9_000, 9_000), speedMmPerS: 9_000), at: 305)
        #expect(log.dispatcher.vehicles["bus"]?.isAlarmed == true)
        try log.say(.done(request: "r", isPickup: false), at: 306)
        #expect(log.dispatcher.vehicles["bus"]?.isAlarmed == false && log.dispatcher.rides.isEmpty)
    }

    @Test("Each of the three ends a ride, and who and why is kept", arguments: PersonRole.allCases)
    func ends(role: PersonRole) throws {
        var log = try SilentVehicleTests.alarmed()
        try log.say(.end(request: "r", .init(role: role, reason: "got off at the gate")), at: 304)
        let ride = log.changes.last!.rides.values.first
        #expect(ride?.state == .ended && ride?.reason?.hasSuffix(": got off at the gate") == true)
        #expect(ride?.pickupMs != nil && ride?.dropoffMs == nil && ride?.endedMs != nil)
        #expect(log.dispatcher.vehicles["bus"]?.isAlarmed == false && log.dispatcher.rides.isEmpty)
        #expect(log.events.last!.contains("got off at the gate"))
    }

    @Test("Handed over, another vehicle comes to where the rider got off", arguments: PersonRole.allCases)
    func handsOver(role: PersonRole) throws {
        var log = try SilentVehicleTests.alarmed()
        try log.say(entered("other", place(50_000, 50_000)), at: 304)
        try log.say(.handOver(request: "r", .init(role: role, reason: "it does not move")), at: 305)
        let ride = log.dispatcher.rides["r"]
        #expect(ride?.state == .assigned && ride?.vehicle == "other")
        #expect(ride?.pickup.from == place(1_000, 1_000) && ride?.pickup.fromAddress == nil)
        #expect(log.events.last!.contains("it does not move") && log.events.last!.contains(#""event":"hand_over""#))
        // Before anybody is on board it is as if the driver had refused it.
        try log.say(.handOver(request: "r", .init(role: role, reason: "too far")), at: 306)
        #expect(log.dispatcher.rides["r"]?.state == .queued)
    }

    @Test("What the log decided is the same when it is read again, and decided again from its beginning")
    func replay() throws {
        func told(_ log: Log) -> [String] {
            log.changes.flatMap { changes in
                changes.rides.values.map { "\($0)" }.sorted() + changes.vehicles.values.map { "\($0)" }.sorted()
                    + changes.decisions.map(\.text)
            }
        }
        func day() throws -> Log {
            var log = try SilentVehicleTests.alarmed()
            try log.say(entered("other", place(50_000, 50_000)), at: 304)
            try log.say(.handOver(request: "r", .init(role: .dispatcher, reason: "nobody answers")), at: 305)
            log.tick(at: 700)
            try log.say(.end(request: "r", .init(role: .rider, reason: "walked")), at: 701)
            return log
        }
        #expect(told(try day()) == told(try day()))
    }
}
