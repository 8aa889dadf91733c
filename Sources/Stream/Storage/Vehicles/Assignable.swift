package import Fleet
package import Postgres

/// To whom a car can be assigned by who looks at a page: `drover.assignable` decides it.
package struct Assignable: Sendable {
    package let accounts: [String]
    /// The account that is to drive it now, the first of them; nil: nobody.
    package let assigned: String?

    /// Nil: who looks may not say who drives it.
    /// Precondition: `RowSecurity.apply` in this transaction.
    package static func read(_ vehicle: VehicleID, on connection: Connection) throws -> Assignable? {
        guard try connection.query("SELECT drover.may_assign($1)", [.text(vehicle.text)])[0].bool(0)! else {
            return nil
        }
        let rows = try connection.query("SELECT account, is_assigned FROM drover.assignable($1)", [.text(vehicle.text)])
        return Assignable(
            accounts: try rows.map { try $0.text(0)! },
            assigned: try rows.first { try $0.bool(1)! }.map { try $0.text(0)! })
    }
}
