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

    static var groups: [Group] {
        [
            Group(
                name: t("Live"),
                entries: [
                    Entry(
                        path: "/", name: t("Home"), icon: .home, roles: Set(Role.allCases),
                        about: t("What needs you now")),
                    Entry(
                        path: "/map", name: t("Map"), icon: .map, roles: FleetRoutes.viewers,
                        about: t("Where every vehicle is and what it does")),
                    Entry(
                        path: "/alerts", name: t("Alerts"), icon: .bell, roles: FleetRoutes.viewers,
                        about: t("What is wrong, why, and what to do")),
                ]),
            Group(
                name: t("Fleet"),
                entries: [
                    Entry(
                        path: "/vehicles", name: t("Vehicles"), icon: .car, roles: FleetRoutes.viewers,
                        about: t("Latest values, charts, alerts and services")),
                    Entry(
                        path: "/trips", name: t("Trips"), icon: .trip, roles: FleetRoutes.drivers,
                        about: t("A day's trips on the map and in figures")),
                    Entry(
                        path: "/fleet", name: t("Overview"), icon: .compare, roles: FleetRoutes.drivers,
                        about: t("A day or week beside the one before")),
                    Entry(
                        path: "/services", name: t("Services"), icon: .wrench, roles: FleetRoutes.viewers,
                        about: t("Which machines are due, and what was done")),
                    Entry(
                        path: "/reports", name: t("Reports"), icon: .chart, roles: ReportRoutes.readers,
                        about: t("A day, week, month or longer, to read or export")),
                    Entry(
                        path: "/queries", name: t("Queries"), icon: .query, roles: QueryRoutes.readers,
                        about: t("Ready-made questions with answers to export")),
                    Entry(
                        path: "/query", name: t("Ask with SQL"), icon: .code, roles: QuestionRoutes.readers,
                        about: t("Your own SELECT over what you may see")),
                ]),
            Group(
                name: t("Campus"),
                entries: [
                    Entry(path: "/ride", name: t("Ride"), icon: .ride, roles: [.rider], about: t("Ask for a ride")),
                    Entry(
                        path: "/drive", name: t("Drive"), icon: .drive, roles: [.rideDriver],
                        about: t("Your next stops")),
                    Entry(
                        path: "/dispatch", name: t("Dispatch"), icon: .dispatch, roles: CampusPageRoutes.watchers,
                        about: t("Vehicles, rides and waiting times of the campus")),
                ]),
            Group(
                name: t("Nature"),
                entries: [
                    Entry(
                        path: "/sightings", name: t("Sightings"), icon: .sighting, roles: SightingRoutes.readers,
                        about: t("What was seen where and when")),
                    Entry(
                        path: "/surveys", name: t("Surveys"), icon: .survey, roles: SurveyRoutes.people,
                        about: t("Enter, review and correct surveys")),
                    Entry(
                        path: "/tours", name: t("Tours"), icon: .tour, roles: TourRoutes.rangers,
                        about: t("Make and publish trail tours")),
                ]),
            Group(
                name: t("Set up"),
                entries: [
                    Entry(
                        path: "/thresholds", name: t("Rules"), icon: .rule, roles: ThresholdRoutes.editors,
                        about: t("When a value raises an alert")),
                    Entry(
                        path: "/notices", name: t("Notifications"), icon: .notify, roles: NoticeRoutes.people,
                        about: t("Who is told of alerts, how and when")),
                    Entry(
                        path: "/dealers", name: t("Dealers"), icon: .warehouse, roles: DealerRoutes.roles,
                        about: t("Which dealer sees which machine")),
                    Entry(
                        path: "/administration", name: t("People"), icon: .people, roles: [.administrator],
                        about: t("Accounts, roles and fleets")),
                    Entry(
                        path: "/limits", name: t("Limits"), icon: .speed, roles: LimitsRoutes.people,
                        about: t("Limits for cars without a driver or owner")),
                    Entry(
                        path: "/settings", name: t("Settings"), icon: .cog, roles: WebRoutes.fleetReaders,
                        about: t("Limits and fuel price, units and time zone")),
                ]),
        ]
    }

    /// Pages that the menu leaves out, for search. No roles: for whoever is logged in.
    static var others: [Entry] {
        [
            Entry(
                path: "/reports/schedules", name: t("Scheduled reports"), icon: .calendar, roles: ReportRoutes.readers,
                about: t("Reports that are made and mailed at set times")),
            Entry(
                path: "/trips/compare", name: t("Compare drives"), icon: .compare, roles: FleetRoutes.drivers,
                about: t("One route before and after a change of the car")),
            Entry(
                path: "/field", name: t("Field view"), icon: .qr, roles: FleetRoutes.viewers,
                about: t("Point the camera at a machine's sticker")),
            Entry(
                path: "/vehicles/new", name: t("Add a vehicle"), icon: .plus, roles: VehicleRoutes.adders,
                about: t("A car, or a machine by its box")),
            Entry(
                path: "/surveys/enter", name: t("New survey"), icon: .plus, roles: SurveyRoutes.surveyors,
                about: t("Enter a walk with its sightings")),
            Entry(
                path: "/sightings/taxa", name: t("Taxonomy"), icon: .butterfly, roles: SightingRoutes.readers,
                about: t("Species, genera and families")),
            Entry(
                path: "/audit", name: t("Audit log"), icon: .history, roles: [.administrator], about: t("Who did what")),
            Entry(
                path: "/account", name: t("Account"), icon: .person, roles: [],
                about: t("Password, units, time zone, app passwords")),
            Entry(
                path: "/trail-tours", name: t("Trail tours"), icon: .tour, roles: [],
                about: t("Tours that everybody can download")),
            Entry(
                path: "/about", name: t("About Drover"), icon: .info, roles: [],
                about: t("Version, credits, documentation")),
        ]
    }

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
