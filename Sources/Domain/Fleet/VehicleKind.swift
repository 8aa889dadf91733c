/// What a vehicle is: its tables, rules and people differ.
public enum VehicleKind: String, CaseIterable, Sendable { case machine, car }
