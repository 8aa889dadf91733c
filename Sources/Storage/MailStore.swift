package import Postgres

/// A mail that waits, as the relay reads it.
package struct WaitingMail: Sendable {
    package let id, recipient, subject: String
    /// UTF-8, encrypted when `isSealed`.
    package let body: [UInt8]
    package let isSealed, isExpired: Bool
    package let madeMs: Int64
    /// So often it was tried.
    package let tries: Int
}

/// The table between whoever has something to tell and the mail server.
package enum MailStore {
    package static let channel = "drover_mail"

    /// The mail that waits longest of those whose time has come, held until the end of the transaction: of several
    /// relays each takes another one. Nil: none.
    package static func next(on connection: Connection) throws -> WaitingMail? {
        try connection.query(
            """
            SELECT mail_id, recipient, subject, body, is_sealed, expires_at <= now() AS is_expired, made_at, tries
            FROM drover.mail WHERE refused IS NULL AND try_at <= now()
            ORDER BY try_at LIMIT 1 FOR UPDATE SKIP LOCKED
            """
        ).first.map { row in
            WaitingMail(
                id: try row.text("mail_id")!, recipient: try row.text("recipient")!,
                subject: try row.text("subject")!, body: try row.bytes("body")!, isSealed: try row.bool("is_sealed")!,
                isExpired: try row.bool("is_expired")!, madeMs: try row.timestampMs("made_at")!,
                tries: try row.int("tries")!)
        }
    }

    package static func delete(_ id: String, on connection: Connection) throws {
        try connection.query("DELETE FROM drover.mail WHERE mail_id = $1", [.text(id)])
    }

    package static func putOff(_ id: String, byMs: Int64, on connection: Connection) throws {
        try connection.query(
            """
            UPDATE drover.mail SET tries = tries + 1, try_at = now() + $2::bigint * interval '1 ms'
            WHERE mail_id = $1
            """, [.text(id), .int8(byMs)])
    }

    package static func giveUp(_ id: String, reason: String, on connection: Connection) throws {
        try connection.query(
            "UPDATE drover.mail SET refused = $2, tries = tries + 1 WHERE mail_id = $1", [.text(id), .text(reason)])
    }

    /// What was given up a week ago. Returns how many.
    package static func prune(on connection: Connection) throws -> Int {
        try connection.query(
            "DELETE FROM drover.mail WHERE refused IS NOT NULL AND made_at < now() - interval '7 days'"
        ).rowsChanged
    }
}
