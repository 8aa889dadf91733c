internal import Codecs
internal import Formats
package import Postgres

/// Every entry that the program makes goes through here and `drover.audit_record`. Who cannot write it does nothing
/// else either: an error goes on to the caller. What goes beyond the database is an `AuditedOperation`.
package enum AuditLog {
    package typealias Detail = [(String, String)]

    /// Call it last in a transaction: the chain is held until that ends.
    /// - Parameters:
    ///   - actor: who did it. Where the connection has an account's sight it is that account, whatever is said here.
    ///   - subject: to whom, or whose it is; of a mail address only the account is kept.
    ///   - remote: the client's address.
    ///   - detail: names nobody: it stays when somebody is erased.
    package static func record(
        _ action: AuditAction, by actor: String? = nil, about subject: String? = nil, from remote: String? = nil,
        _ detail: Detail = [], on connection: Connection
    ) throws {
        try connection.query(
            "SELECT drover.audit_record($1, $2, $3, $4, $5)",
            [
                .text(action.rawValue), .text(actor), .text(subject.map(plain)),
                .text(remote == "?" ? nil : remote), .text(text(detail)),
            ])
    }

    /// Signs what this connection is about to do with a name, where that is no account's page.
    package static func sign(_ name: String, on connection: Connection) throws {
        try connection.query("SELECT set_config('drover.audit_by', $1, false)", [.text(plain(name))])
    }

    // MARK: What fits

    private static let fieldsMax = 12
    private static let valueBytesMax = 300
    /// The table takes 4,000, a count and its time included.
    private static let bytesMax = 3_800

    /// One line of JSON; what is too long is cut.
    package static func text(_ detail: Detail) -> String {
        var fields = detail.prefix(fieldsMax).map { ($0.0, JSONValue.text(plain($0.1))) }
        while true {
            let text = JSONValue.object(fields).rendered()
            if text.utf8.count <= bytesMax { return text }
            fields.removeLast()
        }
    }

    /// Without control characters, which PostgreSQL's JSON has no place for.
    private static func plain(_ text: String) -> String {
        var cut = String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
        while cut.utf8.count > valueBytesMax { cut = String(cut.prefix(cut.count * valueBytesMax / cut.utf8.count)) }
        return cut
    }
}
