package import Postgres

/// Second factors of accounts, for the page's login and the operator's: `drover.account_second_factor`. Secrets are sealed
/// before they come here.
package enum SecondFactorStore {
    /// The second factor of a session's account.
    package struct State: Equatable, Sendable {
        package let isOn: Bool
        /// The password was right and the code is still to come.
        package let isHalf: Bool
        package let hasPassword: Bool
        package let codesLeft: Int
        /// Sealed: it was shown lately and is on when a code of it comes.
        package let nextSecret: [UInt8]?
    }

    /// With what a code is compared.
    package struct Recipe: Sendable {
        package let account: String
        package let sealedSecret: [UInt8]
        package let lastStep: Int64
    }

    /// A code that somebody gave: of a step, by its clock, or one of those that were written down.
    package enum Proof: Equatable, Sendable {
        case step(Int64)
        case recovery([UInt8])

        var parameters: [Parameter] {
            switch self {
            case .step(let step): [.int8(step), .null]
            case .recovery(let digest): [.null, .bytes(digest)]
            }
        }
    }

    /// Nil: the session is over, or there is none.
    package static func state(ofSession session: [UInt8], on connection: Connection) throws -> State? {
        try connection.query("SELECT * FROM drover.second_factor_of_session($1)", [.bytes(session)]).first.map { row in
            State(
                isOn: try row.bool("is_on") ?? false, isHalf: try row.bool("is_half")!,
                hasPassword: try row.bool("has_password")!, codesLeft: try row.int("codes_left")!,
                nextSecret: try row.bytes("next_secret"))
        }
    }

    /// Counts a try. Nil: too many, or there is none to try.
    package static func begin(
        session: [UInt8], remote: String, device: [UInt8]?, on connection: Connection
    ) throws -> Recipe? {
        try connection.query(
            "SELECT * FROM drover.begin_code($1, $2, $3)",
            [.bytes(session), .text(remote), device.map { .bytes($0) } ?? .null]
        ).first.map { row in
            Recipe(
                account: try row.text("account")!, sealedSecret: try row.bytes("secret")!,
                lastStep: Int64(try row.int("last_step")!))
        }
    }

    /// Opens the session, which has another mark from then on. False: the code was taken before, or is another.
    package static func pass(
        session: [UInt8], _ proof: Proof, new: [UInt8], device: PageSessionStore.Device, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.pass_code($1, $2, $3, $4, $5, $6, $7)",
            [.bytes(session)] + proof.parameters + [
                .bytes(new), .text(device.remote), device.shown.map { .bytes($0) } ?? .null, .bytes(device.new),
            ])[0].bool(0)!
    }

    // MARK: One's own

    /// Keeps a secret that is shown now. False: another password or code.
    /// - Parameters:
    ///   - password: nil: the account has none.
    ///   - proof: of the factor that is on; nil: none is.
    package static func begin(
        session: [UInt8], password: [UInt8]?, _ proof: Proof?, sealedSecret: [UInt8], on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.begin_second_factor($1, $2, $3, $4, $5)",
            [.bytes(session), password.map { .bytes($0) } ?? .null] + (proof?.parameters ?? [.null, .null])
                + [.bytes(sealedSecret)])[0].bool(0)!
    }

    /// It is on from then on; all other sessions end.
    package static func confirm(
        session: [UInt8], sealedSecret: [UInt8], step: Int64, codes: [[UInt8]], on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.confirm_second_factor($1, $2, $3, \(arrayOf(codes)))",
            [.bytes(session), .bytes(sealedSecret), .int8(step)] + codes.map { .bytes($0) })[0].bool(0)!
    }

    /// New recovery codes; nil: no second factor any more. False: another password or code.
    package static func change(
        session: [UInt8], password: [UInt8]?, _ proof: Proof, codes: [[UInt8]]?, on connection: Connection
    ) throws -> Bool {
        let known: [Parameter] =
            [.bytes(session), password.map { .bytes($0) } ?? .null] + proof.parameters
        return try connection.query(
            "SELECT drover.change_second_factor($1, $2, $3, $4, \(codes.map { arrayOf($0, from: 5) } ?? "NULL"))",
            known + (codes ?? []).map { .bytes($0) })[0].bool(0)!
    }

    /// Places of parameters: there is no array of bytes.
    private static func arrayOf(_ codes: [[UInt8]], from first: Int = 4) -> String {
        "ARRAY[" + codes.indices.map { "$\(first + $0)" }.joined(separator: ", ") + "]::bytea[]"
    }

    // MARK: The operator's

    /// Since when it is on, and how many recovery codes are left; nil: none is on.
    package static func standing(of account: String, on connection: Connection) throws -> (sinceMs: Int64, codes: Int)?
    {
        try connection.query(
            """
            SELECT on_since, (SELECT count(*) FROM drover.account_recovery_code c WHERE c.account = f.account) AS codes
            FROM drover.account_second_factor f WHERE account = $1 AND secret IS NOT NULL
            """, [.text(account)]
        ).first.map { (try $0.timestampMs("on_since")!, try $0.int("codes")!) }
    }

    /// False: there was none.
    package static func remove(_ account: String, on connection: Connection) throws -> Bool {
        try connection.transaction {
            try connection.query("DELETE FROM drover.account_recovery_code WHERE account = $1", [.text(account)])
            return try connection.query(
                "DELETE FROM drover.account_second_factor WHERE account = $1", [.text(account)]
            ).rowsChanged == 1
        }
    }
}
