internal import Presentation
internal import Reports

/// What ready queries' areas, fields and columns are called. Their names in files and addresses stay as they are.
enum QueryWords {
    /// Folders of ready queries.
    private enum Area: String {
        case machines, cars, dispatch, tours, joint, sightings
    }

    static func area(_ area: String) -> String {
        switch Area(rawValue: area) {
        case .machines: t("Machines")
        case .cars: t("Cars")
        case .dispatch: t("Campus rides")
        case .tours: t("Tours")
        case .joint: t("Across areas")
        case .sightings: t("Sightings")
        case nil: plain(area)
        }
    }

    // MARK: Fields

    /// Parameters that more than one query has.
    private enum Field: String {
        case from, to, fleet, campus, zone, species, site, tour, year, month, latitude, longitude, km, limit
        case hours, gallons, price
    }

    static func label(_ parameter: ReadyQuery.Parameter) -> String {
        switch Field(rawValue: parameter.name) {
        case .from: t("First day")
        case .to: t("Last day")
        case .fleet: t("Fleet")
        case .campus: t("Campus")
        case .zone: t("Time zone")
        case .species: t("Species")
        case .site: t("Site")
        case .tour: t("Tour")
        case .year: t("Year")
        case .month: t("Month")
        case .latitude: t("Latitude")
        case .longitude: t("Longitude")
        case .km: t("Within, km")
        case .limit: t("Rows at most")
        case .hours: t("Silent for at least, h")
        case .gallons: t("Filled at least, US gal")
        case .price: t("Price of a litre")
        case nil: "\(plain(parameter.name)): \(parameter.meaning)"
        }
    }

    /// In an empty field.
    static func placeholder(_ parameter: ReadyQuery.Parameter) -> String {
        switch Field(rawValue: parameter.name) {
        case .campus, .site, .tour: parameter.standard == nil ? t("Its id") : t("All, or an id")
        case .species: t("Scientific name")
        case .from, .to, .fleet, .zone, .year, .month, .latitude, .longitude, .km, .limit, .hours, .gallons, .price,
            nil:
            ""
        }
    }

    // MARK: Columns

    /// With its unit: `Idling, h`.
    /// `1,284.5`
    static func number(_ value: Double, _ column: QueryColumn) -> String { GroupedNumber.short(value, column.decimals) }

    static func header(_ column: QueryColumn) -> String {
        let title = title(column.name)
        return column.unit.isEmpty ? title : "\(title), \(column.unit)"
    }

    /// Columns by the names that files have.
    private enum Column: String {
        case vehicle, driver, fleet, campus, site, tour, species, model, parameter, severity, method, event
        case waypoint, behaviour, `protocol`, reasons, survey, month, day, hour, weekday, isoWeek = "iso_week"
        case year, cars, machines, trips, tripsWithFuel = "trips_with_fuel", distance, fuel, consumption, before
        case after, filled, filledBy = "filled_by", change, cost, costPer100km = "cost_per_100km", share, idle
        case engine, sharpBrakings = "sharp_brakings", per100km = "per_100km", daysDriven = "days_driven", days
        case driven, hPerDayDriven = "h_per_day_driven", kmPerDayDriven = "km_per_day_driven", from
        case fromTemperature = "from_temperature", to, fromDays = "from_days", fromWind = "from_wind"
        case isWet = "is_wet", isRaining = "is_raining", alerts, machineAlerts = "machine_alerts", critical
        case stillOpen = "still_open", open, acknowledged, parameters, median, p90, longest
        case medianWait = "median_wait", requests, requestsPerHour = "requests_per_hour", hours, passengers
        case pickedUp = "picked_up", served, cancelled, expired, refused, outstanding, empty, time
        case withPassengers = "with_passengers", busy, mostOnBoard = "most_on_board", decisions
        case ridesMoved = "rides_moved", rides, pickupLaterMean = "pickup_later_mean", run, meter
        case atService = "at_service", sinceService = "since_service", lastServiceAt = "last_service_at"
        case silentSince = "silent_since", silent, coolantMax = "coolant_max"
        case hydraulicOilMax = "hydraulic_oil_max", readings, sightings, individuals, sites, surveys
        case withinRules = "within_rules", outsideRules = "outside_rules", firstSeen = "first_seen"
        case lastSeen = "last_seen", seenAt = "seen_at", startedAt = "started_at", mean
        case meanCloudCover = "mean_cloud_cover", latitude, longitude, south, west, fromSouth = "from_south"
        case fromWest = "from_west", toSouth = "to_south", toWest = "to_west", generalization, position, visits
        case downloads, daysWithVisits = "days_with_visits", ofFirst = "of_first", ofBefore = "of_before"
    }

    static func title(_ name: String) -> String {
        switch Column(rawValue: name) {
        case .vehicle: t("Vehicle")
        case .driver: t("Driver")
        case .fleet: t("Fleet")
        case .campus: t("Campus")
        case .site: t("Site")
        case .tour: t("Tour")
        case .species: t("Species")
        case .model: t("Model")
        case .parameter: t("Parameter")
        case .severity: t("Severity")
        case .method: t("Measured by")
        case .event: t("Reason")
        case .waypoint: t("Waypoint")
        case .behaviour: t("Behaviour")
        case .protocol: t("Protocol")
        case .reasons: t("Reasons")
        case .survey: t("Survey")
        case .month: t("Month")
        case .day: t("Day")
        case .hour: t("Hour")
        case .weekday: t("Weekday")
        case .isoWeek: t("Week")
        case .year: t("Year")
        case .cars: t("Cars")
        case .machines: t("Machines")
        case .trips: t("Trips")
        case .tripsWithFuel: t("Trips with known fuel")
        case .distance: t("Distance")
        case .fuel: t("Fuel")
        case .consumption: t("Consumption")
        case .before: t("Before")
        case .after: t("After")
        case .filled: t("Filled")
        case .filledBy: t("Filled by")
        case .change: t("Better by")
        case .cost: t("Cost")
        case .costPer100km: t("Cost per 100 km")
        case .share: t("Share of the distance")
        case .idle: t("Idling")
        case .engine: t("Engine time")
        case .sharpBrakings: t("Harsh braking")
        case .per100km: t("Per 100 km")
        case .daysDriven: t("Days driven")
        case .days: t("Days")
        case .driven: t("Of all days")
        case .hPerDayDriven: t("Hours a driving day")
        case .kmPerDayDriven: t("Kilometres a driving day")
        case .from: t("From")
        case .fromTemperature: t("Temperature from")
        case .to: t("To")
        case .fromDays: t("Days since the service, from")
        case .fromWind: t("Wind from")
        case .isWet, .isRaining: t("Rain")
        case .alerts: t("Alerts")
        case .machineAlerts: t("Machine alerts")
        case .critical: t("Critical")
        case .stillOpen: t("Still open")
        case .open: t("Time in alert")
        case .acknowledged: t("Acknowledged")
        case .parameters: t("Parameters")
        case .median: t("Median")
        case .p90: t("9 in 10 within")
        case .longest: t("Longest")
        case .medianWait: t("Median wait")
        case .requests: t("Requests")
        case .requestsPerHour: t("Requests per hour")
        case .hours: t("Hours")
        case .passengers: t("Passengers")
        case .pickedUp: t("Picked up")
        case .served: t("Served")
        case .cancelled: t("Cancelled")
        case .expired: t("Expired")
        case .refused: t("Refused")
        case .outstanding: t("Waiting now")
        case .empty: t("Empty")
        case .time: t("Time between stops")
        case .withPassengers: t("With passengers")
        case .busy: t("Busy")
        case .mostOnBoard: t("Most on board")
        case .decisions: t("Decisions")
        case .ridesMoved: t("Rides moved")
        case .rides: t("Rides")
        case .pickupLaterMean: t("Pickup later, mean")
        case .run: t("Run")
        case .meter: t("Engine hours")
        case .atService: t("At the service")
        case .sinceService: t("Since the service")
        case .lastServiceAt: t("Last service")
        case .silentSince: t("Last heard")
        case .silent: t("Silent for")
        case .coolantMax: t("Coolant, hottest")
        case .hydraulicOilMax: t("Hydraulic oil, hottest")
        case .readings: t("Readings")
        case .sightings: t("Sightings")
        case .individuals: t("Individuals")
        case .sites: t("Sites")
        case .surveys: t("Surveys")
        case .withinRules: t("By the protocol")
        case .outsideRules: t("Not by the protocol")
        case .firstSeen: t("First seen")
        case .lastSeen: t("Last seen")
        case .seenAt: t("Seen")
        case .startedAt: t("Started")
        case .mean: t("Mean of a survey")
        case .meanCloudCover: t("Cloud cover, mean")
        case .latitude: t("Latitude")
        case .longitude: t("Longitude")
        case .south: t("South edge")
        case .west: t("West edge")
        case .fromSouth: t("From, south edge")
        case .fromWest: t("From, west edge")
        case .toSouth: t("To, south edge")
        case .toWest: t("To, west edge")
        case .generalization: t("Place blurred")
        case .position: t("Position")
        case .visits: t("Visits")
        case .downloads: t("Downloads")
        case .daysWithVisits: t("Days with visits")
        case .ofFirst: t("Of the first waypoint")
        case .ofBefore: t("Of the one before")
        case nil: plain(name)
        }
    }

    /// The day of an ISO week, from 1.
    static func weekday(_ number: Int) -> String {
        let days = [
            t("Monday"), t("Tuesday"), t("Wednesday"), t("Thursday"), t("Friday"), t("Saturday"), t("Sunday"),
        ]
        return days.indices.contains(number - 1) ? days[number - 1] : String(number)
    }

    private static func plain(_ name: String) -> String {
        let words = name.replacing("_", with: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }
}
