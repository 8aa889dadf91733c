package import Postgres

/// App passwords: tokens that people make for their own apps, and see and end on their page.
package enum AppPasswordStore {
    package struct Entry: Equatable, Sendable {
        package let id: String
        package let name: String
        package let scopes: [String]
        /// False: an operator made it.
        package let isOwn: Bool
        package let madeMs: Int64
        /// To the hour.
        package let lastUsedMs: Int64?
    }

    /// Scopes that the account's roles allow, in the order in which they are offered.
    package static func scopes(ofSession session: [UInt8], on connection: Connection) throws -> [Scope] {
        try connection.query("SELECT drover.own_scopes_of_session($1)", [.bytes(session)])[0].textArray(0)?
            .compactMap { $0.flatMap { Scope(rawValue: $0) } } ?? []
    }

    /// Those that hold, newest first.
    package static func list(ofSession session: [UInt8], on connection: Connection) throws -> [Entry] {
        try connection.query("SELECT * FROM drover.tokens_of_session($1)", [.bytes(session)]).map { row in
            Entry(
                id: try row.text("token_id")!, name: try row.text("name") ?? "",
                scopes: try row.textArray("scopes")!.compactMap { $0 }, isOwn: try row.bool("is_own")!,
                madeMs: try row.timestampMs("made_at")!, lastUsedMs: try row.timestampMs("last_used_at"))
        }
    }

    /// False: there are twenty, or the roles do not allow the scopes.
    package static func add(
        id: String, digest: [UInt8], name: String, scopes: [Scope], session: [UInt8], on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.add_own_token($1, $2, $3, $4, $5)",
            [.bytes(session), .text(id), .bytes(digest), .text(name), .textArray(scopes.map(\.rawValue))]
        )[0].bool(0)!
    }

    /// Revokes an app password; of no effect on one that is not the account's.
    package static func revoke(id: String, session: [UInt8], on connection: Connection) throws {
        try connection.query("SELECT drover.revoke_own_token($1, $2)", [.bytes(session), .text(id)])
    }
}
