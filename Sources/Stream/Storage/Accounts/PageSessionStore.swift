package import Alerts
package import Crypto
package import Postgres

/// The account of a session.
package struct AccountHolder: Equatable, Sendable {
    package let account: String
    package let mail: String?
    package let firstName, lastName: String
    package let roles: [String]
    /// `metric` or `us`.
    package let units: DriverSettings.Units
    package let zone: String
    /// A code is asked for at each log-in.
    package let hasSecondFactor: Bool
}

/// Log-ins, sessions and mailed links, for the page's login, by functions of the database alone. Sessions and links are
/// known to the database by their digests.
package enum PageSessionStore {
    /// With what a password is hashed.
    package struct Recipe: Equatable, Sendable {
        package let salt: [UInt8]
        package let cost: Password.Cost

        init(_ row: Row) throws {
            salt = try row.bytes("salt")!
            cost = Password.Cost(
                memoryKiB: Int32(try row.int("memory_kib")!), passes: Int32(try row.int("passes")!))
        }
    }

    /// The form in which a new password is kept.
    package struct Kept: Sendable {
        let password, salt: [UInt8]
        let cost: Password.Cost
        package init(password: [UInt8], salt: [UInt8], cost: Password.Cost) {
            self.password = password
            self.salt = salt
            self.cost = cost
        }
        var parameters: [Parameter] {
            [.bytes(password), .bytes(salt), .int4(cost.memoryKiB), .int4(cost.passes)]
        }
    }

    package struct SessionRow: Equatable, Sendable {
        package let number: Int64
        package let agent: String
        package let madeMs, lastUsedMs: Int64
        /// It is the one that asks.
        package let isThis: Bool
    }

    /// Mail that waits to be sent, its body sealed.
    package struct SealedMail: Sendable {
        let id, subject: String
        let body: [UInt8]
        package init(id: String, subject: String, body: [UInt8]) {
            self.id = id
            self.subject = subject
            self.body = body
        }
    }

    package struct LinkLook: Equatable, Sendable {
        package enum Purpose: String, Sendable { case confirm, password }
        package let purpose: Purpose
        /// False: whoever uses it says the mail address.
        package let hasMail: Bool
        package let recipe: Recipe?
    }

    // MARK: In and out

    /// The same whether or not there is such an account. Nil: too many tries.
    /// - Parameter device: digest of the mark that the browser shows; nil: none.
    package static func begin(
        mail: String, remote: String, device: [UInt8]?, on connection: Connection
    ) throws -> Recipe? {
        let cost = Password.Cost.standard
        return try connection.query(
            "SELECT * FROM drover.begin_log_in($1, $2, $3, $4, $5)",
            [
                .text(mail), .text(remote), .int4(cost.memoryKiB), .int4(cost.passes),
                device.map { .bytes($0) } ?? .null,
            ]
        ).first.map(Recipe.init)
    }

    /// A try whose password nobody looked at counts for its address alone, whichever account it named.
    /// - Parameters:
    ///   - device: the digest that it was counted with, of a browser's mark or of a session; nil: none.
    ///   - isMail: a mail was asked for.
    package static func leaveUnchecked(
        mail: String, remote: String, device: [UInt8]?, isMail: Bool = false, on connection: Connection
    ) throws {
        try connection.query(
            "SELECT drover.leave_unchecked($1, $2, $3, $4)",
            [.text(mail), .text(remote), .bool(isMail), device.map { .bytes($0) } ?? .null])
    }

    /// Where somebody logs in.
    package struct Device: Sendable {
        let agent, remote: String
        let shown: [UInt8]?
        let new: [UInt8]
        /// - Parameters:
        ///   - shown: digest of the mark that the browser shows; nil: none.
        ///   - new: of the one that it is known by from now on.
        package init(agent: String, remote: String, shown: [UInt8]?, new: [UInt8]) {
            self.agent = agent
            self.remote = remote
            self.shown = shown
            self.new = new
        }
    }

    /// Opens a session. False: no such account, another password, not confirmed, or disabled.
    package static func logIn(
        mail: String, password: [UInt8], session: [UInt8], device: Device, isKept: Bool, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.log_in($1, $2, $3, $4, $5, $6, $7, $8)",
            [
                .text(mail), .bytes(password), .bytes(session), .text(device.agent), .bool(isKept),
                .text(device.remote), device.shown.map { .bytes($0) } ?? .null, .bytes(device.new),
            ])[0].text(0) != nil
    }

    /// Opens a session for who logged in at an OpenID provider. False: no mail address that the provider has verified, or disabled.
    /// - Parameter new: the account that somebody gets who has none.
    package static func logIn(
        issuer: String, subject: String, verifiedMail: String?, firstName: String, lastName: String, new: String,
        session: [UInt8], agent: String, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.log_in_by_identity($1, $2, $3, $4, $5, $6, $7, $8)",
            [
                .text(issuer), .text(subject), .text(verifiedMail), .text(firstName), .text(lastName), .text(new),
                .bytes(session), .text(agent),
            ])[0].text(0) != nil
    }

    /// Nil: there is no such session any more.
    package static func holder(ofSession session: [UInt8], on connection: Connection) throws -> AccountHolder? {
        try connection.query(
            """
            SELECT a.*, array_to_string(a.roles, ' ') AS role_list,
                coalesce((SELECT f.is_on FROM drover.second_factor_of_session($1) AS f), false) AS has_second_factor
            FROM drover.account_of_session($1) AS a
            """, [.bytes(session)]
        ).first.map { row in
            AccountHolder(
                account: try row.text("account")!, mail: try row.text("mail"), firstName: try row.text("first_name")!,
                lastName: try row.text("last_name")!,
                roles: try row.text("role_list")!.split(separator: " ").map(String.init),
                units: try row.word("units")!, zone: try row.text("zone")!,
                hasSecondFactor: try row.bool("has_second_factor")!)
        }
    }

    package static func sessions(ofSession session: [UInt8], on connection: Connection) throws -> [SessionRow] {
        try connection.query("SELECT * FROM drover.sessions_of_session($1)", [.bytes(session)]).map { row in
            SessionRow(
                number: Int64(try row.int("number")!), agent: try row.text("agent")!,
                madeMs: try row.timestampMs("made_at")!, lastUsedMs: try row.timestampMs("last_used_at")!,
                isThis: try row.bool("is_this")!)
        }
    }

    /// - Parameter number: of another session of the same account; nil: this one.
    package static func end(session: [UInt8], number: Int64? = nil, on connection: Connection) throws {
        try connection.query(
            "SELECT drover.end_session($1, $2)", [.bytes(session), number.map { .int8($0) } ?? .null])
    }

    // MARK: One's own account

    package static func change(
        session: [UInt8], firstName: String, lastName: String, units: DriverSettings.Units, zone: String,
        on connection: Connection
    ) throws {
        try connection.query(
            "SELECT drover.change_account($1, $2, $3, $4, $5)",
            [.bytes(session), .text(firstName), .text(lastName), .text(units.rawValue), .text(zone)])
    }

    /// Nil: too many tries, or no such session.
    package static func ownRecipe(
        session: [UInt8], remote: String, on connection: Connection
    ) throws -> Recipe? {
        try connection.query("SELECT * FROM drover.own_salt($1, $2)", [.bytes(session), .text(remote)])
            .first.map(Recipe.init)
    }

    /// Ends all other sessions. False: the old password is another.
    package static func changePassword(
        session: [UInt8], old: [UInt8], new: Kept, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.change_password($1, $2, $3, $4, $5, $6)",
            [.bytes(session), .bytes(old)] + new.parameters)[0].bool(0)!
    }

    // MARK: Mailed links

    /// Before the password of a new account is hashed. False: too many.
    package static func beginRegistration(mail: String, remote: String, on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.begin_registration($1, $2)", [.text(mail), .text(remote)])[0].bool(0)!
    }

    /// Says nothing of whether there was one already.
    package static func register(
        mail: String, account: String, firstName: String, lastName: String, new: Kept, link: [UInt8],
        confirm: SealedMail, known: SealedMail, on connection: Connection
    ) throws {
        try connection.query(
            "SELECT drover.register($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
            [.text(mail), .text(account), .text(firstName), .text(lastName)] + new.parameters + [
                .bytes(link), .text(confirm.id), .text(confirm.subject), .bytes(confirm.body), .text(known.subject),
                .bytes(known.body),
            ])
    }

    /// False: too many.
    package static func askPasswordLink(
        mail: String, remote: String, link: [UInt8], sealedMail: SealedMail, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.ask_password_link($1, $2, $3, $4, $5, $6)",
            [
                .text(mail), .text(remote), .bytes(link), .text(sealedMail.id), .text(sealedMail.subject),
                .bytes(sealedMail.body),
            ])[0].bool(0)!
    }

    /// Does not use it. Nil: unknown, used or too late.
    package static func look(at link: [UInt8], on connection: Connection) throws -> LinkLook? {
        try connection.query("SELECT * FROM drover.look_at_link($1)", [.bytes(link)]).first.map { row in
            LinkLook(
                purpose: try row.word("purpose")!, hasMail: try row.bool("has_mail")!,
                recipe: try row.bytes("salt") == nil ? nil : Recipe(row))
        }
    }

    /// False: the link or the password is another.
    package static func confirm(
        link: [UInt8], password: [UInt8], session: [UInt8], agent: String, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.confirm_account($1, $2, $3, $4)",
            [.bytes(link), .bytes(password), .bytes(session), .text(agent)])[0].text(0) != nil
    }

    /// - Parameters:
    ///   - mail: counts where the account has none.
    ///   - device: digest of the mark that the browser is known by from now on.
    /// - Returns: false: the link is another, or somebody has that mail address.
    package static func setPassword(
        link: [UInt8], mail: String?, new: Kept, device: [UInt8], on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.set_password($1, $2, $3, $4, $5, $6, $7)",
            [.bytes(link), .text(mail)] + new.parameters + [.bytes(device)])[0].bool(0)!
    }
}
