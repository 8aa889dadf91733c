internal import Alerts
internal import Fleet
internal import Presentation

/// The pages that roles have, in the groups of the menu.
enum Navigation {
    struct Entry {
        let path: String
        let name: String
        let icon: IconName
        let roles: Set<Role>
        /// What one does there, for search.
        let about: String
    }

    struct Group {
        let name: String
        let entries: [Entry]
    }

    static let groups = [
        Group(
            name: "Live",
            entries: [
                Entry(
                    path: "/", name: "Home", icon: .home, roles: Set(Role.allCases),
                    about: "What needs you now"),
                Entry(
                    path: "/map", name: "Map", icon: .map, roles: FleetRoutes.viewers,
                    about: "Where every vehicle is and what it does"),
                Entry(
                    path: "/alerts", name: "Alerts", icon: .bell, roles: FleetRoutes.viewers,
                    about: "What is wrong, why, and what to do"),
            ]),
        Group(
            name: "Fleet",
            entries: [
                Entry(
                    path: "/vehicles", name: "Vehicles", icon: .car, roles: FleetRoutes.viewers,
                    about: "Latest values, charts, alerts and services"),
                Entry(
                    path: "/trips", name: "Trips", icon: .trip, roles: FleetRoutes.drivers,
                    about: "A day's trips on the map and in figures"),
                Entry(
                    path: "/fleet", name: "Overview", icon: .compare, roles: FleetRoutes.drivers,
                    about: "A day or week beside the one before"),
                Entry(
                    path: "/services", name: "Services", icon: .wrench, roles: FleetRoutes.viewers,
                    about: "Which machines are due, and what was done"),
                Entry(
                    path: "/reports", name: "Reports", icon: .chart, roles: ReportRoutes.readers,
                    about: "A day, week, month or longer, to read or export"),
                Entry(
                    path: "/queries", name: "Queries", icon: .query, roles: QueryRoutes.readers,
                    about: "Ready-made questions with answers to export"),
                Entry(
                    path: "/query", name: "Ask", icon: .code, roles: QuestionRoutes.readers,
                    about: "Your own SELECT over what you may see"),
            ]),
        Group(
            name: "Campus",
            entries: [
                Entry(path: "/ride", name: "Ride", icon: .ride, roles: [.rider], about: "Ask for a ride"),
                Entry(path: "/drive", name: "Drive", icon: .drive, roles: [.rideDriver], about: "Your next stops"),
                Entry(
                    path: "/dispatch", name: "Dispatch", icon: .dispatch, roles: CampusPageRoutes.watchers,
                    about: "Vehicles, rides and waiting times of the campus"),
            ]),
        Group(
            name: "Nature",
            entries: [
                Entry(
                    path: "/sightings", name: "Sightings", icon: .sighting, roles: SightingRoutes.readers,
                    about: "What was seen where and when"),
                Entry(
                    path: "/surveys", name: "Surveys", icon: .survey, roles: SurveyRoutes.people,
                    about: "Enter, review and correct surveys"),
                Entry(
                    path: "/tours", name: "Tours", icon: .tour, roles: TourRoutes.rangers,
                    about: "Make and publish trail tours"),
            ]),
        Group(
            name: "Set up",
            entries: [
                Entry(
                    path: "/thresholds", name: "Rules", icon: .rule, roles: ThresholdRoutes.editors,
                    about: "When a value raises an alert"),
                Entry(
                    path: "/notices", name: "Notifications", icon: .notify, roles: NoticeRoutes.people,
                    about: "Who is told of alerts, how and when"),
                Entry(
                    path: "/dealers", name: "Dealers", icon: .warehouse, roles: DealerRoutes.roles,
                    about: "Which dealer sees which machine"),
                Entry(
                    path: "/administration", name: "People", icon: .people, roles: [.administrator],
                    about: "Accounts, roles and fleets"),
                Entry(
                    path: "/limits", name: "Limits", icon: .speed, roles: LimitsRoutes.people,
                    about: "Limits for cars without a driver or owner"),
                Entry(
                    path: "/settings", name: "Settings", icon: .cog, roles: WebRoutes.fleetReaders,
                    about: "Limits and fuel price, units and time zone"),
            ]),
    ]

    /// Pages that the menu leaves out, for search. No roles: for whoever is logged in.
    static let others = [
        Entry(
            path: "/reports/schedules", name: "Scheduled reports", icon: .calendar, roles: ReportRoutes.readers,
            about: "Reports that are made and mailed at set times"),
        Entry(
            path: "/trips/compare", name: "Compare drives", icon: .compare, roles: FleetRoutes.drivers,
            about: "One route before and after a change of the car"),
        Entry(
            path: "/field", name: "Field view", icon: .qr, roles: FleetRoutes.viewers,
            about: "Point the camera at a machine's sticker"),
        Entry(
            path: "/vehicles/new", name: "Add a vehicle", icon: .plus, roles: VehicleRoutes.adders,
            about: "A car, or a machine by its box"),
        Entry(
            path: "/surveys/enter", name: "New survey", icon: .plus, roles: SurveyRoutes.surveyors,
            about: "Enter a walk with its sightings"),
        Entry(
            path: "/sightings/taxa", name: "Taxonomy", icon: .butterfly, roles: SightingRoutes.readers,
            about: "Species, genera and families"),
        Entry(path: "/audit", name: "Audit log", icon: .history, roles: [.administrator], about: "Who did what"),
        Entry(
            path: "/account", name: "Account", icon: .person, roles: [],
            about: "Password, units, time zone, app passwords"),
        Entry(
            path: "/trail-tours", name: "Trail tours", icon: .tour, roles: [],
            about: "Tours that everybody can download"),
        Entry(path: "/about", name: "About Drover", icon: .info, roles: [], about: "Version, credits, documentation"),
    ]

    /// The groups with what these roles may open.
    static func groups(for roles: Set<Role>) -> [Group] {
        let home = Landing.home(roles)
        return groups.compactMap { group in
            let entries = group.entries.filter { $0.path == "/" || !$0.roles.isDisjoint(with: roles) }
                .map {
                    $0.path == "/"
                        ? Entry(path: home, name: $0.name, icon: $0.icon, roles: $0.roles, about: $0.about) : $0
                }
            return entries.isEmpty ? nil : Group(name: group.name, entries: entries)
        }
    }

    static func entries(for roles: Set<Role>) -> [Entry] { groups(for: roles).flatMap(\.entries) }

    /// At most four, in the order of what somebody with a phone in the hand needs.
    static func phoneEntries(for roles: Set<Role>) -> [Entry] {
        let mine = entries(for: roles)
        let wanted = [
            "/ride", "/drive", Landing.home(roles), "/map", "/alerts", "/dispatch", "/surveys", "/tours", "/trips",
            "/vehicles",
        ]
        return Array(wanted.compactMap { path in mine.first { $0.path == path } }.prefix(4))
    }
}
