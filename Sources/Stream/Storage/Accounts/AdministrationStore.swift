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

    /// What changes of a fleet: only what is named, so that what somebody else did meanwhile stays.
    package struct FleetChange: Equatable, Sendable {
        /// Nil: as it was.
        package var name: String?
        /// Empty: of none. Nil: as it was.
        package var partOf: String?
        /// Like `machine mtg-1`.
        package var added: [String] = []
        package var taken: [String] = []
        package var joined: [String] = []
        package var left: [String] = []
        package init() {}
    }

    /// A fleet without vehicles and people. False: there is one of this id, or fleets would be nested twice.
    package static func make(
        _ fleet: String, name: String, partOf: String?, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.make_fleet($1, $2, $3)", [.text(fleet), .text(name), .text(partOf)]
        )[0].bool(0)!
    }

    /// False: nothing was changed: an account or fleet is not there, or fleets would be nested twice.
    package static func change(_ fleet: String, _ change: FleetChange, on connection: Connection) throws -> Bool {
        try connection.query(
            "SELECT drover.change_fleet($1, $2, $3, $4, $5, $6, $7)",
            [
                .text(fleet), .text(change.name), .text(change.partOf), .textArray(change.added),
                .textArray(change.taken), .textArray(change.joined), .textArray(change.left),
            ])[0].bool(0)!
    }

    // MARK: Vehicles to choose from

    package struct VehicleRow: Sendable {
        package let kind: VehicleKind
        package let vehicle: String
        package let name, model: String?
        /// Like `machine mtg-1`, as in `FleetRow`.
        package var key: String { "\(kind.rawValue) \(vehicle)" }

        package init(kind: VehicleKind, vehicle: String, name: String?, model: String?) {
            (self.kind, self.vehicle, self.name, self.model) = (kind, vehicle, name, model)
        }
    }

    /// By name.
    /// - Parameters:
    ///   - text: a part of the name, id or model in lower case, as a pattern of LIKE with its signs escaped.
    ///   - without: those of these keys are left out.
    package static func vehicles(
        like text: String, without: [String] = [], most: Int, on connection: Connection
    ) throws -> [VehicleRow] {
        try connection.query(
            """
            SELECT x.kind, x.vehicle, x.name, x.model FROM \(known) AS x
            WHERE x.words LIKE $1::text AND x.kind || ' ' || x.vehicle NOT IN (SELECT unnest($2))
            ORDER BY lower(coalesce(x.name, x.vehicle)), x.vehicle COLLATE "C", x.kind LIMIT $3
            """, [.text(text), .textArray(without), .int8(Int64(most))]
        ).map(VehicleRow.init)
    }

    /// Those of these keys that are known.
    package static func vehicles(_ keys: [String], on connection: Connection) throws -> [VehicleRow] {
        guard !keys.isEmpty else { return [] }
        return try connection.query(
            """
            SELECT x.kind, x.vehicle, x.name, x.model FROM \(known) AS x
            WHERE x.kind || ' ' || x.vehicle IN (SELECT unnest($1))
            """, [.textArray(keys)]
        ).map(VehicleRow.init)
    }

    /// Vehicles that have sent something or were entered.
    private static let known = """
        (SELECT kind, vehicle, r.name, coalesce(v.model, nullif(concat_ws(' ', r.make, r.model, r.year), '')) AS model,
            lower(concat_ws(' ', vehicle, r.name, v.machine_id, v.model, r.make, r.model, array_to_string(r.tags, ' '))) AS words
         FROM drover.vehicle v FULL JOIN drover.registration r USING (kind, vehicle))
        """
}

extension AdministrationStore.VehicleRow {
    fileprivate init(_ row: Row) throws {
        self.init(
            kind: try row.word("kind")!, vehicle: try row.text("vehicle")!, name: try row.text("name"),
            model: try row.text("model"))
    }
}
