package import Postgres

/// How often services outside were asked, and how they fared: drover.outside_service and drover.outside_call
/// (`drover.outside_call`). What follows from it is decided elsewhere.
package enum ServiceCallStore {
    /// A service as all processes know it.
    package struct Standing: Sendable {
        package let failures: Int
        package let openUntilMs, trialUntilMs, waitUntilMs: Int64?

        package init(failures: Int, openUntilMs: Int64?, trialUntilMs: Int64?, waitUntilMs: Int64?) {
            self.failures = failures
            self.openUntilMs = openUntilMs
            self.trialUntilMs = trialUntilMs
            self.waitUntilMs = waitUntilMs
        }
    }

    package struct Count: Sendable {
        package let period: String
        package let slice: Int64
        package let calls: Int
    }

    /// The rows of these services are ours until the end of the transaction; they are made where there are none. They are always
    /// locked in one order, or two processes would wait for each other.
    package static func lock(_ services: [String], on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO drover.outside_service (service) SELECT DISTINCT unnest($1::text[]) ON CONFLICT DO NOTHING
            """, [.textArray(services)])
        try connection.query(
            "SELECT FROM drover.outside_service WHERE service = ANY ($1::text[]) ORDER BY service FOR UPDATE",
            [.textArray(services)])
    }

    /// The server's clock, which all processes share; to be read after the rows are ours.
    package static func nowMs(on connection: Connection) throws -> Int64 {
        try connection.query("SELECT clock_timestamp() AS now")[0].timestampMs("now")!
    }

    /// Precondition: `lock` has made its row.
    package static func standing(of service: String, on connection: Connection) throws -> Standing {
        let row = try connection.query(
            "SELECT failures, open_until, trial_until, wait_until FROM drover.outside_service WHERE service = $1",
            [.text(service)])[0]
        return Standing(
            failures: try row.int("failures")!, openUntilMs: try row.timestampMs("open_until"),
            trialUntilMs: try row.timestampMs("trial_until"), waitUntilMs: try row.timestampMs("wait_until"))
    }

    // MARK: How it fared

    package static func succeeded(_ service: String, dropped: Int, on connection: Connection) throws {
        try connection.query(
            """
            UPDATE drover.outside_service SET failures = 0, open_until = NULL, trial_until = NULL, answered_at = now(),
                dropped_values = dropped_values + $2 WHERE service = $1
            """, [.text(service), .int8(dropped)])
    }

    /// - Parameter now: its standing from now on; of two times to wait until the later one counts.
    package static func failed(_ service: String, _ now: Standing, fault: String, on connection: Connection) throws {
        try connection.query(
            """
            UPDATE drover.outside_service SET failures = $2, open_until = $3, trial_until = $4, fault = $5,
                failed_at = now(), wait_until = greatest(wait_until, $6) WHERE service = $1
            """,
            [
                .text(service), .int8(now.failures), time(now.openUntilMs), time(now.trialUntilMs), .text(fault),
                time(now.waitUntilMs),
            ])
    }

    package static func tries(_ service: String, untilMs: Int64?, on connection: Connection) throws {
        try connection.query(
            "UPDATE drover.outside_service SET trial_until = $2 WHERE service = $1", [.text(service), time(untilMs)])
    }

    private static func time(_ ms: Int64?) -> Parameter { ms.map { .timestampMs($0) } ?? .null }
}

// MARK: - Budgets

extension ServiceCallStore {
    /// When the next call may begin, by the space between two; nil: at any time.
    package static func spacedUntilMs(_ budget: String, on connection: Connection) throws -> Int64? {
        try connection.query("SELECT spaced_until FROM drover.outside_service WHERE service = $1", [.text(budget)])
            .first?.timestampMs("spaced_until")
    }

    package static func space(_ budget: String, untilMs: Int64, on connection: Connection) throws {
        try connection.query(
            "UPDATE drover.outside_service SET spaced_until = $2 WHERE service = $1",
            [.text(budget), .timestampMs(untilMs)])
    }

    package static func counts(of budget: String, on connection: Connection) throws -> [Count] {
        try connection.query("SELECT period, slice, calls FROM drover.outside_call WHERE budget = $1", [.text(budget)])
            .map { Count(period: try $0.text(0)!, slice: Int64(try $0.int(1)!), calls: try $0.int(2)!) }
    }

    /// - Parameters:
    ///   - count: of one slice, as it is from now on.
    ///   - oldest: slices of the period before this one count no longer.
    package static func keep(
        _ budget: String, period: String, slice: Int64, calls count: Int32, oldest: Int64, on connection: Connection
    ) throws {
        try connection.query(
            """
            INSERT INTO drover.outside_call (budget, period, slice, calls) VALUES ($1, $2, $3, $4)
            ON CONFLICT (budget, period, slice) DO UPDATE SET calls = excluded.calls
            """, [.text(budget), .text(period), .int8(slice), .int4(count)])
        try connection.query(
            "DELETE FROM drover.outside_call WHERE budget = $1 AND period = $2 AND slice < $3",
            [.text(budget), .text(period), .int8(oldest)])
    }
}
