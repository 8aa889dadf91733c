/// The kind of a vehicle: tables, rules and people of the two differ.
public enum VehicleKind: String, CaseIterable, Sendable { case machine, car }
