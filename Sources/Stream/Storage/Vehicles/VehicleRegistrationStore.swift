package import Fleet
package import Postgres

/// Registrations and changes of vehicles in pages, through `drover.change_vehicle`. What people say goes on
/// the log; here it is asked whether they may.
/// Precondition of all: `RowSecurity.apply` in this transaction.
package enum VehicleRegistrationStore {
    /// The registration of a vehicle that somebody may change.
    package struct Registered: Sendable {
        /// The record that says it; empty: nothing is registered.
        package let recordID: String
        package var registration: Action.Registration
    }

    package struct ManagedFleet: Sendable {
        package let fleet, name: String
        /// The vehicle is in it.
        package let holds: Bool
        package let members: [String]
    }

    /// Why a registration is not to be put on the log, or that it is.
    package enum Outcome: String, Sendable {
        case taken
        case done, known, changed, waiting, fleet, owner
        case notYours = "not yours"
        /// 1,000 ids of the account wait for a first reading, or were taken by its uploads.
        case tooMany = "too many"
    }

    package static func mayChange(_ vehicle: String, kind: VehicleKind, on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.keeps($1, $2)", [.text(kind.rawValue), .text(vehicle)])[0].bool(0)
            ?? false
    }

    /// Nil: it is not theirs to change.
    package static func registered(_ vehicle: VehicleID, isCar: Bool, on connection: Connection) throws -> Registered? {
        let rows = try connection.query(
            "SELECT * FROM drover.registration_kept($1, $2)", [.text(isCar ? "car" : "machine"), .text(vehicle.text)])
        guard let row = rows.first else { return nil }
        return Registered(
            recordID: try row.text("record_id") ?? "", registration: try Action.Registration(row, isCar: isCar))
    }

    /// The registration; nil: there is none. For those who run the installation.
    package static func registration(
        of vehicle: VehicleID, isCar: Bool, on connection: Connection
    ) throws -> Action.Registration? {
        try connection.query(
            """
            SELECT name, model, host, port, certificate_sha256, tags, is_disabled, account, vin, make, year, fuel,
                round(tank_l * 1000)::int AS tank_ml, displacement_cc,
                round(volumetric_efficiency_pct * 1000)::int AS efficiency_milli_pct
            FROM drover.registration WHERE kind = $2 AND vehicle = $1
            """, [.text(vehicle.text), .text(isCar ? "car" : "machine")]
        ).first.map { try Action.Registration($0, isCar: isCar) }
    }

    /// One's own fleets.
    package static func fleets(
        holding vehicle: String, isCar: Bool, on connection: Connection
    ) throws -> [ManagedFleet] {
        try connection.query(
            "SELECT * FROM drover.fleets_kept($1, $2)", [.text(isCar ? "car" : "machine"), .text(vehicle)]
        ).map { row in
            ManagedFleet(
                fleet: try row.text("fleet")!, name: try row.text("name")!, holds: try row.bool("holds")!,
                members: try row.textArray("members")!.compactMap { $0 })
        }
    }

    /// Asks before a registration is put on the log.
    /// - Parameters:
    ///   - basedOn: the record that the form was made of; empty: none.
    ///   - record: the new one's id.
    ///   - fleets: those of one's own that it shall be in; nil: leave them.
    package static func change(
        _ vehicle: VehicleID, isCar: Bool, basedOn: String, record: String, fleets: [String]?, owner: String?,
        on connection: Connection
    ) throws -> Outcome {
        let word = try connection.query(
            "SELECT drover.change_vehicle($1, $2, $3, $4, $5, $6)",
            [
                .text(isCar ? "car" : "machine"), .text(vehicle.text), .text(basedOn), .text(record),
                fleets.map { .textArray($0) } ?? .null, .text(owner),
            ])[0].text(0)!
        guard let outcome = Outcome(rawValue: word) else {
            throw StoredRowFault(description: "change_vehicle: \(word)")
        }
        return outcome
    }
}
