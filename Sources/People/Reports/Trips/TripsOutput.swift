internal import Alerts
internal import Basics
internal import Codecs
internal import Formats
package import Trips

/// The rows of trips in the three formats. Keys and units are those that programs rely on.
package struct TripsOutput: Sendable {
    package static let formats: [String: @Sendable (TripsOutput) -> String] = [
        "json": { output in JSONValue.list(output.trips.map(output.json)).rendered(indent: true) },
        "csv": { $0.table().csv() },
        "table": { $0.shortTable().text() },
    ]

    package struct Row: Sendable {
        /// The file or the vehicle.
        let name: String
        let figures: TripFigures
        /// Facts beside its readings; nil offline.
        var read: TripRead?
    }

    struct Column: Sendable {
        let key: String
        var isText = false
        let value: @Sendable (Row) -> String?
    }

    package private(set) var trips: [Row] = []

    private let nameKey: String

    /// `nameKey` says what a trip is named by: `file` offline, `vehicle` in reports.
    package init(nameKey: String) { self.nameKey = nameKey }

    package init(_ trips: [TripRead]) {
        self.init(nameKey: "vehicle")
        self.trips = trips.map { Row(name: $0.vehicle, figures: $0.figures, read: $0) }
    }

    package mutating func add(_ name: String, _ figures: TripFigures) {
        trips.append(Row(name: name, figures: figures))
    }

    /// - Parameter keys: of the columns that are wanted beside the name, in their order; nil: all.
    package func csv(only keys: [String]?) -> String { table(only: keys).csv() }

    func json(_ row: Row) -> JSONValue {
        .object(
            columns.map { column in
                let value = column.value(row)
                return (column.key, column.isText ? .optional(value) : .number(value))
            })
    }

    private var columns: [Column] {
        [Column(key: nameKey, isText: true) { $0.name }] + TripsOutput.figureColumns
            + (nameKey == "vehicle" ? TripsOutput.readColumns : [])
    }

    /// Names of the columns that are texts.
    static let texts: Set<String> = Set((figureColumns + readColumns).filter(\.isText).map(\.key) + ["vehicle"])

    private static let readColumns: [Column] = [
        Column(key: "driver", isText: true) { $0.read?.driver },
        Column(key: "tag", isText: true) { $0.read?.tag },
        Column(key: "revised", isText: true) { $0.read?.revisedMs.map(UTC.text) },
        Column(key: "weather_temperature_c") { $0.read?.weather?.value(.temperature) },
        Column(key: "weather_wind_speed_mps") { $0.read?.weather?.value(.windSpeed) },
        Column(key: "weather_wind_gust_mps") { $0.read?.weather?.value(.windGust) },
        Column(key: "weather_wind_direction_deg") { $0.read?.weather?.value(.windDirection) },
        Column(key: "weather_cloud_cover_pct") { $0.read?.weather?.value(.cloudCover) },
        Column(key: "weather_precipitation_mm_per_h") { $0.read?.weather?.value(.precipitation) },
        Column(key: "weather_humidity_pct") { $0.read?.weather?.value(.humidity) },
        Column(key: "weather_pressure_hpa") { $0.read?.weather?.value(.pressure) },
        Column(key: "weather_condition_code") { $0.read?.weather?.value(.condition) },
        Column(key: "weather_source", isText: true) { $0.read?.weather?.source },
        Column(key: "weather_fetched", isText: true) { $0.read?.weather?.fetched },
    ]

    private static let figureColumns: [Column] = [
        Column(key: "start", isText: true) { UTC.text($0.figures.trip.startMs) },
        Column(key: "end", isText: true) { UTC.text($0.figures.trip.endMs) },
        Column(key: "part", isText: true) { $0.figures.trip.part },
        Column(key: "duration_s") { $0.figures.durationS },
        Column(key: "readings") { String($0.figures.trip.totals.readings) },
        Column(key: "segments") { String($0.figures.trip.segments) },
        Column(key: "integrated_s") { $0.figures.integratedS },
        Column(key: "holes") { String($0.figures.trip.totals.holes) },
        Column(key: "distance_km") { $0.figures.distanceKm },
        Column(key: "average_speed_kmh") { $0.figures.averageSpeedKmh },
        Column(key: "max_speed_kmh") { $0.figures.maxSpeedKmh },
        Column(key: "average_rpm") { $0.figures.averageRpm },
        Column(key: "max_rpm") { $0.figures.maxRpm },
        Column(key: "idle_s") { $0.figures.idleS },
        Column(key: "sharp_accelerations") { String($0.figures.trip.totals.sharpAccelerations) },
        Column(key: "sharp_brakings") { String($0.figures.trip.totals.sharpBrakings) },
        Column(key: "fuel_us_gal") { $0.figures.fuelUSGal },
        Column(key: "average_mpg") { $0.figures.averageMpg },
        Column(key: "max_coolant_c") { $0.figures.maxCoolantC },
        Column(key: "min_voltage_v") { $0.figures.minVoltageV },
        Column(key: "max_voltage_v") { $0.figures.maxVoltageV },
        Column(key: "fuel_method", isText: true) { $0.figures.fuelMethod?.rawValue },
        Column(key: "fuel_cost") { $0.figures.fuelCost },
        Column(key: "currency", isText: true) { $0.figures.fuelCost == nil ? nil : $0.figures.price?.currency },
        Column(key: "fuel_l") { $0.figures.fuelL },
        Column(key: "fuel_unknown", isText: true) { $0.figures.fuelUnknown?.rawValue },
        Column(key: "fuel_cut_s") { $0.figures.fuelCutS },
        Column(key: "max_acceleration_mps2") { $0.figures.maxAccelerationMPerS2 },
        Column(key: "max_braking_mps2") { $0.figures.maxBrakingMPerS2 },
        Column(key: "acceleration_severity_m2ps3") { $0.figures.accelerationSeverity },
        Column(key: "braking_severity_m2ps3") { $0.figures.brakingSeverity },
    ]

    /// The columns that fit on a terminal.
    private static let short: Set = [
        "start", "duration_s", "distance_km", "average_speed_kmh", "max_speed_kmh", "idle_s", "sharp_accelerations",
        "sharp_brakings", "fuel_us_gal", "average_mpg", "holes",
    ]

    func table() -> Table { table(columns) }

    private func table(only keys: [String]?) -> Table {
        guard let keys else { return table() }
        return table(([nameKey] + keys).compactMap { key in columns.first { $0.key == key } })
    }

    package func shortTable() -> Table {
        table(columns.filter { $0.key == nameKey || TripsOutput.short.contains($0.key) })
    }

    /// The same in given units.
    func shortTable(_ units: DriverSettings.Units) -> Table {
        table(
            columns.filter { $0.key == nameKey || TripsOutput.short.contains($0.key) }
                .map { units == .us ? TripsOutput.inMiles($0) : TripsOutput.inLitres($0) })
    }

    private static func inMiles(_ column: Column) -> Column {
        let (_, key, unit) = ReportUnit.of(column.key, .us)
        return key == column.key ? column : converted(column, key, unit.convert)
    }

    private static func inLitres(_ column: Column) -> Column {
        switch column.key {
        case "fuel_us_gal": figureColumns.first { $0.key == "fuel_l" }!
        case "average_mpg":
            // Either way the same: the unit is divided by the figure.
            converted(column, "average_l_per_100km", ReportUnit.of("_l_per_100km", .us).unit.convert)
        default: column
        }
    }

    private static func converted(_ column: Column, _ key: String, _ convert: @escaping @Sendable (Double) -> Double)
        -> Column
    {
        Column(key: key) { row in
            column.value(row).flatMap(Double.init).flatMap { Decimal.scaled(convert($0), decimals: 3) }
                .map { Decimal.text($0, decimals: 3) }
        }
    }

    private func table(_ columns: [Column]) -> Table {
        var table = Table(columns.map(\.key))
        for trip in trips { table.rows.append(columns.map { $0.value(trip) }) }
        return table
    }
}
