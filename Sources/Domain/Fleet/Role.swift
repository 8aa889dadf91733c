/// The roles of people who log in: docs/accounts.md. The raw value is stored and shown.
public enum Role: String, CaseIterable, Sendable {
    case farmer, dealer, developer, driver
    case fleetManager = "fleet_manager"
    case rider
    case rideDriver = "ride_driver"
    case dispatcher, surveyor, researcher, ranger, analyst, `operator`, administrator

    /// As people read it.
    public var name: String { rawValue.replacing("_", with: " ") }
}
