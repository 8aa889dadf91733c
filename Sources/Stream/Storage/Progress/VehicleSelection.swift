package import Fleet
internal import Postgres

/// The vehicles of a partition whose records and rows are meant: all but some, or some only. What is said of no vehicle (ticks,
/// rules, an account's settings) is everybody's.
package struct VehicleSelection: Equatable, Sendable {
    package let vehicles: Set<VehicleID>
    /// Only these; else all but these.
    package let isOnly: Bool

    package static let all = VehicleSelection(allBut: [])
    package init(allBut vehicles: Set<VehicleID>) { (self.vehicles, isOnly) = (vehicles, false) }
    package init(only vehicles: Set<VehicleID>) { (self.vehicles, isOnly) = (vehicles, true) }

    package var isAll: Bool { !isOnly && vehicles.isEmpty }
    package func includes(_ vehicle: VehicleID) -> Bool { vehicles.contains(vehicle) == isOnly }

    /// The same of a column, with `parameters` as number `first` and the next.
    func condition(_ column: String, _ first: Int) -> String { "(\(column) = ANY ($\(first)::text[])) = $\(first + 1)" }
    var parameters: [Parameter] { [.textArray(vehicles.map(\.text).sorted()), .bool(isOnly)] }
}
