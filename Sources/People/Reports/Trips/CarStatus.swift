package import Alerts
internal import Basics
internal import Codecs
package import Fleet
internal import Formats
package import Postgres
internal import Presentation
internal import Storage
package import Trips

/// The present trip of a car and the latest value of each signal, for its driver.
///
/// Trips are stored minute by minute; while somebody watches, the open minute is included within about a second.
package struct CarStatus: Sendable {
    /// A value that was read longer ago says nothing of the car now.
    private static let latestMs = 2 * UTC.msPerMinute

    private let read: TripRead
    private let latest: [Signal: (value: Int32, ms: Int64)]
    private let instantMpg: Double?
    private let units: DriverSettings.Units
    private let rules: TripRules
    /// Nil: something judges it.
    private let notMonitored: UnmonitoredReason?

    /// The trip that the car is on, or was on last; nil: it never reported. Asks for it to be looked at from now on.
    ///
    /// - Parameters:
    ///   - rules: where none are on record.
    ///   - price: where the account has none of its own.
    package static func read(
        _ vehicle: VehicleID, account: String, rules: TripRules, price: FuelPrice?, queries: ReportQueries,
        on connection: Connection
    ) throws -> CarStatus? {
        try LiveTripStore.watch(vehicle, on: connection)
        let settings = try AccountStore.settings(of: account, on: connection)?.settings ?? .standard
        return try read(
            vehicle, units: settings.units, rules: rules, price: price, queries: queries, on: connection)
    }

    /// From now on for half a minute its open minute is there, too. Not for a page's own login: it changes a table.
    package static func watch(_ vehicle: VehicleID, on connection: Connection) throws {
        try LiveTripStore.watch(vehicle, on: connection)
    }

    /// The same without asking for it to be looked at.
    package static func read(
        _ vehicle: VehicleID, units: DriverSettings.Units, rules: TripRules, price: FuelPrice?, queries: ReportQueries,
        on connection: Connection
    ) throws -> CarStatus? {
        let rows = try connection.query(queries["live_trip"], [.text(vehicle.text)])
        let reads = try rows.map { (read: try TripRead($0, price: price), row: $0) }
        guard let newest = reads.max(by: { $0.read.trip.endMs < $1.read.trip.endMs }) else { return nil }
        let sinceMs = newest.read.trip.endMs - latestMs
        var readings = try connection.query(
            queries["last_samples"], [.text(vehicle.text), .timestampMs(sinceMs)]
        ).flatMap { try PackedSamples.decode($0.bytes("samples")!, minuteMs: $0.timestampMs("minute_at")!) }
        if let samples = try newest.row.bytes("samples") {
            readings += try PackedSamples.decode(samples, minuteMs: newest.row.timestampMs("minute_at")!)
        }
        return CarStatus(
            newest.read, readings.filter { $0.ts >= sinceMs }.unioned(), car: try TripRead.car(newest.row), units,
            try rules.ofTrip(of: vehicle.text, atMs: newest.read.trip.startMs, on: connection),
            try connection.query(queries["car_monitoring"], [.text(vehicle.text)]).first.flatMap {
                try UnmonitoredReason($0)
            })
    }

    private init(
        _ read: TripRead, _ readings: [CarReading], car: Action.Car, _ units: DriverSettings.Units, _ rules: TripRules,
        _ notMonitored: UnmonitoredReason?
    ) {
        self.read = read
        self.units = units
        self.rules = rules
        self.notMonitored = notMonitored
        var mileage = InstantMileage(car: car, rules: rules)
        var (latest, mpg): ([Signal: (Int32, Int64)], Double?) = ([:], nil)
        for reading in readings where reading.ts <= read.trip.endMs {
            mpg = mileage.observe(reading)
            for signal in Signal.allCases {
                if let value = reading[signal] { latest[signal] = (value, reading.ts) }
            }
        }
        self.latest = latest
        instantMpg = mpg
    }

    /// Unknown is null, never 0.
    package func json(nowMs: Int64) -> String {
        let figures = read.figures
        let trip = figures.trip
        let isDriving = isDriving(nowMs: nowMs)
        var fields: [JSONValue.Field] = [
            ("vehicle", .text(read.vehicle)), ("as_of", .text(UTC.text(trip.endMs))),
            ("age_s", .number(Decimal.text(max(0, nowMs - trip.endMs), decimals: 3))), ("driving", .bool(isDriving)),
            ("units", .text(units.rawValue)), ("start", .text(UTC.text(trip.startMs))),
            ("from_before", .bool(trip.isFromBefore)),
            ("driving_time_s", .number(figures.durationS)),
        ]
        fields += distances(figures)
        fields += [
            ("rpm", value(.rpm)), ("instantaneous_mpg", number(instantMpg)),
            ("average_mpg", .number(figures.averageMpg)),
            units == .us ? ("fuel_us_gal", .number(figures.fuelUSGal)) : ("fuel_l", .number(figures.fuelL)),
            ("fuel_method", .optional(figures.fuelMethod?.rawValue)),
            ("fuel_unknown", .optional(figures.fuelUnknown?.rawValue)), ("fuel_cost", .number(figures.fuelCost)),
            ("currency", .optional(figures.fuelCost == nil ? nil : figures.price?.currency)),
            converted(.coolant, "°C", us: "coolant_f", metric: "coolant_c"), ("voltage_v", value(.voltage)),
            ("sharp_accelerations", .integer(trip.totals.sharpAccelerations)),
            ("sharp_brakings", .integer(trip.totals.sharpBrakings)), ("holes", .integer(trip.totals.holes)),
            ("read", read(signals: [.speed, .rpm, .coolant, .voltage])),
        ]
        fields += UnmonitoredReason.fields(notMonitored)
        return JSONValue.object(fields).rendered(indent: true)
    }

    private func distances(_ figures: TripFigures) -> [JSONValue.Field] {
        let totals = figures.trip.totals
        guard units == .us else {
            return [
                ("distance_km", .number(figures.distanceKm)), ("speed_kmh", value(.speed)),
                ("average_speed_kmh", .number(figures.averageSpeedKmh)),
            ]
        }
        let miles = Double(totals.distanceMm) / 1e6 / Fuel.kilometresPerMile
        let hours = Double(totals.integratedMs) / 3_600_000
        return [
            ("distance_mi", number(figures.distanceKm == nil ? nil : miles)),
            converted(.speed, "km/h", us: "speed_mph", metric: "speed_kmh"),
            ("average_speed_mph", number(hours > 0 ? miles / hours : nil)),
        ]
    }

    /// When each of the latest values was read: an adapter asks for some of them once in ten seconds only.
    private func read(signals: [Signal]) -> JSONValue {
        .object(signals.map { ($0.row.key, .optional(latest[$0].map { UTC.text($0.ms) })) })
    }

    private func value(_ signal: Signal) -> JSONValue {
        .number(latest[signal].map { Decimal.text(Int64($0.value), decimals: signal.row.decimals) })
    }

    private func converted(_ signal: Signal, _ unit: String, us: String, metric: String) -> JSONValue.Field {
        let shown = latest[signal].map { units.shown(Int64($0.value), unit: unit).value }
        return (units == .us ? us : metric, .number(shown.map { Decimal.text($0, decimals: 3) }))
    }

    private func number(_ value: Double?) -> JSONValue {
        .number(value.flatMap { Decimal.scaled($0, decimals: 3) }.map { Decimal.text($0, decimals: 3) })
    }
}

extension CarStatus {
    package var startMs: Int64 { read.trip.startMs }
    package var endMs: Int64 { read.trip.endMs }
    package var tag: String? { read.tag }
    package var isDiscarded: Bool { read.isDiscarded }
    package var unmonitored: UnmonitoredReason? { notMonitored }

    /// Where it was last, with its speed in km/h; nil: no place was read of late.
    package var place: (latitudeDeg: Double, longitudeDeg: Double, speedKmh: Double?)? {
        guard let latitude = latest[.latitude], let longitude = latest[.longitude] else { return nil }
        return (
            Double(latitude.value) / 1e7, Double(longitude.value) / 1e7, latest[.speed].map { Double($0.value) / 1_000 }
        )
    }

    package func isDriving(nowMs: Int64) -> Bool {
        read.isUnderWay(nowMs: nowMs, tripGapMs: rules.tripGapMs)
    }

    /// After so much silence the trip has ended.
    package var tripGapMs: Int64 { rules.tripGapMs }

    /// For people: the values that a driver looks at first come first. Unknown is `–`.
    package var shown: [(name: String, text: String)] {
        let (figures, totals, isUS) = (read.figures, read.trip.totals, units == .us)
        func decimal(_ value: Double?, _ decimals: Int, _ unit: String) -> String {
            value.flatMap { Decimal.scaled($0, decimals: decimals) }
                .flatMap { short(Decimal.text($0, decimals: decimals), decimals) }.map { "\($0) \(unit)" } ?? "–"
        }
        func converted(_ value: Double?, _ unit: String, _ decimals: Int) -> String {
            guard let value else { return "–" }
            let shown = ShownValue(value, unit: unit, in: units)
            return decimal(shown.value, decimals, shown.unit)
        }
        func signal(_ signal: Signal) -> Double? {
            latest[signal].map { Double($0.value) / Double(signal.row.scale) }
        }
        func consumption(_ mpg: Double?) -> String {
            if isUS { return decimal(mpg, 1, "MPG") }
            let perHundred = mpg.flatMap {
                $0 > 0 ? 100 * Fuel.litresPerUSGallon / Fuel.kilometresPerMile / $0 : nil
            }
            return decimal(perHundred, 1, "L/100 km")
        }
        let (hours, minutes) = ((endMs - startMs) / 3_600_000, (endMs - startMs) / 60_000 % 60)
        let seconds = (endMs - startMs) / 1_000 % 60
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let fuel =
            isUS ? decimal(figures.fuelUSGal.flatMap { Double($0) }, 3, "US gal") : decimal(figures.litres, 2, "L")
        return [
            (t("Speed"), converted(signal(.speed), "km/h", 0)), (t("Fuel used"), fuel),
            (t("Driving time"), "\(hours):\(two(minutes)):\(two(seconds))"),
            (isUS ? t("Mileage now") : t("Consumption now"), consumption(instantMpg)),
            (t("Distance"), converted(figures.distanceKm.flatMap { Double($0) }, "km", 2)),
            (t("Average speed"), converted(figures.averageSpeedKmh.flatMap { Double($0) }, "km/h", 1)),
            (t("Engine speed"), decimal(signal(.rpm), 0, "rpm")),
            (
                isUS ? t("Average mileage") : t("Average consumption"),
                consumption(figures.averageMpg.flatMap { Double($0) })
            ),
            (t("Fuel cost"), decimal(figures.fuelCost.flatMap { Double($0) }, 2, figures.price?.currency ?? "")),
            (t("Coolant"), converted(signal(.coolant), "°C", 0)), (t("Voltage"), decimal(signal(.voltage), 1, "V")),
            (t("Harsh accelerations"), String(totals.sharpAccelerations)),
            (t("Harsh brakings"), String(totals.sharpBrakings)),
        ]
    }
}
