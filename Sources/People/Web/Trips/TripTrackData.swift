internal import Alerts
internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Trips

/// A trip's readings for the script of its page: thinned, and its signals in the reader's units.
struct TripTrackData {
    private let read: TripRead
    private let track: TripTrack
    private let signals: TripSignals
    private let rules: TripRules

    init(_ read: TripRead, _ readings: [CarReading], _ rules: TripRules, _ units: DriverSettings.Units) {
        self.read = read
        self.rules = rules
        track = TripTrack(readings, signals: TripSignals.all.map(\.signal), rules: rules)
        signals = TripSignals(units: units, settings: read.settings)
    }

    var json: String {
        let isUS = signals.units == .us
        let perUnit = isUS ? Fuel.kilometresPerMile * 1e6 : 1e6
        let speed = track.signals.firstIndex(of: .speed)
        func degrees(_ stored: Int32?) -> JSONValue {
            .number(stored.map { Decimal.text(Int64($0), decimals: 7) })
        }
        return JSONValue.object([
            ("vehicle", .text(read.vehicle)), ("start", .text(UTC.text(read.trip.startMs))),
            ("gap_s", .number(Decimal.text(rules.gapMs, decimals: 3))),
            ("ts", .list(track.points.map { .integer($0.ts) })),
            ("latitude_deg", .list(track.points.map { degrees($0.latitude) })),
            ("longitude_deg", .list(track.points.map { degrees($0.longitude) })),
            (
                "speed_kmh",
                .list(
                    track.points.map { point in
                        .number(speed.flatMap { point.values[$0] }.map { Decimal.text(Int64($0), decimals: 3) })
                    })
            ),
            ("distance", .list(track.points.map { number(Double($0.distanceMm) / perUnit, 3) })),
            ("distance_unit", .text(isUS ? "mi" : "km")),
            ("signals", .list(track.signals.indices.map(signal))),
        ]).rendered()
    }

    private func signal(_ slot: Int) -> JSONValue {
        let signal = track.signals[slot]
        let about = TripSignals.all.first { $0.signal == signal }!
        return .object([
            ("key", .text(signal.row.key)), ("name", .text(about.name)), ("unit", .text(signals.unit(signal))),
            ("digits", .integer(Int64(about.decimals))),
            (
                "values",
                .list(
                    track.points.map { point in
                        point.values[slot].map { number(signals.value($0, signal), about.decimals + 1) } ?? .null
                    })
            ),
            (
                "limits",
                .list(
                    signals.limits(signal).map { limit in
                        .object([
                            ("value", number(limit.value, 2)), ("test", .text(limit.isLeast ? "below" : "above")),
                            ("text", .text(limit.text)),
                        ])
                    })
            ),
        ])
    }

    private func number(_ value: Double, _ decimals: Int) -> JSONValue {
        .number(Decimal.scaled(value, decimals: decimals).map { Decimal.text($0, decimals: decimals) })
    }
}

extension FleetRoutes {
    static let noTrip = Response.problem(
        404, type: "not-found", detail: "There is no such trip that you may see.")

    /// For the script of a trip's page.
    func track(_ request: Request) -> Response {
        access.call(request, for: FleetRoutes.drivers) { [self] caller, connection in
            guard let (vehicle, startMs) = FleetRoutes.tripAsked(request),
                let read = try tripAndBefore(vehicle, startMs, count: 1, connection).first, read.trip.startMs == startMs
            else { return FleetRoutes.noTrip }
            let readings = try TripSamples.read(read, queries, on: connection)
            guard !readings.isEmpty else { return FleetRoutes.noTrip }
            let rules = try rules.ofTrip(of: vehicle, atMs: startMs, on: connection)
            return Response.json(TripTrackData(read, readings, rules, caller.units).json)
                .with("Cache-Control", "no-store")
        }
    }

    /// The car and the moment that an address names.
    static func tripAsked(_ request: Request) -> (vehicle: String, startMs: Int64)? {
        guard let vehicle = request.parameters["vehicle"], VehicleID(vehicle) != nil,
            let startMs = request.parameters["start"].flatMap({ Int64($0) }), UTC.plausible.contains(startMs)
        else { return nil }
        return (vehicle, startMs)
    }

    /// The car's last trips that began by then, the newest first.
    func tripAndBefore(_ vehicle: String, _ ms: Int64, count: Int64, _ connection: Connection) throws -> [TripRead] {
        try connection.query(queries["trips_until"], [.text(vehicle), .timestampMs(ms), .int8(count)])
            .map { try TripRead($0, price: price) }
    }
}
