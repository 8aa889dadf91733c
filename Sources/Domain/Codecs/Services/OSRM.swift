internal import Basics
public import Fleet
public import Formats

/// Answers of OSRM-compatible routing services (project-osrm.org, HTTP API v1: `table` and `route`).
public enum OSRM {
    public enum Fault: Error, Equatable, CustomStringConvertible {
        case notJSON(JSONValue.Fault)
        /// Its own word: `NoRoute`, `NoSegment`, `TooBig`, …
        case refused(code: String)
        /// Missing, or not of the size that was asked for.
        case wrongShape(String)
        case line(Polyline.Fault)

        public var description: String {
            switch self {
            case .notJSON(let fault): "its answer is \(fault)"
            case .refused(let code): "it refuses: \(code)"
            case .wrongShape(let key): "`\(key)` in its answer is missing or not of the size that was asked for"
            case .line(let fault): "it drew \(fault)"
            }
        }
    }

    public struct Leg: Equatable, Sendable {
        public let durationMs: Int64
        public let distanceM: Int64
        public init(durationMs: Int64, distanceM: Int64) { (self.durationMs, self.distanceM) = (durationMs, distanceM) }
    }

    public struct Table: Equatable, Sendable {
        /// Row by row, one row a source; nil: no way, or a value that is impossible.
        public let legs: [Leg?]
        /// Values that no vehicle reaches, and places that are far from every road that the service knows.
        public let impossible: Int
    }

    public struct Line: Equatable, Sendable {
        public let points: [Position]
        public let leg: Leg
        public init(points: [Position], leg: Leg) { (self.points, self.leg) = (points, leg) }
    }

    /// A week: nothing on one continent takes longer.
    static let durationMsMax: Int64 = 604_800_000
    /// Nothing on a road is faster, m/s (432 km/h); short ways may be rounded to a second.
    static let metresPerSecondMax: Double = 120

    /// A place further from the nearest road of the service's map lies outside of it, metres. The service itself would
    /// take the nearest road however far that is, and answer with ways of somewhere else.
    static let snapMetresMax: Double = 1_000

    public static func table(_ body: [UInt8], sources: Int, destinations: Int) throws(Fault) -> Table {
        let tree = try answer(body)
        let (durations, distances) = (
            try matrix(tree, "durations", sources, destinations), try matrix(tree, "distances", sources, destinations)
        )
        var (legs, impossible): ([Leg?], Int) = ([], 0)
        legs.reserveCapacity(durations.count)
        let isFar = (far(tree["sources"], sources), far(tree["destinations"], destinations))
        for (index, (duration, distance)) in zip(durations, distances).enumerated() {
            let isOutside = isFar.0[index / destinations] || isFar.1[index % destinations]
            let leg = isOutside ? nil : leg(duration, distance)
            if leg == nil, !duration.isNull || !distance.isNull { impossible += 1 }
            legs.append(leg)
        }
        return Table(legs: legs, impossible: impossible)
    }

    /// The first route, with its line of 5 decimals (`overview=full&geometries=polyline`).
    public static func line(_ body: [UInt8]) throws(Fault) -> Line {
        let tree = try answer(body)
        guard let route = tree["routes"]?[0], let text = route["geometry"]?.text else { throw .wrongShape("geometry") }
        guard let leg = leg(route["duration"] ?? .null, route["distance"] ?? .null) else {
            throw .wrongShape("duration")
        }
        let points: [Position]
        do throws(Polyline.Fault) { points = try Polyline.decode(text) } catch { throw .line(error) }
        let ends = tree["waypoints"]?.items?.count ?? 0
        guard !far(tree["waypoints"], ends).contains(true) else { throw .refused(code: "OffTheMap") }
        guard points.count >= 2 else { throw .wrongShape("geometry") }
        return Line(points: points, leg: leg)
    }

    private static func answer(_ body: [UInt8]) throws(Fault) -> JSONValue {
        let tree: JSONValue
        do throws(JSONValue.Fault) { tree = try JSONValue(body) } catch { throw .notJSON(error) }
        guard let code = tree["code"]?.text else { throw .wrongShape("code") }
        guard code == "Ok" else {
            // Somebody else's text goes into a message of ours: only words.
            let isWord = !code.isEmpty && code.utf8.count <= 40 && code.allSatisfy { $0.isASCII && $0.isLetter }
            throw .refused(code: isWord ? code : "without a reason")
        }
        return tree
    }

    private static func matrix(
        _ tree: JSONValue, _ key: String, _ rows: Int, _ columns: Int
    ) throws(Fault) -> [JSONValue] {
        guard let lines = tree[key]?.items, lines.count == rows else { throw .wrongShape(key) }
        var values: [JSONValue] = []
        for line in lines {
            guard let items = line.items, items.count == columns else { throw .wrongShape(key) }
            values += items
        }
        return values
    }

    private static func far(_ waypoints: JSONValue?, _ count: Int) -> [Bool] {
        (0..<count).map { (waypoints?[$0]?["distance"]?.double ?? 0) > snapMetresMax }
    }

    private static func leg(_ duration: JSONValue, _ distance: JSONValue) -> Leg? {
        guard let seconds = duration.double, let metres = distance.double, seconds >= 0, metres >= 0,
            let ms = Decimal.scaled(seconds, decimals: 3), ms <= durationMsMax,
            metres <= (seconds + 1) * metresPerSecondMax
        else { return nil }
        return Leg(durationMs: ms, distanceM: Int64(metres.rounded()))
    }
}
