internal import Fleet
internal import Presentation
internal import Reports

/// What reports are called on pages, and which of them a role asks for most. Files keep the report's own words.
enum ReportWords {
    /// Reports that have words of their own.
    private enum Known: String {
        case fleetDay = "fleet-day", trips, fuel, alerts, maintenance, dispatchDay = "dispatch-day"
        case surveyDay = "survey-day", tourVisits = "tour-visits"
    }

    static func title(_ report: Report) -> String {
        switch Known(rawValue: report.name) {
        case .fleetDay: t("Fleet day")
        case .trips: t("Trips")
        case .fuel: t("Fuel")
        case .alerts: t("Alerts")
        case .maintenance: t("Machine maintenance")
        case .dispatchDay: t("Dispatch")
        case .surveyDay: t("Surveys")
        case .tourVisits: t("Tour visits")
        case nil: report.title
        }
    }

    static func summary(_ report: Report) -> String {
        switch Known(rawValue: report.name) {
        case .fleetDay: t("Trips and what they add up to, alerts, and the speed of each trip.")
        case .trips: t("Every trip with its driver, distance, speed, fuel and cost.")
        case .fuel: t("Distance, fuel, consumption and cost of each car, day by day.")
        case .alerts: t("Alerts that were open, by which rule, and who has seen them.")
        case .maintenance: t("Engine hours and services of each machine, and what was due.")
        case .dispatchDay: t("Rides asked for, served and cancelled; waiting and riding, hour by hour.")
        case .surveyDay: t("Walks, sightings and individuals of each site, day by day.")
        case .tourVisits: t("Downloads of each tour and visits of its waypoints, day by day.")
        case nil: "\(PageShell.sentence(report.summary))."
        }
    }

    static func empty(_ report: Report) -> String {
        switch Known(rawValue: report.name) {
        case .fleetDay, .trips, .fuel: t("No trip began in this time.")
        case .alerts: t("No alert was open in this time.")
        case .maintenance: t("There is no machine that you may see.")
        case .dispatchDay: t("Nobody asked for a ride in this time.")
        case .surveyDay: t("No walk began in this time.")
        case .tourVisits: t("Nobody visited a tour in this time.")
        case nil: report.empty
        }
    }

    static func icon(_ report: Report) -> IconName {
        switch Known(rawValue: report.name) {
        case .fuel: .fuel
        case .trips: .trip
        case .alerts: .bell
        case .maintenance: .wrench
        case .fleetDay, .dispatchDay, .surveyDay, .tourVisits, nil:
            switch report.of {
            case .vehicle: .car
            case .campus: .dispatch
            case .site: .sighting
            case .tour: .tour
            }
        }
    }

    // MARK: Subjects

    static let subjects: [Report.Subject] = [.vehicle, .campus, .site, .tour]

    /// `Vehicle, campus or site`: what these reports can be narrowed to.
    static func only(_ reports: [Report]) -> String {
        let names = subjects.filter { kind in reports.contains { $0.of == kind } }.map(name)
        guard let last = names.last, names.count > 1 else { return PageShell.sentence(names.joined()) }
        return PageShell.sentence(t("\(names.dropLast().joined(separator: ", ")) or \(last)"))
    }

    private static func name(_ subject: Report.Subject) -> String {
        switch subject {
        case .vehicle: t("vehicle")
        case .campus: t("campus")
        case .site: t("site")
        case .tour: t("tour")
        }
    }

    // MARK: First

    /// The most used ones come first, three of them on top; the others in the order of the list.
    static func ordered(_ reports: [Report], for roles: Set<Role>) -> [Report] {
        let first = firsts.filter { roles.contains($0.role) }.flatMap(\.names) + ["fuel", "fleet-day", "maintenance"]
        func place(_ report: Report) -> Int { first.firstIndex(of: report.name) ?? first.count }
        return reports.enumerated().sorted { (place($0.element), $0.offset) < (place($1.element), $1.offset) }.map(
            \.element)
    }

    private static let firsts: [(role: Role, names: [String])] = [
        (.fleetManager, ["fuel", "fleet-day", "maintenance"]), (.farmer, ["maintenance", "alerts", "fleet-day"]),
        (.dealer, ["maintenance", "alerts", "fleet-day"]), (.dispatcher, ["dispatch-day", "fleet-day", "fuel"]),
        (.researcher, ["survey-day"]), (.ranger, ["tour-visits"]), (.driver, ["fuel", "trips", "fleet-day"]),
        (.developer, ["alerts", "maintenance", "trips"]),
    ]
}
