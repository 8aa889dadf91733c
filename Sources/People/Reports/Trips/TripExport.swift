internal import Basics
internal import Codecs
package import Fleet
internal import Formats
package import Postgres
package import Trips

/// One trip as other programs take it: every reading with all that was read, or its track.
package struct TripExport: Sendable {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    package static let formats: [String: @Sendable (TripExport) throws(Fault) -> String] = [
        "gpx": { (export) throws(Fault) in try export.gpx() }, "csv": { (export) throws(Fault) in export.csv() },
        "json": { (export) throws(Fault) in export.json() },
    ]

    private let name: String
    private let readings: [CarReading]
    private let gapMs: Int64

    /// - Parameters:
    ///   - readings: of one trip, by time, one a time.
    ///   - gapMs: positions further apart in time are two segments of the track.
    package init(vehicle: String, readings: [CarReading], gapMs: Int64) {
        name = vehicle
        self.readings = readings
        self.gapMs = gapMs
    }

    /// The trip that a time lies in; nil: none.
    ///
    /// - Parameter rules: where none are on record.
    package static func read(
        _ vehicle: VehicleID, atMs: Int64, rules: TripRules, queries: ReportQueries, on connection: Connection
    ) throws -> TripExport? {
        try connection.snapshot {
            let found = try connection.query(queries["trip_at"], [.text(vehicle.text), .timestampMs(atMs)])
            guard let trip = found.first else { return nil }
            let startMs = try trip.timestampMs("start_at")!
            let readings = try readings(vehicle, startMs: startMs, queries, on: connection)
            let rules = try rules.ofTrip(of: vehicle.text, atMs: startMs, on: connection)
            return TripExport(vehicle: vehicle.text, readings: readings, gapMs: rules.gapMs)
        }
    }

    static func readings(
        _ vehicle: VehicleID, startMs: Int64, _ queries: ReportQueries, on connection: Connection
    ) throws -> [CarReading] {
        try connection.query(queries["trip_samples"], [.text(vehicle.text), .timestampMs(startMs)]).flatMap { row in
            try PackedSamples.decode(row.bytes("samples")!, minuteMs: row.timestampMs("minute_at")!)
        }
    }

    /// Signals that occur, in the order of their numbers.
    private var signals: [Signal] {
        let any = readings.reduce(UInt32(0)) { $0 | $1.mask }
        return Signal.allCases.filter { any & (1 << UInt32($0.rawValue)) != 0 }
    }

    private func text(_ reading: CarReading, _ signal: Signal) -> String? {
        reading[signal].map { Decimal.text(Int64($0), decimals: signal.row.decimals) }
    }

    /// A row a reading: its time, then every signal of the trip; keys name their unit, unknown is empty.
    package func csv() -> String {
        let signals = signals
        var table = Table(["time"] + signals.map(\.row.key))
        table.rows = readings.map { reading in [UTC.text(reading.ts)] + signals.map { text(reading, $0) } }
        return table.csv()
    }

    /// A list of objects like the records of drover.cars; what a reading does not have is absent.
    func json() -> String {
        let signals = signals
        return JSONValue.list(
            readings.map { reading in
                .object(
                    [("vehicle", .text(name)), ("ts", .integer(reading.ts))]
                        + signals.compactMap { signal in
                            text(reading, signal).map { (signal.row.key, .number($0)) }
                        })
            }
        ).rendered(indent: true)
    }

    /// GPX 1.1 (topografix.com/GPX/1/1), speed in m/s as an extension that is widely read (Garmin's TrackPointExtension v2).
    package func gpx() throws(Fault) -> String {
        let points = readings.compactMap { reading in Position(reading).map { (reading, $0) } }
        guard let first = points.first else {
            throw Fault(description: "this trip of \(name) has no positions; its readings are there as csv and json")
        }
        var out = """
            <?xml version="1.0" encoding="UTF-8"?>
            <gpx version="1.1" creator="Drover" xmlns="http://www.topografix.com/GPX/1/1" \
            xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2">
            <metadata><time>\(UTC.text(first.0.ts))</time></metadata>
            <trk><name>\(XMLRPC.escaped(name))</name><trkseg>

            """
        var lastMs = first.0.ts
        for (reading, position) in points {
            if reading.ts - lastMs > gapMs { out += "</trkseg><trkseg>\n" }
            lastMs = reading.ts
            out += "<trkpt lat=\"\(degrees(position.latitude))\" lon=\"\(degrees(position.longitude))\">"
            out += "<time>\(UTC.text(reading.ts))</time>"
            if let speed = reading[.speed] {
                // m/h to m/s, in thousandths.
                let metresPerSecond = Decimal.text(Decimal.divided(Int64(speed) * 1_000, by: 3_600), decimals: 3)
                out += "<extensions><gpxtpx:TrackPointExtension><gpxtpx:speed>\(metresPerSecond)</gpxtpx:speed>"
                out += "</gpxtpx:TrackPointExtension></extensions>"
            }
            out += "</trkpt>\n"
        }
        return out + "</trkseg></trk>\n</gpx>\n"
    }

    private func degrees(_ stored: Int32) -> String { Decimal.text(Int64(stored), decimals: 7) }
}
