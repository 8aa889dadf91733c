internal import Fleet
internal import Presentation

/// The views in words, and statements to begin with.
enum QuestionWords {
    /// Views that a statement may read.
    private enum View: String {
        case vehicle, fleetVehicle = "fleet_vehicle", vehicleMinute = "vehicle_minute"
        case vehicleDay = "vehicle_day", trip, scan, machineReading = "machine_reading", alert, notice, service
        case ride, decision, dispatchHour = "dispatch_hour", survey, sighting, speciesWeek = "species_week"
        case tourDay = "tour_day", tourWaypoint = "tour_waypoint", weatherHour = "weather_hour"
    }

    /// Nil: a view of its name alone.
    static func title(_ view: String) -> String? {
        switch View(rawValue: view) {
        case .vehicle: t("Vehicles")
        case .fleetVehicle: t("Vehicles of fleets")
        case .vehicleMinute: t("Cars, minute by minute")
        case .vehicleDay: t("Cars, day by day")
        case .trip: t("Trips")
        case .scan: t("Health scans")
        case .machineReading: t("Readings of machines")
        case .alert: t("Alerts")
        case .notice: t("Notifications")
        case .service: t("Services")
        case .ride: t("Campus rides")
        case .decision: t("Decisions of dispatch")
        case .dispatchHour: t("Campus rides, hour by hour")
        case .survey: t("Surveys")
        case .sighting: t("Sightings")
        case .speciesWeek: t("Species, week by week")
        case .tourDay: t("Tour visits, day by day")
        case .tourWaypoint: t("Waypoints of tours")
        case .weatherHour: t("Weather, hour by hour")
        case nil: nil
        }
    }

    struct Example {
        let title, statement: String
    }

    /// For who has a use for them; each runs as it stands.
    static func examples(for roles: Set<Role>) -> [Example] {
        all.filter { example in QueryRoutes.listsArea(example.area, for: roles) }.map {
            Example(title: $0.title, statement: $0.statement)
        }
    }

    private static var all: [(area: String, title: String, statement: String)] {
        [
            (
                "cars", t("Distance and fuel by car"),
                "SELECT vehicle, sum(distance_mm) / 1e6 AS km, sum(fuel_l) AS fuel_l\nFROM vehicle_day\nGROUP BY vehicle\nORDER BY km DESC"
            ),
            (
                "cars", t("Newest trips"),
                "SELECT vehicle, start_at, distance_mm / 1e6 AS km, fuel_l\nFROM trip\nWHERE discarded_at IS NULL\nORDER BY start_at DESC\nLIMIT 50"
            ),
            (
                "machines", t("Newest alerts"),
                "SELECT vehicle, parameter, severity, state, opened_at\nFROM alert\nORDER BY opened_at DESC\nLIMIT 50"
            ),
            (
                "machines", t("Engine hours of each machine"),
                "SELECT vehicle, max(engine_hours_h) AS engine_hours_h\nFROM machine_reading\nGROUP BY vehicle\nORDER BY engine_hours_h DESC"
            ),
            (
                "dispatch", t("Rides by outcome"),
                "SELECT campus, state, count(*) AS rides\nFROM ride\nGROUP BY campus, state\nORDER BY campus, rides DESC"
            ),
            (
                "sightings", t("Individuals by species"),
                "SELECT species, sum(individuals) AS individuals\nFROM sighting\nGROUP BY species\nORDER BY individuals DESC"
            ),
            (
                "tours", t("Visits by waypoint"),
                "SELECT tour, waypoint, sum(events) AS visits\nFROM tour_day\nWHERE kind = 'visit'\nGROUP BY tour, waypoint\nORDER BY tour, visits DESC"
            ),
        ]
    }
}
