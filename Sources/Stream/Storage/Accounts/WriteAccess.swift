package import Fleet
package import Postgres

/// Rights to say things of a vehicle, whatever door they come through: `drover.may_write` decides them.
/// Registrations are asked for elsewhere (`VehicleRegistrationStore`), and what gateways say comes past all doors.
package enum WriteAccess {
    /// As the database has them.
    package enum Operation: String, Sendable {
        /// A vehicle's measurements.
        case reading
        /// A mark or a word on a trip, or a trip that is known from its summary only.
        case trip
        /// A finding about a car's health.
        case scan
        /// A request that a gateway asks the vehicle now.
        case ask
        case service
        /// A word that somebody takes care of an alert, or wants to hear no more of it.
        case alert
    }

    /// The vehicles of these that `account` may not say this of, at these times. None: what nobody has written about yet is
    /// the account's from now on.
    package static func refused(
        _ deed: Operation, isCar: Bool, _ about: [(vehicle: VehicleID, span: ClosedRange<Int64>)], account: String,
        on connection: Connection
    ) throws -> [VehicleID] {
        try connection.query(
            "SELECT drover.refused_writes($1, $2, $3, $4::text[], $5::timestamptz[], $6::timestamptz[])",
            [
                .text(account), .text(deed.rawValue), .text(isCar ? "car" : "machine"),
                .textArray(about.map(\.vehicle.text)), .timestampArray(about.map(\.span.lowerBound)),
                .timestampArray(about.map(\.span.upperBound)),
            ]
        ).map { VehicleID(try $0.text(0)!)! }
    }

    /// Whether who looks at a page may say this.
    /// Precondition: `RowSecurity.apply` in this transaction.
    package static func may(
        _ deed: Operation, isCar: Bool, _ vehicle: VehicleID, at span: ClosedRange<Int64>, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.may_do($1, $2, $3, $4, $5)",
            [
                .text(deed.rawValue), .text(isCar ? "car" : "machine"), .text(vehicle.text),
                .timestampMs(span.lowerBound), .timestampMs(span.upperBound),
            ])[0].bool(0)!
    }

    /// Whether `account` may look at what the car does now: it is its owner's, is assigned to it, or has driven it in the last
    /// hour and still may.
    package static func mayLook(_ vehicle: VehicleID, account: String, on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.may_look($1, $2)", [.text(account), .text(vehicle.text)])[0].bool(0)!
    }
}
