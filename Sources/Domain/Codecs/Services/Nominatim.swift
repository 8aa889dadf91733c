public import Fleet
public import Formats

/// Answers of Nominatim-compatible geocoders (nominatim.org, API: `search` and `reverse` with `format=jsonv2`).
public enum Nominatim {
    public enum Fault: Error, Equatable, CustomStringConvertible {
        case notJSON(JSONValue.Fault)
        case wrongShape
        public var description: String {
            switch self {
            case .notJSON(let fault): "its answer is \(fault)"
            case .wrongShape: "its answer holds no place that can be read"
            }
        }
    }

    public struct Place: Equatable, Sendable {
        public let position: Position
        /// The address in words, without control characters.
        public let label: String
        public init(position: Position, label: String) { (self.position, self.label) = (position, label) }
    }

    public static let labelBytesMax = 500

    /// Places in the order of the answer, best first; empty: it knows none.
    public static func places(_ body: [UInt8], placesMax: Int = 20) throws(Fault) -> [Place] {
        guard let items = try parsed(body).items else { throw .wrongShape }
        let places = items.prefix(placesMax).compactMap(place)
        // One that cannot be read is no reason to lose the others; none that can is.
        guard !places.isEmpty || items.isEmpty else { throw .wrongShape }
        return places
    }

    /// Nil: there is nothing at the place, a lake for example.
    public static func reverse(_ body: [UInt8]) throws(Fault) -> Place? {
        let tree = try parsed(body)
        if tree["error"] != nil { return nil }
        guard let place = place(tree) else { throw .wrongShape }
        return place
    }

    private static func parsed(_ body: [UInt8]) throws(Fault) -> JSONValue {
        do throws(JSONValue.Fault) { return try JSONValue(body) } catch { throw .notJSON(error) }
    }

    private static func place(_ tree: JSONValue) -> Place? {
        guard let position = Position(degrees: tree["lat"]?.double, tree["lon"]?.double),
            let label = tree["display_name"]?.text
        else { return nil }
        return Place(position: position, label: cleaned(label))
    }

    /// Somebody else's text: bounded, and nothing in it that moves a cursor or ends a line.
    private static func cleaned(_ label: String) -> String {
        var (out, bytes) = ("", 0)
        for scalar in label.unicodeScalars where !scalar.properties.isNoncharacterCodePoint {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: continue
            default: break
            }
            bytes += String(scalar).utf8.count
            guard bytes <= labelBytesMax else { break }
            out.unicodeScalars.append(scalar)
        }
        return out
    }
}
