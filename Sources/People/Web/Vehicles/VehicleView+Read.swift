internal import Basics
internal import Fleet
internal import Postgres
internal import Reports
internal import Trips

/// Reads the content of a vehicle's page.
extension VehicleView {
    private static let rowsMax: Int64 = 20
    /// A chart has about this many points.
    private static let points: Int64 = 300

    /// The registration of an id.
    struct About {
        let kind: VehicleKind
        let vehicle: String
        let name, model, make: String?
        let tags: [String]
        let isDisabled: Bool
        /// Nil: something judges it.
        let notMonitored: UnmonitoredReason?
        /// True when it has ever reported, whoever may see what.
        let hasReported: Bool

        init(_ row: Row) throws {
            kind = try row.word("kind")!
            vehicle = try row.text("vehicle")!
            name = try row.text("name")
            model = try row.text("model")
            make = try row.text("make")
            tags = try row.textArray("tags")!.compactMap { $0 }
            isDisabled = try row.bool("is_disabled")!
            notMonitored = try UnmonitoredReason(row)
            hasReported = try row.bool("has_reported")!
        }
    }

    enum Story {
        case car(Car)
        /// Nil: it has said nothing that the reader may see.
        case machine(Machine?)
    }

    struct Machine {
        let latest: [MachineDetail.Value]
        let series: [MachineDetail.Series]
        let span: Range<Int64>
        /// Seconds of a chart's piece.
        let pieceS: Int64
        let services: [Service]
    }

    struct Service {
        let doneMs: Int64
        let engineHours: Double
        let by, note: String?
    }

    struct Car {
        let trips: [TripRead]
        let last: (trip: TripRead, readings: [CarReading], rules: TripRules)?
        let scans: [Scan]
    }

    struct Scan {
        let scannedMs: Int64?
        let stored, pending, permanent: [String]?
        let isLampOn: Bool?
        let answer: String?
    }

    static func alerts(
        _ about: About, _ caller: PageCaller, _ queries: ReportQueries, on connection: Connection
    ) throws -> [OpenAlert] {
        try OpenAlert.read(
            ofKind: about.kind, about.vehicle, role: caller.audience, limit: rowsMax, queries, on: connection)
    }

    /// - Parameter days: up to its last reading.
    static func machine(
        _ vehicle: String, days: Int, nowMs: Int64, _ caller: PageCaller, _ queries: ReportQueries,
        on connection: Connection
    ) throws -> Machine? {
        guard let id = VehicleID(vehicle),
            let view = try MachineDetail(id, role: caller.audience, queries, on: connection)
        else { return nil }
        let latest = try view.latest(queries, on: connection)
        let untilMs = view.lastMs.map { $0 + 1 } ?? nowMs
        let span = untilMs - Int64(days) * UTC.msPerDay..<untilMs
        let pieceS = max(1, (span.upperBound - span.lowerBound) / 1_000 / points)
        return Machine(
            latest: latest, series: try view.series(span, pieceS: pieceS, queries, on: connection), span: span,
            pieceS: pieceS,
            services: try connection.query(queries["services"], [.text(vehicle), .int8(rowsMax)]).map { row in
                Service(
                    doneMs: try row.timestampMs("done_at")!, engineHours: try row.double("engine_hours_h")!,
                    by: try row.text("recorded_by"), note: try row.text("note"))
            })
    }

    /// - Parameter rules: where none are on record.
    static func car(
        _ vehicle: String, rules: TripRules, price: FuelPrice?, _ queries: ReportQueries, on connection: Connection
    ) throws -> Car {
        let trips = try connection.query(queries["vehicle_trips"], [.text(vehicle), .int8(rowsMax)]).map {
            try TripRead($0, price: price)
        }
        let last = try trips.first.map { trip in
            (
                trip, try TripSamples.read(trip, queries, on: connection),
                try rules.ofTrip(of: trip.vehicle, atMs: trip.trip.startMs, on: connection)
            )
        }
        let scans = try connection.query(queries["health_scans"], [.text(vehicle), .int8(rowsMax)]).map(scan)
        return Car(trips: trips, last: last, scans: scans)
    }

    private static func scan(_ row: Row) throws -> Scan {
        func codes(_ column: String) throws -> [String]? { try row.textArray(column)?.compactMap { $0 } }
        return Scan(
            scannedMs: try row.timestampMs("scanned_at"), stored: try codes("stored"), pending: try codes("pending"),
            permanent: try codes("permanent"), isLampOn: try row.bool("is_lamp_on"), answer: try row.text("answer"))
    }
}
