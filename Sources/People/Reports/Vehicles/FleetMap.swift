package import Alerts
internal import Codecs
internal import Foundation
package import Fleet
package import Postgres

/// Where vehicles are and what they do, each at the time of its last news.
package struct FleetMap: Sendable {
    /// More are not shown at once: who has more searches, or looks at a group.
    package static let vehiclesMax: Int64 = 2_000
    /// On the map itself, which draws them as clusters.
    package static let placesMax: Int64 = 20_000
    private static let groupsMax: Int64 = 200

    package struct Vehicle: Sendable {
        package let kind: VehicleKind
        package let vehicle: String
        package let name, model: String?
        package let groups: [String]
        package let state: VehicleState
        package let lastMs: Int64?
        package let position: Position?
        /// When it was there.
        package let positionMs: Int64?
        /// Where it goes, in degrees from north; nil: it stands, or has told of one place only.
        package let courseDeg: Int?
        /// The speed of a car on a trip.
        package let speedMilliKmh: Int32?
        package let openAlerts: Int
        /// The severity of the worst one; nil: none is open.
        package let severity: Episode.Severity?
        /// Nil: something judges it.
        package let notMonitored: UnmonitoredReason?
    }

    package let vehicles: [Vehicle]
    /// All that there are, whatever is looked for.
    package let groups: [String]

    /// - Parameters:
    ///   - search: a part of the name or id; empty: all.
    ///   - group: a tag; empty: all.
    ///   - tripGapMs: where none is on record.
    ///   - vehiclesMax: how many at most, by name.
    package static func read(
        search: String, group: String, role: Audience, tripGapMs: Int64, nowMs: Int64, vehiclesMax: Int64 = vehiclesMax,
        _ queries: ReportQueries, on connection: Connection
    ) throws -> FleetMap {
        let rows = try connection.query(
            queries["fleet_map"],
            [.text(search), .text(group), .textArray(role.seen.map(\.rawValue)), .int8(vehiclesMax)])
        let groups = try connection.query(queries["vehicle_groups"], [.int8(groupsMax)])
        return FleetMap(
            vehicles: try rows.map { try Vehicle($0, tripGapMs: tripGapMs, nowMs: nowMs) },
            groups: try groups.map { try $0.text("tag")! })
    }
}

extension FleetMap.Vehicle {
    fileprivate init(_ row: Row, tripGapMs: Int64, nowMs: Int64) throws {
        kind = try row.word("kind")!
        vehicle = try row.text("vehicle")!
        name = try row.text("name")
        model = try row.text("model")
        groups = try row.textArray("tags")!.compactMap { $0 }
        openAlerts = try row.int("open_alerts")!
        severity = try row.word("worst_severity")
        notMonitored = try UnmonitoredReason(row)
        switch kind {
        case .car:
            let readings = try FleetMap.Vehicle.readings(row)
            let lastMs = try row.timestampMs("end_at")
            let speed = readings.last { $0[.speed] != nil }?[.speed]
            state = .ofCar(
                lastMs: lastMs, isOpen: try row.bool("is_open") ?? false, speedMilliKmh: speed,
                tripGapMs: try row.int("trip_gap_ms").map { Int64($0) } ?? tripGapMs, nowMs: nowMs)
            self.lastMs = lastMs
            let placed = readings.last { Position($0) != nil }
            position = placed.flatMap(Position.init)
            positionMs = placed?.ts
            courseDeg =
                state == .moving
                ? position.flatMap { $0.course(from: readings.reversed().lazy.compactMap(Position.init)) } : nil
            speedMilliKmh = state == .moving || state == .idling ? speed : nil
        case .machine:
            let places = try FleetMap.Vehicle.places(row)
            lastMs = try row.timestampMs("read_at")
            state = .ofMachine(
                lastMs: lastMs, isRunning: try row.bool("is_reporting") ?? false,
                isAway: try row.bool("contact") == false, places: places, nowMs: nowMs)
            position = places.first?.position
            positionMs = places.first?.ms
            courseDeg = state == .moving ? position.flatMap { $0.course(from: places.lazy.map(\.position)) } : nil
            speedMilliKmh = nil
        }
    }

    /// The readings of the last stored minute.
    private static func readings(_ row: Row) throws -> [CarReading] {
        guard let samples = try row.bytes("samples"), let minuteMs = try row.timestampMs("minute_at") else { return [] }
        return try PackedSamples.decode(samples, minuteMs: minuteMs)
    }

    private static func places(_ row: Row) throws -> [(ms: Int64, position: Position)] {
        guard let times = try row.timestampMsArray("place_ats"), let latitudes = try row.doubleArray("latitudes_deg"),
            let longitudes = try row.doubleArray("longitudes_deg")
        else { return [] }
        return zip(times, zip(latitudes, longitudes)).compactMap { ms, place in
            guard let ms, let latitude = place.0, let longitude = place.1,
                let position = Position(latitudeDeg: latitude, longitudeDeg: longitude)
            else { return nil }
            return (ms, position)
        }
    }
}

extension Position {
    /// From the first of earlier places that is more than five metres away: nearer ones may be the receiver's noise.
    fileprivate func course(from earlier: some Sequence<Position>) -> Int? {
        for place in earlier {
            let north = Double(latitude - place.latitude), shrink = cos(Double(latitude) / 1e7 * .pi / 180)
            let east = Double(longitude - place.longitude) * shrink
            // 1e-7 degrees of latitude are 11.1 mm.
            guard (north * north + east * east).squareRoot() * 0.0111 > 5 else { continue }
            return (Int((atan2(east, north) * 180 / .pi).rounded()) + 360) % 360
        }
        return nil
    }

    /// Nil: no place on earth.
    init?(latitudeDeg: Double, longitudeDeg: Double) {
        guard abs(latitudeDeg) <= 90, abs(longitudeDeg) <= 180 else { return nil }
        self.init(
            latitude: Int32((latitudeDeg * 1e7).rounded()), longitude: Int32((longitudeDeg * 1e7).rounded()))
    }
}
