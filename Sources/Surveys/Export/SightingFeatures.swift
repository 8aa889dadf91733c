internal import Wire

/// Sightings as one GeoJSON feature collection (RFC 7946), a feature a line.
public struct SightingFeatures: Sendable {
    public enum Kind: Sendable {
        case text
        /// Already JSON: numbers, objects, lists, true and false.
        case json
    }

    public static let head = Array("{\"type\":\"FeatureCollection\",\"features\":[\n".utf8)
    public static let tail = Array("\n]}\n".utf8)

    private let properties: [(name: String, kind: Kind)]

    /// - Parameter properties: what follows latitude and longitude in each row, in order.
    public init(properties: [(name: String, kind: Kind)]) { self.properties = properties }

    /// One feature; what is NULL is left out. Longitude first (RFC 7946, 3.1.1), null without a place (3.2).
    public func feature(_ fields: [[UInt8]?]) -> [UInt8] {
        precondition(fields.count == properties.count + 2, "a row has as many fields as were asked for")
        var text = "{\"type\":\"Feature\",\"geometry\":"
        if let latitude = fields[0], let longitude = fields[1] {
            text += "{\"type\":\"Point\",\"coordinates\":["
            text += String(decoding: longitude, as: UTF8.self) + "," + String(decoding: latitude, as: UTF8.self) + "]}"
        } else {
            text += "null"
        }
        var members: [(String, JSONValue)] = []
        for (property, field) in zip(properties, fields.dropFirst(2)) {
            guard let field else { continue }
            let value = String(decoding: field, as: UTF8.self)
            members.append((property.name, property.kind == .text ? .text(value) : .number(value)))
        }
        return Array((text + ",\"properties\":" + JSONValue.object(members).rendered() + "}").utf8)
    }
}
