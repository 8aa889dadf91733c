internal import Basics
package import Postgres

/// Old entries go from the beginning of the chain; the entry that says so is what it goes on from.
package enum AuditRetention {
    package static let setting = "retention.audit_days"

    /// - Parameter days: nil: for ever.
    package static func run(
        days: Int64?, isDryRun: Bool, nowMs: Int64, on connection: Connection
    ) throws -> Retention.Outcome {
        var outcome = Retention.Outcome(table: "audit_entry")
        guard let days else {
            outcome.why = "kept for ever"
            return outcome
        }
        let beforeMs = (nowMs - days * UTC.msPerDay) / UTC.msPerDay * UTC.msPerDay
        outcome.beforeMs = beforeMs
        let count =
            isDryRun ? "SELECT count(*) FROM drover.audit_entry WHERE at < $1" : "SELECT drover.audit_shorten($1)"
        outcome.rows = try connection.query(count, [.timestampMs(beforeMs)])[0].int(0)!
        outcome.oldestKeptMs = try connection.query(
            "SELECT min(at) FROM drover.audit_entry WHERE at >= $1 OR $2", [.timestampMs(beforeMs), .bool(!isDryRun)])[
                0
            ]
            .timestampMs(0)
        return outcome
    }
}
