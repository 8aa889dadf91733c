internal import Basics
public import Fleet

/// Lines as routing services write them: Google's encoded polyline algorithm format (developers.google.com/maps,
/// "Encoded Polyline Algorithm Format"), with 5 or 6 decimals of a degree.
public enum Polyline {
    public enum Fault: Error, Equatable, CustomStringConvertible {
        case cutOff
        case notPolyline(at: Int)
        case offTheGlobe(at: Int)
        case tooMany(most: Int)

        public var description: String {
            switch self {
            case .cutOff: "a line that ends within a point"
            case .notPolyline(let at): "no encoded line: see byte \(at)"
            case .offTheGlobe(let at): "a line that leaves the globe: see byte \(at)"
            case .tooMany(let most): "a line of more than \(most) points"
            }
        }
    }

    /// - Parameter decimals: 5 (`polyline`) or 6 (`polyline6`).
    public static func decode(
        _ text: String, decimals: Int = 5, pointsMax: Int = 100_000
    ) throws(Fault) -> [Position] {
        precondition((5...6).contains(decimals))
        let scale = Decimal.powerOfTen(7 - decimals)
        var reader = PolylineReader(bytes: Array(text.utf8))
        var (points, latitude, longitude): ([Position], Int64, Int64) = ([], 0, 0)
        while !reader.isAtEnd {
            guard points.count < pointsMax else { throw .tooMany(most: pointsMax) }
            let start = reader.at
            latitude += try reader.step()
            longitude += try reader.step()
            let (a, b) = (latitude * scale, longitude * scale)
            guard a.magnitude <= 900_000_000, b.magnitude <= 1_800_000_000 else { throw .offTheGlobe(at: start) }
            points.append(Position(latitude: Int32(a), longitude: Int32(b)))
        }
        return points
    }

    /// The inverse, for what is stored small.
    public static func encode(_ points: [Position], decimals: Int = 5) -> String {
        precondition((5...6).contains(decimals))
        let scale = Decimal.powerOfTen(7 - decimals)
        var (bytes, last): ([UInt8], (Int64, Int64)) = ([], (0, 0))
        for point in points {
            let next = (
                Decimal.divided(Int64(point.latitude), by: scale), Decimal.divided(Int64(point.longitude), by: scale)
            )
            append(next.0 - last.0, to: &bytes)
            append(next.1 - last.1, to: &bytes)
            last = next
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func append(_ step: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: step < 0 ? ~(step << 1) : step << 1)
        while rest >= 0x20 {
            bytes.append(UInt8(rest & 0x1F | 0x20) + 63)
            rest >>= 5
        }
        bytes.append(UInt8(rest) + 63)
    }
}

private struct PolylineReader {
    let bytes: [UInt8]
    var at = 0

    var isAtEnd: Bool { at == bytes.count }

    /// Five bits a byte, least first, 0x20 says that more follow; zigzag. Seven bytes hold every step on the globe.
    mutating func step() throws(Polyline.Fault) -> Int64 {
        var (value, shift): (Int64, Int64) = (0, 0)
        while shift < 35 {
            guard at < bytes.count else { throw .cutOff }
            guard (63...126).contains(bytes[at]) else { throw .notPolyline(at: at) }
            let bits = Int64(bytes[at] - 63)
            at += 1
            value |= (bits & 0x1F) << shift
            shift += 5
            if bits < 0x20 { return value & 1 == 1 ? ~(value >> 1) : value >> 1 }
        }
        throw .notPolyline(at: at)
    }
}
