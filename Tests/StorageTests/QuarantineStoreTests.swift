import Basics
import Fleet
import Kafka
import Postgres
import Storage
import Testing

/// Who is set apart, and who may still write then, in the real PostgreSQL.
@Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES"), .serialized)
struct QuarantineStoreTests {
    private static let database = Result { try TestDatabase.migrated("quarantine") }
    private let partition = TopicPartition(topic: "drover.cars", partition: 3)
    private let odd = VehicleID("odd")!

    @Test("What has not come to a machine that is set apart is noted of it, whatever the others come to")
    func notesWhatSpreads() throws {
        let db = try Connection(conninfo: QuarantineStoreTests.database.get())
        try db.execute("SET search_path = drover")
        let machines = TopicPartition(topic: "drover.machines", partition: 3)
        let place = try ProgressStore.load([machines: 0], on: db)[machines]!
        try db.execute(
            """
            INSERT INTO vehicle (vehicle, kind, topic_partition, last_reading_at) VALUES
                ('done', 'machine', 3, '2026-09-14'), ('late', 'machine', 3, '2026-09-14'), ('old', 'machine', 3, '2026-09-01'),
                ('odd', 'machine', 3, '2026-09-14');
            INSERT INTO machine_rejudging (vehicle, topic_partition, from_at, until_at, asked_offset, is_late, has_begun)
                VALUES ('late', 3, '2026-09-12', '2026-09-12', 7, true, false);
            INSERT INTO machine_spreading VALUES (3, 5, '2026-09-10', '2026-09-10', '2026-09-13', 'done')
            """)
        let all = ["done", "late", "old", "odd"].map { (vehicle: VehicleID($0)!, reason: "refused") }
        #expect(try QuarantineStore.hold(all, of: machines, at: place, on: db))
        let noted = try db.query(
            """
            SELECT vehicle || ' ' || extract(day FROM from_at AT TIME ZONE 'UTC') || ' '
                || extract(day FROM until_at AT TIME ZONE 'UTC') || ' ' || is_late AS line
            FROM machine_rejudging ORDER BY vehicle
            """
        ).map { try $0.text(0)! }
        #expect(noted == ["late 10 13 true", "odd 10 13 false"])
        try db.execute("DELETE FROM quarantine; DELETE FROM machine_rejudging; DELETE FROM machine_spreading")
    }

    @Test(
        "What a clock that was set back has not come to of a car that is set apart is noted of it, with what it waits for"
    )
    func notesClocksOfCars() throws {
        let db = try Connection(conninfo: QuarantineStoreTests.database.get())
        try db.execute("SET search_path = drover")
        let cars = TopicPartition(topic: "drover.cars", partition: 4)
        let place = try ProgressStore.load([cars: 0], on: db)[cars]!
        let vehicles = ["done", "late", "nobodys", "old", "owned", "quiet"]
        for vehicle in vehicles {
            let day = ["old", "quiet"].contains(vehicle) ? "2026-09-01" : "2026-09-14"
            try db.execute(
                """
                INSERT INTO vehicle (vehicle, kind, topic_partition) VALUES ('\(vehicle)', 'car', 4);
                INSERT INTO trip (vehicle, start_at, end_at, is_open, readings, disputed_readings, speed_readings, integrated_ms,
                    distance_mm, idle_ms, holes, sharp_accelerations, sharp_brakings, rpm_ms, milli_turns)
                    VALUES ('\(vehicle)', '\(day) 08:00Z', '\(day) 09:00Z', false, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
                """)
        }
        try db.execute(
            """
            INSERT INTO car_owner (vehicle, owned_at, account, record_id)
                SELECT v, '2026-01-01', 'jo', 'r' FROM unnest('{done,late,old,owned}'::text[]) AS v;
            INSERT INTO car_watch (vehicle, topic_partition, from_at, until_at, asked_offset, is_late, is_latest, codes_offset)
                VALUES ('late', 4, '2026-09-12', '2026-09-12', 3, false, false, 9);
            -- Of two the clock has ended nothing of this day, but they say that they came when it was ahead.
            INSERT INTO car_watch (vehicle, topic_partition, from_at, until_at, asked_offset, is_late, is_latest, arrived_at)
                VALUES ('old', 4, '2026-09-01', '2026-09-01', 2, false, true, '2027-01-01');
            INSERT INTO car_watch (vehicle, topic_partition, state, next_offset) VALUES ('quiet', 4, '\\x01045006aa', 8);
            INSERT INTO car_spreading VALUES (4, 5, '2026-09-13', 'done')
            """)
        let all = vehicles.map { (vehicle: VehicleID($0)!, reason: "refused") }
        #expect(try QuarantineStore.hold(all, of: cars, at: place, on: db))
        let noted = try db.query(
            """
            SELECT concat_ws(' ', vehicle, extract(day FROM from_at AT TIME ZONE 'UTC'),
                extract(day FROM until_at AT TIME ZONE 'UTC'), asked_offset, is_late, is_latest, codes_offset)
            FROM car_watch ORDER BY vehicle
            """
        ).map { try $0.text(0)! }
        #expect(noted == ["late 12 14 3 t t 9", "old 1 1 2 f t", "owned 14 14 5 t t", "quiet"])
        let ahead = try db.query("SELECT vehicle FROM car_watch WHERE arrived_at > 'epoch'")
        #expect(ahead.isEmpty)
        let state = try db.query("SELECT encode(state, 'hex') FROM car_watch WHERE vehicle = 'quiet'")[0].text(0)
        #expect(state == "01040006aa")
        try db.execute("DELETE FROM quarantine; DELETE FROM car_watch; DELETE FROM car_spreading")
    }

    private func step(_ from: PartitionProgress, next: Int64, replay: Int64) -> ProgressStep {
        var to = from
        (to.nextOffset, to.replayFrom, to.replayClockMs) = (next, replay, 1_000 * replay)
        return ProgressStep(partition: partition, from: from, to: to)
    }

    @Test("From when a vehicle goes or comes back nobody writes who has loaded the partition before")
    func fencesWhoKnewOthers() throws {
        let db = try Connection(conninfo: QuarantineStoreTests.database.get())
        try db.execute("SET search_path = drover")
        func place() throws -> PartitionProgress { try ProgressStore.load([partition: 0], on: db)[partition]! }
        func isKept(_ step: ProgressStep) throws -> Bool { try ProgressStore.advance([step], on: db) == [partition] }
        func held() throws -> QuarantineStore.Held? { try QuarantineStore.list(on: db).first }
        func giveBack() throws -> Bool {
            try db.transaction {
                _ = try QuarantineStore.place(of: partition, isLocked: true, on: db)
                return try QuarantineStore.giveBack(odd, partition, on: db)
            }
        }

        let first = step(try place(), next: 40, replay: 30)
        #expect(try isKept(first))
        // Not where it does not stand any more.
        #expect(try !QuarantineStore.hold([(odd, "no")], of: partition, at: first.from, on: db))
        #expect(try held() == nil)
        #expect(try QuarantineStore.hold([(odd, "refused")], of: partition, at: first.to, on: db))
        #expect(try QuarantineStore.vehicles(of: [partition], on: db) == [partition: [odd]])
        let apart = try #require(try held())
        #expect((apart.reason, apart.progress.nextOffset, apart.progress.replayFrom) == ("refused", 40, 30))
        #expect(try !isKept(step(first.to, next: 41, replay: 30)))

        // The others go on; it comes back only where they stand, with the records that it still needs.
        let others = step(try place(), next: 90, replay: 80)
        #expect(try isKept(others))
        #expect(try !giveBack())
        let way = step(apart.progress, next: 90, replay: 70)
        #expect(try QuarantineStore.advance(odd, way, on: db))
        #expect(try !QuarantineStore.advance(odd, way, on: db))
        #expect(try giveBack())
        #expect(try held() == nil)
        let together = try place()
        #expect((together.nextOffset, together.replayFrom, together.replayClockMs) == (90, 70, 70_000))
        #expect(try !isKept(step(others.to, next: 91, replay: 80)))
        #expect(try isKept(step(together, next: 91, replay: 91)))
    }
}
