package import Postgres

/// Which dealers look after which machines, through `drover.ask_dealership` and its like.
/// Precondition of all: `RowSecurity.apply` in this transaction.
package enum DealerStore {
    package struct Dealership: Equatable, Sendable {
        package let id: Int64
        package let vehicle, dealer, dealerName: String
        /// What the machine is called; nil: it has no name, or the asker does not see it.
        package let name: String?
        package let askedMs: Int64
        package let confirmedMs, endedMs: Int64?
        /// The dealer sees what was before the confirmation, too.
        package let sharesPast: Bool
        /// The machine is one's own; else one is the dealer.
        package let isOwn: Bool
    }

    /// So many are listed at most, by `drover.dealerships`.
    package static let listMax = 500

    /// Dealerships that one asked for, and those of one's own machines, open questions first.
    package static func list(on connection: Connection) throws -> [Dealership] {
        try connection.query(
            """
            SELECT d.*, r.name FROM drover.dealerships() WITH ORDINALITY AS d
            LEFT JOIN drover.registration r ON r.kind = 'machine' AND r.vehicle = d.vehicle ORDER BY d.ordinality
            """
        ).map { row in
            Dealership(
                id: Int64(try row.int("dealership_id")!), vehicle: try row.text("vehicle")!,
                dealer: try row.text("dealer")!,
                dealerName: try row.text("dealer_name")!, name: try row.text("name"),
                askedMs: try row.timestampMs("asked_at")!,
                confirmedMs: try row.timestampMs("confirmed_at"), endedMs: try row.timestampMs("ended_at"),
                sharesPast: try row.bool("shares_past")!, isOwn: try row.bool("is_own")!)
        }
    }

    /// Who keeps a machine now.
    package struct Owner: Hashable, Sendable {
        package let account, name: String
    }

    /// Of each machine that was confirmed to the asking dealer and has not ended, whose it is.
    package static func owners(on connection: Connection) throws -> [String: [Owner]] {
        try connection.query("SELECT vehicle, owner, owner_name FROM drover.owners_of_dealt()").reduce(into: [:]) {
            owners, row in
            owners[try row.text("vehicle")!, default: []].append(
                Owner(account: try row.text("owner")!, name: try row.text("owner_name")!))
        }
    }

    /// False: too many wait for an answer already. Owners get the mail, if there is one and such a machine.
    package static func ask(_ vehicle: String, _ sealedMail: PageSessionStore.SealedMail?, on connection: Connection)
        throws
        -> Bool
    {
        try connection.query(
            "SELECT drover.ask_dealership($1, $2, $3, $4)",
            [
                .text(vehicle), .text(sealedMail?.id), .text(sealedMail?.subject),
                sealedMail.map { .bytes($0.body) } ?? .null,
            ]
        )[0].bool(0)!
    }

    /// False: it is of no machine of one's own, was confirmed before, or is over.
    package static func confirm(_ id: Int64, sharesPast: Bool, on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.confirm_dealership($1, $2)", [.int8(id), .bool(sharesPast)])[0].bool(0)!
    }

    /// False: it is not one's to end, or over.
    package static func end(_ id: Int64, on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.end_dealership($1)", [.int8(id)])[0].bool(0)!
    }
}
