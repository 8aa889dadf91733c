internal import Codecs
package import Fleet
internal import Formats

/// The line of a GPX 1.0 or 1.1 file (topografix.com/GPX/1/1): its tracks' points in order, or, where it has none, its routes'. Times,
/// heights and names are dropped: they tell who walked when.
package struct GPXTrack: Equatable, Sendable {
    package struct Fault: Error, Equatable, CustomStringConvertible { public let description: String }

    package static let bytesMax = 8 << 20
    /// Points nearer than this to the line between their neighbours are left out.
    static let toleranceM = 2.0

    package let places: [Position]
    /// Before points were left out.
    package let points: Int

    package init(_ file: [UInt8]) throws(Fault) {
        let root: XMLElement
        do throws(XMLFault) {
            root = try XMLReader.root(of: file, bytesMax: GPXTrack.bytesMax, depthMax: 8, elementsMax: 400_000)
        } catch {
            throw Fault(description: "line \(error.line): \(error.reason)")
        }
        guard root.name == "gpx" else {
            throw Fault(description: "it is no GPX file: it begins with <\(root.name.prefix(40))>")
        }
        let tracks = root.children.filter { $0.name == "trk" }.flatMap(\.children).filter { $0.name == "trkseg" }
        let routes = root.children.filter { $0.name == "rte" }
        var found = try GPXTrack.places(tracks, "trkpt")
        if found.isEmpty { found = try GPXTrack.places(routes, "rtept") }
        guard found.count > 1 else { throw Fault(description: "it holds no track and no route") }
        points = found.count
        var toleranceM = GPXTrack.toleranceM
        var line = GPXTrack.simplified(found, toleranceM)
        while line.count > Tour.trackMax {
            toleranceM *= 2
            line = GPXTrack.simplified(found, toleranceM)
        }
        places = line
    }

    private static func places(_ parents: [XMLElement], _ name: String) throws(Fault) -> [Position] {
        var places: [Position] = []
        for point in parents.flatMap(\.children) where point.name == name {
            guard let place = Position(text: "\(point.attributes["lat"] ?? ""),\(point.attributes["lon"] ?? "")") else {
                throw Fault(description: "line \(point.line): lat and lon are not a place in degrees")
            }
            if places.last != place { places.append(place) }
        }
        return places
    }

    /// Douglas and Peucker 1973, in a plane that touches the earth at the line's first point. Without recursion: a file may be
    /// made to go deep.
    static func simplified(_ line: [Position], _ toleranceM: Double) -> [Position] {
        guard let first = line.first, line.count > 2 else { return line }
        // Metres of one stored unit of 10⁻⁷ degrees; a trail is short enough for one scale.
        let metres = Position.earthRadiusMetres * Double.pi / 180 * 1e-7
        let narrow =
            Position(latitude: first.latitude, longitude: 0).metres(
                to: Position(latitude: first.latitude, longitude: 10_000)) / 10_000
        let points = line.map {
            (
                x: Double(Int64($0.longitude) - Int64(first.longitude)) * narrow,
                y: Double($0.latitude - first.latitude) * metres
            )
        }
        var isKept = [Bool](repeating: false, count: line.count)
        (isKept[0], isKept[line.count - 1]) = (true, true)
        var open = [(0, line.count - 1)]
        while let (from, to) = open.popLast() {
            var (furthest, distance) = (from, toleranceM)
            for index in (from + 1)..<max(to, from + 1) {
                let away = GPXTrack.distance(points[index], points[from], points[to])
                if away > distance { (furthest, distance) = (index, away) }
            }
            guard furthest != from else { continue }
            isKept[furthest] = true
            open += [(from, furthest), (furthest, to)]
        }
        return zip(line, isKept).filter(\.1).map(\.0)
    }

    /// From a point to the piece between two others.
    private static func distance(
        _ point: (x: Double, y: Double), _ a: (x: Double, y: Double), _ b: (x: Double, y: Double)
    ) -> Double {
        let (dx, dy) = (b.x - a.x, b.y - a.y)
        let square = dx * dx + dy * dy
        let along = square == 0 ? 0 : min(1, max(0, ((point.x - a.x) * dx + (point.y - a.y) * dy) / square))
        let (ex, ey) = (point.x - a.x - along * dx, point.y - a.y - along * dy)
        return (ex * ex + ey * ey).squareRoot()
    }
}
