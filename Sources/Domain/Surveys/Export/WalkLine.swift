internal import Basics
internal import Codecs
internal import Fleet
internal import Formats

/// Where a walk went, for formats of others. Longitude first, in degrees.
struct WalkLine {
    private let points: [Position]

    /// Nil for what is no line of two points or more (`Walk.line`).
    init?(encoded: some Sequence<UInt8>) {
        guard let points = try? Polyline.decode(String(decoding: Array(encoded), as: UTF8.self)), points.count > 1
        else { return nil }
        self.points = points
    }

    private var pairs: [(longitude: String, latitude: String)] {
        points.map { point in
            (Decimal.text(Int64(point.longitude), decimals: 7), Decimal.text(Int64(point.latitude), decimals: 7))
        }
    }

    /// OGC 06-103r4, 7.2.
    var wellKnownText: String {
        "LINESTRING (" + pairs.map { "\($0.longitude) \($0.latitude)" }.joined(separator: ", ") + ")"
    }

    /// RFC 7946, 3.1.4.
    var geometry: JSONValue {
        let points = pairs.map { JSONValue.list([.number($0.longitude), .number($0.latitude)]) }
        return .object([("type", .text("LineString")), ("coordinates", .list(points))])
    }
}
