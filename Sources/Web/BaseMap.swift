internal import Fleet
public import HTTP
internal import Reports
public import Tiles

/// What maps are drawn on: the operator's tiles, or the coarse map that ships with the program and says that it is coarse.
public struct BaseMap: Sendable {
    static let coarse = "Natural Earth: coarse, shores and borders are right to about 5 km"

    let tiles: (any TileSource)?
    /// Who made it, as shown on each map.
    public let attribution: String
    private let assets: AssetFiles

    /// - Parameter attribution: who made the tiles; empty: as their file says.
    public init(tiles: (any TileSource)?, attribution: String, assets: AssetFiles) {
        (self.tiles, self.assets) = (tiles, assets)
        let told = attribution.isEmpty ? tiles?.attribution ?? "" : attribution
        self.attribution = tiles == nil ? BaseMap.coarse : told
    }

    /// Open to everybody: it is a map of the world and tells nothing of who uses it.
    public func add(to router: inout Router) {
        guard let tiles else { return }
        router.add("GET", "/tiles/{zoom}/{column}/{row}") { request in
            func number(_ name: String) -> Int? {
                request.parameters[name].flatMap { $0.utf8.count <= 8 ? Int($0) : nil }
            }
            guard let zoom = number("zoom"), let column = number("column"), let row = number("row") else {
                return .problem(404, type: "not-found", detail: "Tiles are /tiles/ZOOM/COLUMN/ROW, in whole numbers.")
            }
            // A hole in the map is nothing that went wrong.
            guard let tile = tiles.tile(zoom: zoom, column: column, row: row) else {
                return Response(204, headers: [("Cache-Control", "public, max-age=3600")])
            }
            return Response(
                200, headers: [("Content-Type", tiles.type), ("Cache-Control", "public, max-age=86400")], body: tile)
        }
    }

    /// The attributes of a map's element, as Assets/map.js reads them.
    var attributes: String {
        var pairs = [("attribution", attribution)]
        if let tiles {
            pairs += [
                ("tiles", "/tiles/{z}/{x}/{y}"), ("min-zoom", String(tiles.zooms.lowerBound)),
                ("max-zoom", String(tiles.zooms.upperBound)),
            ]
            if let bounds = tiles.bounds { pairs.append(("bounds", bounds.map { "\($0)" }.joined(separator: ","))) }
        } else {
            pairs.append(("base", assets.address("natural-earth.json")))
        }
        return pairs.map { "data-\($0)=\"\(HTMLText.escaped($1))\"" }.joined(separator: " ")
    }

    static let styles = ["leaflet/leaflet.css"]
    static let scripts = ["leaflet/leaflet.js", "map.js"]
}
