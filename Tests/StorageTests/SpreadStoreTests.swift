import Alerts
import Fleet
import Pipeline
import Postgres
import SimKit
import Storage
import Testing
import Trips
import Worker

/// What comes to a partition's cars one after the other, as a worker finds it that takes over, in the real PostgreSQL.
@Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES"), .serialized)
struct SpreadStoreTests {
    private static let database = Result { try TestDatabase.migrated("spreads") }
    private static let partition: Int32 = 3

    private static func carPartition() -> CarPartition {
        CarPartition(rules: TripRules(), progress: CarProgress(nextOffset: 0, replayFrom: 0, replayClockMs: 0))
    }

    /// A worker's state, written with each of its records.
    private struct Worker {
        let db: Connection
        var drivers = DriverPartition(storedOffset: 0)
        private let carPartition = SpreadStoreTests.carPartition()
        private var offset: Int64 = 0

        init(_ db: Connection) { self.db = db }

        mutating func limits(_ id: String, _ text: String) throws {
            let action = Action(
                id: id, vehicle: nil, ts: 1_789_344_000_000, by: "test", note: nil,
                kind: .settings(account: InstallationLimits.account, text: text))
            offset += 1
            drivers.accept(action, of: nil, lastMs: .min, offset: offset)
            try write([(action, offset)])
        }

        /// The record on its way comes to some cars, or to all.
        mutating func spread(to vehicle: String?) throws {
            offset += 1
            drivers.tick(clockMs: offset, after: offset - 1, offset: offset, pushedMs: 1, isClosing: false)
            let cars = vehicle.map { [DriverPartition.StoredCar(VehicleID($0)!, lastMs: .min)] } ?? []
            drivers.spread(to: cars[...], isAll: vehicle == nil, carPartition, drivers.dequeueTick()!)
            try write([])
        }

        mutating func write(_ actions: [(action: Action, offset: Int64?)]) throws {
            let changes = drivers.drainChanges(carPartition)
            try db.transaction {
                try ActionStore.write(actions, partition: SpreadStoreTests.partition, on: db)
                try InstallationLimitsStore.write(changes, partition: SpreadStoreTests.partition, on: db)
                guard let spreads = changes.spreads else { return }
                try CarSpreadStore.write(spreads, partition: SpreadStoreTests.partition, on: db)
            }
        }

        /// As another one finds it.
        func takenOver() throws -> DriverPartition {
            var (carPartition, drivers) = (SpreadStoreTests.carPartition(), DriverPartition(storedOffset: offset + 1))
            _ = try CarLoader(SpreadStoreTests.partition, on: db).loadAll(into: &carPartition, &drivers)
            return drivers
        }
    }

    @Test("Limits that others of their time replace are found again until these have come to all cars")
    func replaced() throws {
        let db = try SchemaConnection.connectForWriting(SpreadStoreTests.database.get())
        func kept() throws -> [String] {
            try db.query("SELECT record_id FROM replaced_limits ORDER BY 1").map { try $0.text(0)! }
        }
        var worker = Worker(db)
        func check(_ ids: [String]) throws {
            #expect(try kept() == ids)
            #expect(try worker.takenOver().installation == worker.drivers.installation)
        }
        try worker.limits("a", #"{"speed_limit_kmh":100}"#)
        try worker.spread(to: nil)
        try check([])
        try worker.limits("b", #"{"speed_limit_kmh":110}"#)
        try worker.spread(to: "car-1")
        try check(["a"])
        try worker.limits("c", #"{"speed_limit_kmh":120}"#)
        try check(["a", "b"])
        // One that has come to no car is not kept.
        try worker.limits("d", #"{"alerts":false}"#)
        try worker.spread(to: "car-2")
        try check(["a", "b"])
        try worker.spread(to: nil)
        try check(["b"])
        try worker.spread(to: nil)
        try check([])
        #expect(try db.query("SELECT settings FROM account_settings")[0].text(0) == #"{"alerts":false}"#)
        try db.execute("DELETE FROM account_settings")
    }

    @Test("Limits that others have replaced everywhere are kept while a car is set apart that has yet to take these")
    func replacedForOneApart() throws {
        let db = try SchemaConnection.connectForWriting(SpreadStoreTests.database.get())
        try db.execute("DELETE FROM account_settings; DELETE FROM replaced_limits")
        func kept() throws -> [String] {
            try db.query("SELECT record_id FROM replaced_limits ORDER BY 1").map { try $0.text(0)! }
        }
        func apart(before offset: Int64) throws -> [String] {
            var drivers = DriverPartition(storedOffset: offset)
            let entries = try InstallationLimitsStore.load(SpreadStoreTests.partition, on: db)
            drivers.restore(installation: entries, CarSpreads(), before: offset)
            return drivers.installation.entries.map(\.id)
        }
        var worker = Worker(db)
        try worker.limits("a", #"{"speed_limit_kmh":100}"#)
        try worker.spread(to: nil)
        try db.execute(
            """
            INSERT INTO drover.quarantine (topic, partition, vehicle, reason, next_offset, replay_offset)
                VALUES ('drover.cars', 3, 'odd', 'refused', 3, 3)
            """)
        try worker.limits("b", #"{"speed_limit_kmh":110}"#)
        try worker.spread(to: nil)
        try worker.limits("c", #"{"speed_limit_kmh":120}"#)
        try worker.spread(to: nil)
        #expect(try kept() == ["a", "b"])
        #expect(try worker.takenOver().installation == worker.drivers.installation)
        #expect(try apart(before: 3) == ["a"])
        #expect(try apart(before: 5) == ["b"])
        try db.execute("DELETE FROM drover.quarantine")
        try worker.limits("d", #"{"speed_limit_kmh":130}"#)
        #expect(try kept() == ["c"])
        try db.execute("DELETE FROM account_settings; DELETE FROM replaced_limits")
    }

    @Test("A clock that was set back goes on where it was, and what was asked for meanwhile behind it")
    func setBack() throws {
        let db = try SchemaConnection.connectForWriting(SpreadStoreTests.database.get())
        var worker = Worker(db)
        func begin(_ day: Int64, _ offset: Int64, after vehicle: String) throws {
            worker.drivers.begin(
                CarSpread(
                    sinceMs: 1_789_344_000_000 + day * 86_400_000, askedOffset: offset, after: VehicleID(vehicle)))
            try worker.write([])
        }
        try begin(0, 5, after: "m")
        #expect(try worker.takenOver().spreads == worker.drivers.spreads)
        try begin(2, 7, after: "k")
        try begin(1, 9, after: "c")
        let waiting = CarSpread(sinceMs: 1_789_344_000_000 + 86_400_000, askedOffset: 7, after: VehicleID("c"))
        #expect(try worker.takenOver().spreads.all.dropFirst() == [waiting])
        worker.drivers.finishSpread()
        try worker.write([])
        #expect(try worker.takenOver().spreads.all == [waiting])
        worker.drivers.finishSpread()
        try worker.write([])
        #expect(try worker.takenOver().spreads.isEmpty)
        #expect(try db.query("SELECT FROM car_spreading").isEmpty)
    }
}
