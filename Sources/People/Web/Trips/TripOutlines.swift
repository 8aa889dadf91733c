internal import Codecs
internal import Fleet
internal import Postgres
internal import Reports
internal import Tiles
internal import Trips

/// The rough ways of trips, for small pictures: some of the minutes of each, and few places of a minute.
enum TripOutlines {
    struct Key: Hashable {
        let vehicle: String
        let startMs: Int64

        init(_ vehicle: String, _ startMs: Int64) { (self.vehicle, self.startMs) = (vehicle, startMs) }
        init(_ read: TripRead) { self.init(read.vehicle, read.trip.startMs) }
    }

    typealias Way = [(latitudeDeg: Double, longitudeDeg: Double)]

    private static let minutesMax: Int64 = 16
    private static let placesMax = 64

    static func read(
        _ trips: [TripRead], _ queries: ReportQueries, on connection: Connection
    ) throws -> [Key: Way] {
        guard !trips.isEmpty else { return [:] }
        let rows = try connection.query(
            queries["trip_outlines"],
            [
                .textArray(trips.map(\.vehicle)), .timestampArray(trips.map(\.trip.startMs)),
                .timestampArray(trips.map(\.trip.endMs)), .int8(minutesMax),
            ])
        var ways: [Key: Way] = [:]
        for row in rows {
            let key = Key(try row.text("vehicle")!, try row.timestampMs("start_at")!)
            ways[key, default: []] += try PackedSamples.decode(
                row.bytes("samples")!, minuteMs: row.timestampMs("minute_at")!
            )
            .compactMap { Position($0) }.map { (Double($0.latitude) / 1e7, Double($0.longitude) / 1e7) }
        }
        return ways.filter { !$0.value.isEmpty }.mapValues(thinned)
    }

    /// The streets at both ends of each.
    static func streets(_ ways: [Key: Way], _ names: StreetNames?) -> [Key: (from: String?, to: String?)] {
        guard let names else { return [:] }
        let keys = Array(ways.keys)
        let found = names.names(at: keys.flatMap { [ways[$0]?.first, ways[$0]?.last] })
        return Dictionary(
            uniqueKeysWithValues: keys.indices.map { (keys[$0], (from: found[2 * $0], to: found[2 * $0 + 1])) })
    }

    private static func thinned(_ way: Way) -> Way {
        let step = max(1, (way.count + placesMax - 1) / placesMax)
        return way.enumerated().filter { $0.offset % step == 0 || $0.offset == way.count - 1 }.map(\.element)
    }
}
