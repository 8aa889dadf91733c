package import Fleet
package import Postgres

/// Accounts and fleets for administrators, through `drover.administer_account` and its like: who is none gets nothing.
/// Precondition of all: `RowSecurity.apply` in this transaction.
package enum AdministrationStore {
    package struct AccountRow: Equatable, Sendable {
        package let account: String
        /// Nil: erased.
        package let mail: String?
        package let name: String
        package let roles: Set<Role>
        package let state: AccountState
        package let lastUsedMs: Int64?
    }

    package struct FleetRow: Equatable, Sendable {
        package let fleet, name: String
        package let partOf: String?
        /// Like `machine mtg-1`.
        package let vehicles: [String]
        package let members: [String]
    }

    /// At most a thousand.
    package static func accounts(on connection: Connection) throws -> [AccountRow] {
        try connection.query("SELECT * FROM drover.accounts_administered()").map { row in
            AccountRow(
                account: try row.text("account")!, mail: try row.text("mail"), name: try row.text("name")!,
                roles: Set(try row.textArray("roles")!.compactMap { $0.flatMap(Role.init) }),
                state: try row.word("state")!, lastUsedMs: try row.timestampMs("last_used_at"))
        }
    }

    /// False: nothing was changed: there is no such account, or no administrator would be left.
    package static func change(
        _ account: String, roles: Set<Role>, isEnabled: Bool, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.administer_account($1, $2, $3)",
            [.text(account), .textArray(Role.allCases.filter(roles.contains).map(\.rawValue)), .bool(isEnabled)]
        )[0].bool(0)!
    }

    /// As `OperatorAccountStore.erase`. False: nothing was changed, as with `change`.
    package static func erase(_ account: String, on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.administer_erasure($1)", [.text(account)])[0].bool(0)!
    }

    package enum Invitation: String, Sendable {
        case invited
        /// Somebody has this mail address.
        case known
        /// Somebody has this id.
        case taken
        /// There is no such fleet.
        case fleet
        /// Too many wait for an answer.
        case many
        /// The asker is no administrator.
        case refused
    }

    /// An account with a link for its first password, good for a week; mailed where mail can be sent.
    /// - Parameters:
    ///   - fleet: empty: none.
    ///   - sealedMail: nil: the administrator hands the link over.
    package static func invite(
        _ account: String, mail: String, role: Role, fleet: String, link: [UInt8],
        _ sealedMail: PageSessionStore.SealedMail?, on connection: Connection
    ) throws -> Invitation {
        try connection.query(
            "SELECT drover.administer_invitation($1, $2, $3, $4, $5, $6, $7, $8) AS outcome",
            [
                .text(account), .text(mail), .textArray([role.rawValue]), .text(fleet), .bytes(link),
                .text(sealedMail?.id), .text(sealedMail?.subject), sealedMail.map { .bytes($0.body) } ?? .null,
            ])[0].word("outcome")!
    }

    /// At most a thousand.
    package static func fleets(on connection: Connection) throws -> [FleetRow] {
        try connection.query("SELECT * FROM drover.fleets_administered()").map { row in
            FleetRow(
                fleet: try row.text("fleet")!, name: try row.text("name")!, partOf: try row.text("part_of"),
                vehicles: try row.textArray("vehicles")!.compactMap { $0 },
                members: try row.textArray("members")!.compactMap { $0 })
        }
    }

    /// Accounts that have a login of the database.
    package static func logins(on connection: Connection) throws -> Set<String> {
        Set(try connection.query("SELECT drover.logins_administered()").map { try $0.text(0)! })
    }

    /// Makes the fleet, or gives it these vehicles and people in place of those it has. False: nothing was changed: an account
    /// or fleet is not there, or fleets would be nested twice.
    package static func put(_ fleet: FleetRow, on connection: Connection) throws -> Bool {
        try connection.query(
            "SELECT drover.administer_fleet($1, $2, $3, $4, $5)",
            [
                .text(fleet.fleet), .text(fleet.name), .text(fleet.partOf), .textArray(fleet.vehicles),
                .textArray(fleet.members),
            ])[0].bool(0)!
    }
}

extension AdministrationStore.FleetRow {
    package init(fleet: String, name: String, partOf: String?, to vehicles: [String], members: [String]) {
        self.fleet = fleet
        self.name = name
        self.partOf = partOf
        self.vehicles = vehicles
        self.members = members
    }
}
