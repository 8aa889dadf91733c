internal import Codecs
internal import Formats

/// Sightings or walks as one GeoJSON feature collection (RFC 7946), a feature a line.
package struct SightingFeatures: Sendable {
    package enum Kind: Sendable {
        case text
        /// Already JSON: numbers, objects, lists, true and false.
        case json
    }

    package static let head = Array("{\"type\":\"FeatureCollection\",\"features\":[\n".utf8)
    package static let tail = Array("\n]}\n".utf8)

    private let properties: [(name: String, kind: Kind)]
    private let hasLine: Bool

    /// - Parameters:
    ///   - properties: what follows latitude and longitude in each row, in order.
    ///   - hasLine: an encoded polyline stands between them.
    package init(properties: [(name: String, kind: Kind)], hasLine: Bool = false) {
        self.properties = properties
        self.hasLine = hasLine
    }

    /// One feature; what is NULL is left out.
    package func feature(_ fields: [[UInt8]?]) -> [UInt8] {
        let places = hasLine ? 3 : 2
        precondition(fields.count == properties.count + places, "a row has as many fields as were asked for")
        var members: [JSONValue.Field] = []
        for (property, field) in zip(properties, fields.dropFirst(places)) {
            guard let field else { continue }
            let value = String(decoding: field, as: UTF8.self)
            members.append((property.name, property.kind == .text ? .text(value) : .number(value)))
        }
        let feature = JSONValue.object([
            ("type", .text("Feature")), ("geometry", geometry(fields)), ("properties", .object(members)),
        ])
        return Array(feature.rendered().utf8)
    }

    /// Longitude first (RFC 7946, 3.1.1), null without a place (3.2).
    private func geometry(_ fields: [[UInt8]?]) -> JSONValue {
        if hasLine, let line = fields[2].flatMap({ WalkLine(encoded: $0) }) { return line.geometry }
        guard let latitude = fields[0], let longitude = fields[1] else { return .null }
        let pair = [longitude, latitude].map { JSONValue.number(String(decoding: $0, as: UTF8.self)) }
        return .object([("type", .text("Point")), ("coordinates", .list(pair))])
    }
}
