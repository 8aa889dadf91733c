package import Alerts
internal import Basics
internal import Codecs
package import Fleet
internal import Formats
package import Postgres
internal import Presentation

/// Where vehicles were over a span of a day at most: of each at most `placesMax` places, the last of each piece of the span. Row-level security
/// decides which, as for the map of now.
package struct FleetReplay: Sendable {
    /// A day is up to 25 hours long.
    package static let spanMsMax: Int64 = 25 * 3_600_000
    package static let vehiclesMax = 100
    package static let placesMax: Int64 = 240
    /// No car has more minutes in a piece than are read of it; it holds for pieces shorter than a minute, too.
    private static let rowsMax = Int64(vehiclesMax) * (placesMax + 2)

    package struct Place: Sendable {
        let ms: Int64
        let position: Position
        let speedMilliKmh: Int32?
    }

    package struct Track: Sendable {
        let kind: VehicleKind
        let vehicle: String
        let name: String?
        /// By time.
        let places: [Place]
    }

    let pieces: SpanPieces
    let tracks: [Track]
    /// More vehicles told where they were.
    let isCut: Bool

    /// - Parameter asked: those that are wanted; empty: all, by name.
    package init(
        _ span: Range<Int64>, of asked: [(kind: VehicleKind, vehicle: String)], _ queries: ReportQueries,
        on connection: Connection
    ) throws {
        let pieces = SpanPieces(span, max: FleetReplay.placesMax)
        let edges: [Parameter] = [.timestampMs(pieces.span.lowerBound), .timestampMs(pieces.span.upperBound)]
        let found = try connection.query(
            queries["replay_vehicles"],
            edges + [
                .textArray(asked.map(\.kind.rawValue)), .textArray(asked.map(\.vehicle)),
                .int8(Int64(FleetReplay.vehiclesMax) + 1),
            ]
        ).map { row in
            (
                kind: try row.word("kind")! as VehicleKind, vehicle: try row.text("vehicle")!,
                name: try row.text("name")
            )
        }
        let shown = found.prefix(FleetReplay.vehiclesMax)
        func ids(_ kind: VehicleKind) -> [String] { shown.filter { $0.kind == kind }.map(\.vehicle) }
        let cars = try FleetReplay.cars(ids(.car), pieces, edges, queries, connection)
        let machines = try FleetReplay.machines(ids(.machine), pieces, edges, queries, connection)
        self.pieces = pieces
        isCut = found.count > FleetReplay.vehiclesMax
        tracks = shown.compactMap { kind, vehicle, name in
            let places = (kind == .car ? cars : machines)[vehicle] ?? []
            return places.isEmpty ? nil : Track(kind: kind, vehicle: vehicle, name: name, places: places)
        }
    }

    private static func cars(
        _ vehicles: [String], _ pieces: SpanPieces, _ edges: [Parameter], _ queries: ReportQueries,
        _ connection: Connection
    ) throws -> [String: [Place]] {
        guard !vehicles.isEmpty else { return [:] }
        let rows = try connection.query(
            queries["replay_cars"], [.textArray(vehicles)] + edges + [.int8(max(60, pieces.lengthS)), .int8(rowsMax)])
        var places: [String: [Place]] = [:]
        for row in rows {
            let vehicle = try row.text("vehicle")!
            for reading in try PackedSamples.decode(row.bytes("samples")!, minuteMs: row.timestampMs("minute_at")!)
            where pieces.span.contains(reading.ts) {
                guard let position = Position(reading) else { continue }
                add(
                    Place(ms: reading.ts, position: position, speedMilliKmh: reading[.speed]),
                    to: &places[vehicle, default: []], pieces)
            }
        }
        return places
    }

    /// The later one counts of those in one piece.
    private static func add(_ place: Place, to places: inout [Place], _ pieces: SpanPieces) {
        if let last = places.last, pieces.number(last.ms) == pieces.number(place.ms) {
            places[places.count - 1] = place
        } else {
            places.append(place)
        }
    }

    private static func machines(
        _ vehicles: [String], _ pieces: SpanPieces, _ edges: [Parameter], _ queries: ReportQueries,
        _ connection: Connection
    ) throws -> [String: [Place]] {
        guard !vehicles.isEmpty else { return [:] }
        let rows = try connection.query(
            queries["replay_machines"], [.textArray(vehicles)] + edges + [.int8(pieces.lengthS), .int8(rowsMax)])
        var places: [String: [Place]] = [:]
        for row in rows {
            guard
                let position = Position(
                    latitudeDeg: try row.double("latitude_deg")!, longitudeDeg: try row.double("longitude_deg")!)
            else { continue }
            places[try row.text("vehicle")!, default: []].append(
                Place(ms: try row.timestampMs("read_at")!, position: position, speedMilliKmh: nil))
        }
        return places
    }
}

// MARK: For scripts

extension FleetReplay {
    /// - Parameter units: of speeds.
    package func json(_ units: DriverSettings.Units) -> String {
        JSONValue.object([
            ("from", .integer(pieces.span.lowerBound / 1_000)), ("until", .integer(pieces.span.upperBound / 1_000)),
            ("piece_s", .integer(pieces.lengthS)), ("gap_s", .integer(max(600, 3 * pieces.lengthS))),
            ("is_cut", .bool(isCut)), ("speed_unit", .text(ShownValue(0, unit: "km/h", in: units).unit)),
            ("vehicles", .list(tracks.map { json($0, units) })),
        ]).rendered()
    }

    /// Times are seconds after the beginning.
    private func json(_ track: Track, _ units: DriverSettings.Units) -> JSONValue {
        func degrees(_ stored: Int32) -> JSONValue {
            // To a metre.
            .number(Decimal.scaled(Double(stored) / 1e7, decimals: 5).map { Decimal.text($0, decimals: 5) })
        }
        func speed(_ milli: Int32?) -> JSONValue {
            milli.map {
                .integer(Int64(ShownValue(Double($0) / 1_000, unit: "km/h", in: units).value.rounded()))
            } ?? .null
        }
        return .object([
            ("id", .text("\(track.kind.rawValue)/\(track.vehicle)")), ("name", .text(track.name ?? track.vehicle)),
            ("at", .list(track.places.map { .integer(($0.ms - pieces.span.lowerBound) / 1_000) })),
            ("latitude_deg", .list(track.places.map { degrees($0.position.latitude) })),
            ("longitude_deg", .list(track.places.map { degrees($0.position.longitude) })),
            ("speed", .list(track.places.map { speed($0.speedMilliKmh) })),
        ])
    }
}
