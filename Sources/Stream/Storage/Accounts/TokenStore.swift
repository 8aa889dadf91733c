package import Alerts
package import Postgres

/// The right that a token gives. The raw value is stored and shown.
package enum Scope: String, CaseIterable, Sendable {
    /// To hand in readings, and what drivers say of trips and cars.
    case upload
    /// To read machines, their alerts and readings, as far as the token's role may see them.
    case read
    /// To see and set what is the account's own: its settings, the alerts of its drives.
    case account
    /// To hand in surveys, and to see the receipts of these and the names of species of a place; nothing else.
    case survey
    /// To take sightings away: positions of sensitive species blurred, and nobody named.
    case export
    /// With `export`: who saw them, with mail and phone.
    case exportPeople = "export-people"
    /// With `export`: sensitive species as they were found.
    case exportPlaces = "export-places"
    /// To ask statements of one's own, with what its account sees.
    case query
    /// To collect the audit log, as far as its account is an administrator.
    case audit

    /// It hands in, and reads nothing but what came of that: a name is enough, which need not be an account's.
    package var isForWriting: Bool {
        switch self {
        case .upload, .survey: true
        case .read, .account, .export, .exportPeople, .exportPlaces, .query, .audit: false
        }
    }
}

/// The tokens of programs: kept as digests, shown by their ids.
package enum TokenStore {
    package struct Entry: Sendable {
        package let id, account: String
        package let name: String?
        package let scopes: [String]
        package let role: Audience
        package let madeMs: Int64
        package let expiresMs, revokedMs, lastUsedMs: Int64?
    }

    /// The use that a token which was shown is good for.
    package struct Use: Sendable {
        package let id, account: String
        package let digest: [UInt8]
        /// One that this version does not know allows nothing.
        package let scopes: [Scope]
        package let role: Audience
        /// Or whose it is, is disabled.
        package let isRevoked: Bool
        package let isExpired: Bool
        /// Its account exists: what it reads is what that sees. Else it reads nothing.
        package let isOfAccount: Bool
    }

    package static func add(
        id: String, digest: [UInt8], account: String, name: String?, scopes: [Scope], role: Audience,
        expiresMs: Int64?,
        on connection: Connection
    ) throws {
        try connection.query(
            """
            INSERT INTO drover.token (token_id, digest, account, name, scopes, role, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """,
            [
                .text(id), .bytes(digest), .text(account), .text(name), .textArray(scopes.map(\.rawValue)),
                .text(role.rawValue),
                expiresMs.map { .timestampMs($0) } ?? .null,
            ])
    }

    /// Newest first.
    package static func list(on connection: Connection) throws -> [Entry] {
        try connection.query(
            """
            SELECT token_id, account, name, scopes, role, made_at, expires_at, revoked_at, last_used_at
            FROM drover.token ORDER BY made_at DESC, token_id
            """
        ).map { row in
            Entry(
                id: try row.text("token_id")!, account: try row.text("account")!, name: try row.text("name"),
                scopes: try row.textArray("scopes")!.compactMap { $0 }, role: try row.word("role")!,
                madeMs: try row.timestampMs("made_at")!,
                expiresMs: try row.timestampMs("expires_at"), revokedMs: try row.timestampMs("revoked_at"),
                lastUsedMs: try row.timestampMs("last_used_at"))
        }
    }

    /// False: there is no such token. One that is revoked stays so, with its first time.
    package static func revoke(id: String, on connection: Connection) throws -> Bool {
        try connection.query(
            "UPDATE drover.token SET revoked_at = coalesce(revoked_at, now()) WHERE token_id = $1", [.text(id)]
        ).rowsChanged == 1
    }

    /// Asked with each request, so that a revocation holds from the next one on. Nil: no such token.
    package static func use(digest: [UInt8], on connection: Connection) throws -> Use? {
        try connection.query("SELECT * FROM drover.use_token($1)", [.bytes(digest)]).first.map { row in
            Use(
                id: try row.text("token_id")!, account: try row.text("account")!, digest: digest,
                scopes: try row.textArray("scopes")!.compactMap { $0.flatMap { Scope(rawValue: $0) } },
                role: try row.word("role")!,
                isRevoked: try row.bool("is_revoked")!,
                isExpired: try row.bool("is_expired")!,
                isOfAccount: try row.bool("is_of_account")!)
        }
    }
}
