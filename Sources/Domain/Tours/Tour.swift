package import Fleet

/// The frame of a tour's map: south-west and north-east corner. It does not cross the 180th meridian.
package struct Corners: Equatable, Sendable {
    package var southWest: Position
    package var northEast: Position

    package init(southWest: Position, northEast: Position) {
        self.southWest = southWest
        self.northEast = northEast
    }

    /// A trail is walked: 2 degrees are more than 200 km from south to north.
    package static let degreesMax: Int64 = 2

    /// The rule that the frame breaks; nil: none.
    package var fault: String? {
        let height = Int64(northEast.latitude) - Int64(southWest.latitude)
        let width = Int64(northEast.longitude) - Int64(southWest.longitude)
        guard height > 0, width > 0 else {
            return "the first corner must lie south and west of the second one; a frame cannot cross the 180th meridian"
        }
        guard height <= Corners.degreesMax * 10_000_000, width <= Corners.degreesMax * 10_000_000 else {
            return "a frame is at most \(Corners.degreesMax) degrees high and wide"
        }
        return nil
    }

    package func contains(_ place: Position) -> Bool {
        (southWest.latitude...northEast.latitude).contains(place.latitude)
            && (southWest.longitude...northEast.longitude).contains(place.longitude)
    }
}

/// A place of a tour where there is something to read, see or hear.
package struct Waypoint: Equatable, Sendable {
    package var id: String
    package var place: Position
    package var title: String
    package var text: String
    /// Pictures and films by the SHA-256 of their content, in the order in which they are shown.
    package var media: [String]

    package init(id: String, place: Position, title: String, text: String = "", media: [String] = []) {
        self.id = id
        self.place = place
        self.title = title
        self.text = text
        self.media = media
    }
}

/// A ranger's draft. It may be unfinished; `faults` says what is missing before it can be published.
package struct Tour: Equatable, Sendable {
    /// The name of the area, by which tours are listed.
    package var area: String
    package var text: String
    package var corners: Corners?
    /// In walking order.
    package var waypoints: [Waypoint]
    /// The line of the trail, drawn or from a GPX file.
    package var track: [Position]
    /// The finest tiles of the operator's map that go along: at 14 a tile is 2.4 km wide on the equator.
    package var mapZoom = 14

    package static let mapZooms = 0...17
    package static let areaBytesMax = 200
    package static let titleBytesMax = 200
    package static let textBytesMax = 4_000
    package static let waypointsMax = 100
    package static let mediaMax = 8
    package static let trackMax = 2_000

    package init(
        area: String, text: String = "", corners: Corners? = nil, waypoints: [Waypoint] = [], track: [Position] = []
    ) {
        self.area = area
        self.text = text
        self.corners = corners
        self.waypoints = waypoints
        self.track = track
    }

    /// All media, each once, in the order of their names.
    package var media: [String] { Set(waypoints.flatMap(\.media)).sorted() }

    /// Faults that must be mended before publication, a sentence each; empty: none.
    package var faults: [String] {
        var faults: [String] = []
        if area.isEmpty { faults.append("The tour needs the name of its area.") }
        if corners == nil { faults.append("The map needs its frame: two corners.") }
        if waypoints.isEmpty { faults.append("The tour needs a waypoint.") }
        for (number, waypoint) in waypoints.enumerated() {
            if waypoint.title.isEmpty { faults.append("Waypoint \(number + 1) needs a title.") }
            if let corners, !corners.contains(waypoint.place) {
                faults.append("Waypoint \(number + 1) lies outside the map's frame.")
            }
        }
        return faults
    }
}
