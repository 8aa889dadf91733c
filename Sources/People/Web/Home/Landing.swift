internal import Fleet

/// Where somebody lands who opens Drover: those with one job on its page, all others on Home.
enum Landing {
    /// The page of the only job that these roles have; nil: there are several, or Home is where it is done.
    static func job(_ roles: Set<Role>) -> String? {
        guard roles.count == 1, let role = roles.first else { return nil }
        switch role {
        case .rider: return "/ride"
        case .rideDriver: return "/drive"
        case .dispatcher: return "/dispatch"
        case .surveyor: return "/surveys/enter"
        case .ranger: return "/tours"
        case .researcher: return "/sightings"
        case .analyst: return "/queries"
        case .farmer, .dealer, .developer, .driver, .fleetManager, .operator, .administrator: return nil
        }
    }

    /// Home's address for these roles: whoever lands elsewhere reaches it by the menu all the same.
    static func home(_ roles: Set<Role>) -> String { job(roles) == nil ? "/" : "/home" }
}
