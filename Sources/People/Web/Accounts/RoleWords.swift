internal import Fleet
internal import Presentation

/// Roles as people read them.
extension Role {
    /// `Fleet manager`
    var title: String {
        switch self {
        case .farmer: t("Farmer")
        case .dealer: t("Dealer")
        case .developer: t("Developer")
        case .driver: t("Driver")
        case .fleetManager: t("Fleet manager")
        case .rider: t("Rider")
        case .rideDriver: t("Ride driver")
        case .dispatcher: t("Dispatcher")
        case .surveyor: t("Surveyor")
        case .researcher: t("Researcher")
        case .ranger: t("Ranger")
        case .analyst: t("Analyst")
        case .operator: t("Operator")
        case .administrator: t("Administrator")
        }
    }

    /// What people do in it, in a few words.
    var about: String {
        switch self {
        case .farmer: t("Machines, alerts, services")
        case .dealer: t("Machines whose owners agree")
        case .developer: t("All machines, rules, debug logs")
        case .driver: t("Own trips and cars")
        case .fleetManager: t("Vehicles and people of a fleet")
        case .rider: t("Asks for rides on a campus")
        case .rideDriver: t("Drives a campus vehicle")
        case .dispatcher: t("All rides of a campus")
        case .surveyor: t("Enters surveys")
        case .researcher: t("All sightings, reviews")
        case .ranger: t("Makes trail tours")
        case .analyst: t("Reports and queries")
        case .operator: t("Runs the installation")
        case .administrator: t("Everything, people too")
        }
    }

    /// `Farmer, Driver`, or that there is none.
    static func titles(_ roles: Set<Role>) -> String {
        let all = Role.allCases.filter(roles.contains).map(\.title).joined(separator: ", ")
        return all.isEmpty ? t("No roles") : all
    }
}
