package import Postgres

/// How an installation is, as far as its database knows: one moment of it.
package struct StatusQueries: Sendable {
    package struct Clock: Sendable {
        package let topic: String
        /// The tick of the partition that is furthest behind; nil: no tick was seen in one of them.
        package let oldestMs: Int64?
    }

    /// Things that wait for somebody, and since when the oldest does.
    package struct Waiting: Sendable {
        package let count: Int
        package let oldestMs: Int64?
    }

    package let nowMs: Int64
    package let migration: Int
    package let bytes: Int64
    // Nil below: the login does not see all rows.
    package let clocks: [Clock]?
    package let outbox, events, mail, messages, reports, forwards: Waiting?
    package let outboxRefused, rejectedOfDay, refusedOfDay, reportsFailedOfDay: Int?
    /// Services of others that are left alone, with their last fault.
    package let resting: [(service: String, fault: String)]?
    package let rejudging, openAlerts, silentVehicles: Int?
    /// Vehicles that are set apart, as `odd (drover.machines)`.
    package let quarantined: [String]?

    /// The owner's login sees all of it. Precondition: `connection` is in a transaction.
    package init(on connection: Connection) throws {
        func seen<R>(_ table: String, _ read: () throws -> R) throws -> R? {
            try StatusQueries.seen(table, on: connection, read)
        }
        func waiting(_ table: String, _ time: String, _ condition: String) throws -> Waiting? {
            try seen(table) {
                let row = try connection.query(
                    "SELECT count(*), min(\(time)) FROM drover.\(table) WHERE \(condition)")[0]
                return Waiting(count: try row.int(0)!, oldestMs: try row.timestampMs(1))
            }
        }
        func count(_ table: String, _ condition: String) throws -> Int? {
            try seen(table) {
                try connection.query("SELECT count(*) FROM drover.\(table) WHERE \(condition)")[0].int(0)!
            }
        }
        let head = try connection.query(
            """
            SELECT now() AS now, (SELECT max(number) FROM drover.migration) AS migration,
                pg_database_size(current_database()) AS bytes
            """)[0]
        nowMs = try head.timestampMs("now")!
        migration = try head.int("migration") ?? 0
        bytes = Int64(try head.int("bytes")!)
        clocks = try seen("partition_progress") {
            try connection.query(
                """
                SELECT topic, CASE WHEN bool_and(clock_at IS NOT NULL) THEN min(clock_at) END AS oldest
                FROM drover.partition_progress GROUP BY topic ORDER BY topic
                """
            ).map { Clock(topic: try $0.text(0)!, oldestMs: try $0.timestampMs(1)) }
        }
        outbox = try waiting("outbox", "made_at", "refused IS NULL")
        outboxRefused = try count("outbox", "refused IS NOT NULL")
        events = try waiting("notice_event", "told_at", "true")
        mail = try waiting("mail", "made_at", "refused IS NULL")
        messages = try waiting("notice_message", "made_at", "state = 'waiting' AND channel <> 'mail'")
        refusedOfDay = try count("notice_message", "state = 'refused' AND settled_at > now() - interval '1 day'")
        reports = try waiting("report_run", "try_at", "state = 'waiting' AND try_at <= now()")
        reportsFailedOfDay = try count("report_run", "state = 'failed' AND due_at > now() - interval '1 day'")
        forwards = try waiting("forward", "made_at", "state = 'waiting'")
        rejectedOfDay = try seen("rejected") { try StatusQueries.rejectedOfDay(connection) }
        resting = try seen("outside_service") { try StatusQueries.resting(connection) }
        quarantined = try seen("quarantine") { try StatusQueries.quarantined(connection) }
        rejudging = try seen("machine_rejudging") {
            try connection.query("SELECT count(*) FROM drover.machine_rejudging")[0].int(0)!
                + StatusQueries.machinesNotNoted(on: connection) + StatusQueries.carsNotNoted(on: connection)
        }
        openAlerts = try count("alert", "state IN ('open', 'due_soon')")
        silentVehicles = try count("vehicle", "last_reading_at < now() - interval '1 day'")
    }

    /// Machines that are to be judged again, and to which that has not come yet.
    private static func machinesNotNoted(on connection: Connection) throws -> Int {
        guard try exists("machine_spreading", on: connection) else { return 0 }
        return try connection.query(
            """
            SELECT count(*) FROM drover.vehicle v WHERE v.kind = 'machine'
                AND EXISTS (SELECT FROM drover.machine_spreading s WHERE s.topic_partition = v.topic_partition
                    AND v.last_reading_at >= s.since_at AND v.vehicle COLLATE "C" > coalesce(s.after_vehicle, ''))
                AND NOT EXISTS (SELECT FROM drover.machine_rejudging r WHERE r.vehicle = v.vehicle)
            """)[0].int(0)!
    }

    /// Cars that somebody is told of, and to which a clock that was set back has not come yet.
    private static func carsNotNoted(on connection: Connection) throws -> Int {
        guard try exists("car_spreading", on: connection) else { return 0 }
        // The latest trip is looked up only while something is under way.
        return try connection.query(
            """
            SELECT count(*) FROM drover.vehicle v WHERE v.kind = 'car'
                AND EXISTS (SELECT FROM drover.car_spreading s WHERE s.topic_partition = v.topic_partition
                    AND v.vehicle COLLATE "C" > coalesce(s.after_vehicle, '')
                    AND (SELECT t.end_at FROM drover.trip t WHERE t.vehicle = v.vehicle ORDER BY t.start_at DESC LIMIT 1)
                        >= s.since_at)
                AND coalesce(
                    (SELECT true FROM drover.car_owner o WHERE o.vehicle = v.vehicle AND o.account IS NOT NULL LIMIT 1),
                    (SELECT true FROM drover.assignment a WHERE a.vehicle = v.vehicle AND a.account IS NOT NULL LIMIT 1),
                    (SELECT true FROM drover.driving d WHERE d.vehicle = v.vehicle LIMIT 1),
                    (SELECT true FROM drover.account_settings l
                        WHERE l.topic_partition = v.topic_partition AND l.account = 'installation' LIMIT 1), false)
                AND NOT EXISTS (SELECT FROM drover.car_watch w WHERE w.vehicle = v.vehicle AND w.asked_offset IS NOT NULL)
            """)[0].int(0)!
    }

    /// False: the database is not migrated yet.
    private static func exists(_ table: String, on connection: Connection) throws -> Bool {
        try connection.query("SELECT to_regclass('drover.\(table)')::text")[0].text(0) != nil
    }

    private static func rejectedOfDay(_ connection: Connection) throws -> Int {
        try connection.query(
            """
            SELECT coalesce(sum(records), 0)::bigint FROM drover.rejected
            WHERE pushed_at > now() - interval '1 day' AND retried_at IS NULL
            """)[0].int(0)!
    }

    private static func resting(_ connection: Connection) throws -> [(service: String, fault: String)] {
        try connection.query(
            """
            SELECT service, coalesce(fault, '') FROM drover.outside_service WHERE open_until > now()
            ORDER BY service
            """
        ).map { (try $0.text(0)!, try $0.text(1)!) }
    }

    private static func quarantined(_ connection: Connection) throws -> [String] {
        try connection.query(
            "SELECT vehicle || ' (' || topic || ')' FROM drover.quarantine ORDER BY held_at, topic, vehicle"
        ).map { try $0.text(0)! }
    }

    /// The result of `read`; nil: the login may not read the table, or a rule keeps rows of it back.
    private static func seen<R>(_ table: String, on connection: Connection, _ read: () throws -> R) throws -> R? {
        try connection.execute("SAVEPOINT seen")
        do {
            let isWhole = try connection.query(
                """
                SELECT NOT row_security_active('drover.\(table)'::regclass) OR EXISTS (
                    SELECT FROM pg_policies CROSS JOIN unnest(roles) AS role
                    WHERE schemaname = 'drover' AND tablename = '\(table)' AND cmd IN ('ALL', 'SELECT') AND qual = 'true'
                        AND CASE role WHEN 'public' THEN true ELSE pg_has_role(session_user, role, 'MEMBER') END)
                """)[0].bool(0)!
            let found = try read()
            try connection.execute("RELEASE SAVEPOINT seen")
            return isWhole ? found : nil
        } catch let error as PostgresError where error.sqlState == PostgresError.noRight {
            try connection.execute("ROLLBACK TO SAVEPOINT seen")
            return nil
        }
    }
}
