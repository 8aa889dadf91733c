internal import Basics
internal import Codecs
internal import Fleet
package import Formats

/// Tours as JSON: the panel's requests and the stored form. Degrees are numbers with up to seven decimals.
package enum TourText {
    /// The place and reason of a fault in a tour's text.
    package struct Fault: Error, Equatable, CustomStringConvertible {
        package let description: String
        init(_ place: String, _ reason: String) { description = "\(place): \(reason)" }
    }

    /// As much as the bounds of `Tour` can add up to.
    package static let bytesMax = 1 << 20

    package static func decode(_ bytes: [UInt8]) throws(Fault) -> Tour {
        let tree: JSONValue
        do throws(JSONValue.Fault) {
            tree = try JSONValue(bytes, bytesMax: bytesMax, valuesMax: 20_000)
        } catch {
            throw Fault("tour", "\(error)")
        }
        guard case .object = tree else { throw Fault("tour", "is no object") }
        var tour = Tour(
            area: try text("area", tree, bytesMax: Tour.areaBytesMax, isLine: true),
            text: try text("text", tree, bytesMax: Tour.textBytesMax))
        tour.corners = try corners(tree["corners"])
        let waypoints = try items("waypoints", tree, most: Tour.waypointsMax)
        for (number, item) in waypoints.enumerated() {
            let waypoint = try self.waypoint(item, "waypoints[\(number)]")
            guard !tour.waypoints.contains(where: { $0.id == waypoint.id }) else {
                throw Fault("waypoints[\(number)].id", "another waypoint has it already")
            }
            tour.waypoints.append(waypoint)
        }
        if let zoom = tree["map_zoom"], !zoom.isNull {
            guard let number = zoom.integer, Tour.mapZooms.contains(Int(number)) else {
                throw Fault("map_zoom", "is no whole number from 0 to \(Tour.mapZooms.upperBound)")
            }
            tour.mapZoom = Int(number)
        }
        for (number, item) in try items("track", tree, most: Tour.trackMax).enumerated() {
            guard let pair = item.items, pair.count == 2, let place = place(pair[0], pair[1]) else {
                throw Fault("track[\(number)]", "is no pair of latitude and longitude in degrees")
            }
            tour.track.append(place)
        }
        return tour
    }

    package static func encode(_ tour: Tour) -> JSONValue {
        .object([
            ("area", .text(tour.area)), ("text", .text(tour.text)),
            ("corners", tour.corners.map(encode) ?? .null), ("map_zoom", .integer(Int64(tour.mapZoom))),
            ("waypoints", .list(tour.waypoints.map(encode))),
            ("track", .list(tour.track.map { .list([latitude($0), longitude($0)]) })),
        ])
    }

    package static func encode(_ corners: Corners) -> JSONValue {
        .object([
            ("south_west", .list([latitude(corners.southWest), longitude(corners.southWest)])),
            ("north_east", .list([latitude(corners.northEast), longitude(corners.northEast)])),
        ])
    }

    static func latitude(_ place: Position) -> JSONValue { .number(Decimal.text(Int64(place.latitude), decimals: 7)) }
    static func longitude(_ place: Position) -> JSONValue { .number(Decimal.text(Int64(place.longitude), decimals: 7)) }

    private static func encode(_ waypoint: Waypoint) -> JSONValue {
        .object([
            ("id", .text(waypoint.id)), ("latitude", latitude(waypoint.place)),
            ("longitude", longitude(waypoint.place)), ("title", .text(waypoint.title)),
            ("text", .text(waypoint.text)), ("media", .list(waypoint.media.map { .text($0) })),
        ])
    }

    // MARK: Reading

    private static func corners(_ tree: JSONValue?) throws(Fault) -> Corners? {
        guard let tree, !tree.isNull else { return nil }
        func corner(_ key: String) throws(Fault) -> Position {
            guard let pair = tree[key]?.items, pair.count == 2, let place = place(pair[0], pair[1]) else {
                throw Fault("corners.\(key)", "is no pair of latitude and longitude in degrees")
            }
            return place
        }
        let corners = Corners(southWest: try corner("south_west"), northEast: try corner("north_east"))
        if let fault = corners.fault { throw Fault("corners", fault) }
        return corners
    }

    private static func waypoint(_ tree: JSONValue, _ at: String) throws(Fault) -> Waypoint {
        guard let id = tree["id"]?.text, VehicleID.isValid(id.utf8) else {
            throw Fault("\(at).id", "is not 1 to 64 letters, digits, -, _ or .")
        }
        guard let latitude = tree["latitude"], let longitude = tree["longitude"], let place = place(latitude, longitude)
        else { throw Fault(at, "`latitude` and `longitude` are not a place in degrees") }
        var waypoint = Waypoint(
            id: id, place: place,
            title: try text("title", tree, at, bytesMax: Tour.titleBytesMax, isLine: true),
            text: try text("text", tree, at, bytesMax: Tour.textBytesMax))
        for item in try items("media", tree, at, most: Tour.mediaMax) {
            guard let name = item.text, isDigest(name) else {
                throw Fault("\(at).media", "holds a text that is no SHA-256 in hexadecimal")
            }
            guard !waypoint.media.contains(name) else { throw Fault("\(at).media", "holds one more than once") }
            waypoint.media.append(name)
        }
        return waypoint
    }

    /// 64 digits of hexadecimal in lower case.
    package static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func place(_ latitude: JSONValue, _ longitude: JSONValue) -> Position? {
        guard case .number = latitude, case .number = longitude else { return nil }
        return Position(degrees: latitude.double, longitude.double)
    }

    private static func items(
        _ key: String, _ tree: JSONValue, _ at: String = "", most: Int
    ) throws(Fault) -> [JSONValue] {
        let name = at.isEmpty ? key : "\(at).\(key)"
        guard let value = tree[key], !value.isNull else { return [] }
        guard let items = value.items else { throw Fault(name, "is no list") }
        guard items.count <= most else { throw Fault(name, "has \(items.count) entries, at most \(most) are taken") }
        return items
    }

    private static func text(
        _ key: String, _ tree: JSONValue, _ at: String = "", bytesMax: Int, isLine: Bool = false
    ) throws(Fault) -> String {
        let name = at.isEmpty ? key : "\(at).\(key)"
        guard let value = tree[key], !value.isNull else { return "" }
        guard let text = value.text else { throw Fault(name, "is no text") }
        guard text.utf8.count <= bytesMax else {
            throw Fault(name, "has \(text.utf8.count) bytes, at most \(bytesMax) are taken")
        }
        let isPlain = text.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && $0.value != 0x7F || !isLine && ($0 == "\n" || $0 == "\r" || $0 == "\t")
        }
        guard isPlain else { throw Fault(name, "holds control characters") }
        return text
    }
}
