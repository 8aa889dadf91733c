package import Postgres

/// A file that goes with a mail.
package struct MailFile: Sendable {
    /// Letters, digits, `.`, `_`, `-` and blanks; `type/subtype`.
    package let name, mediaType: String
    /// At most 25,000,000 bytes.
    package let content: [UInt8]

    package init(name: String, mediaType: String, content: [UInt8]) {
        self.name = name
        self.mediaType = mediaType
        self.content = content
    }
}

/// A mail as somebody writes it, to be brought out by `drover notify`.
package struct NewMail: Sendable {
    /// The id of the Message-ID header: the same id twice is one mail.
    package let id: String
    /// A plain address.
    package let recipient: String
    package let subject: String
    /// UTF-8; encrypted when `isSealed`.
    package let body: [UInt8]
    /// The same as HTML, and where one click ends such mails; encrypted alike.
    package var html, leaveURL: [UInt8]?
    package var isSealed = false
    package var files: [MailFile] = []
    /// Mails that it belongs to, oldest first.
    package var refersTo: [String] = []
    /// Nobody needs it after that.
    package var expiresMs: Int64

    package init(id: String, recipient: String, subject: String, body: [UInt8], expiresMs: Int64) {
        self.id = id
        self.recipient = recipient
        self.subject = subject
        self.body = body
        self.expiresMs = expiresMs
    }
}

/// A mail that waits, as the relay reads it.
package struct WaitingMail: Sendable {
    package let id, recipient, subject: String
    /// UTF-8, encrypted when `isSealed`; so are the two below.
    package let body: [UInt8]
    package let html, leaveURL: [UInt8]?
    package let refersTo: [String]
    package var files: [MailFile] = []
    package let isSealed: Bool
    /// Nobody needs it any more, or whose it is may not log in any more.
    package let isExpired: Bool
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
        var mail = try connection.query(
            """
            SELECT mail_id, recipient, subject, body, html, leave_url, refers_to, is_sealed,
                expires_at <= now() OR (NOT is_for_person AND drover.is_mail_over(recipient)) AS is_expired, made_at, tries
            FROM drover.mail WHERE refused IS NULL AND try_at <= now()
            ORDER BY try_at LIMIT 1 FOR UPDATE SKIP LOCKED
            """
        ).first.map { row in
            WaitingMail(
                id: try row.text("mail_id")!, recipient: try row.text("recipient")!,
                subject: try row.text("subject")!, body: try row.bytes("body")!, html: try row.bytes("html"),
                leaveURL: try row.bytes("leave_url"),
                refersTo: try (row.textArray("refers_to") ?? []).compactMap(\.self),
                isSealed: try row.bool("is_sealed")!, isExpired: try row.bool("is_expired")!,
                madeMs: try row.timestampMs("made_at")!, tries: try row.int("tries")!)
        }
        if let id = mail?.id {
            mail!.files = try connection.query(
                "SELECT name, media_type, content FROM drover.mail_file WHERE mail_id = $1 ORDER BY name", [.text(id)]
            ).map { row in
                MailFile(name: try row.text(0)!, mediaType: try row.text(1)!, content: try row.bytes(2)!)
            }
        }
        return mail
    }

    /// Within the transaction that it tells of. What is there already stays as it is.
    package static func add(_ mail: NewMail, on connection: Connection) throws {
        let isNew =
            try connection.query(
                """
                INSERT INTO drover.mail
                    (mail_id, recipient, subject, body, html, leave_url, is_sealed, refers_to, expires_at)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (mail_id) DO NOTHING
                """,
                [
                    .text(mail.id), .text(mail.recipient), .text(mail.subject), .bytes(mail.body),
                    mail.html.map { .bytes($0) } ?? .null, mail.leaveURL.map { .bytes($0) } ?? .null,
                    .bool(mail.isSealed),
                    .textArray(mail.refersTo), .timestampMs(mail.expiresMs),
                ]
            ).rowsChanged == 1
        guard isNew else { return }
        for file in mail.files {
            try connection.query(
                "INSERT INTO drover.mail_file (mail_id, name, media_type, content) VALUES ($1, $2, $3, $4)",
                [.text(mail.id), .text(file.name), .text(file.mediaType), .bytes(file.content)])
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

    /// Deletes mails that were given up a week ago. Returns how many.
    package static func prune(on connection: Connection) throws -> Int {
        try connection.query(
            "DELETE FROM drover.mail WHERE refused IS NOT NULL AND made_at < now() - interval '7 days'"
        ).rowsChanged
    }
}
