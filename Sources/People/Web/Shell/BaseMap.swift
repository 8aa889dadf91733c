package import HTTPServer
internal import Presentation
internal import Reports
package import Tiles

/// The base of maps: the operator's tiles, or the coarse map that ships with the program and says that it is coarse.
package struct BaseMap: Sendable {
    static let coarse = "Natural Earth: coarse, shores and borders are right to about 5 km"

    /// Tiles that may be taken along: packages of tours hold tiles of a file only, since other servers forbid it.
    let tiles: (any TileSource)?
    private let server: (proxy: TileProxy, zoomMax: Int)?
    /// The attribution shown on each map.
    package let attribution: String
    private let assets: AssetFiles

    /// - Parameters:
    ///   - server: tiles of a server of others, where there is no file.
    ///   - attribution: who made the tiles; empty: as their file says.
    package init(
        tiles: (any TileSource)?, server: (proxy: TileProxy, zoomMax: Int)? = nil, attribution: String,
        assets: AssetFiles
    ) {
        self.tiles = tiles
        self.server = server
        self.assets = assets
        let told = attribution.isEmpty ? tiles?.attribution ?? "" : attribution
        self.attribution = tiles == nil && server == nil ? BaseMap.coarse : told
    }

    /// Call once.
    package func stop() { server?.proxy.stop() }

    /// Open to everybody: it is a map of the world and tells nothing of who uses it.
    package func add(to router: inout Router) {
        guard tiles != nil || server != nil else { return }
        router.add("GET", "/tiles/{zoom}/{column}/{row}") { request in
            func number(_ name: String) -> Int? {
                request.parameters[name].flatMap { $0.utf8.count <= 8 ? Int($0) : nil }
            }
            guard let zoom = number("zoom"), let column = number("column"), let row = number("row") else {
                return .problem(404, type: "not-found", detail: "Tiles are /tiles/ZOOM/COLUMN/ROW, in whole numbers.")
            }
            if let tiles {
                let tile = tiles.tile(zoom: zoom, column: column, row: row)
                return BaseMap.response(tile.map { (tiles.type, $0) })
            }
            guard let server, (0...server.zoomMax).contains(zoom), (0..<1 << zoom).contains(column),
                (0..<1 << zoom).contains(row)
            else { return BaseMap.response(nil) }
            return server.proxy.answer(TileProxy.Place(zoom: zoom, column: column, row: row), request)
        }
    }

    static func response(_ tile: (type: String, content: [UInt8])?) -> Response {
        // A hole in the map is nothing that went wrong.
        guard let tile else { return Response(204, headers: [("Cache-Control", "public, max-age=3600")]) }
        return Response(
            200, headers: [("Content-Type", tile.type), ("Cache-Control", "public, max-age=86400")],
            body: tile.content)
    }

    /// The attributes of a map's element, as Sources/People/Web/Assets/map.js reads them.
    var attributes: HTML {
        var pairs = [("attribution", attribution)]
        if let tiles {
            pairs += [
                ("tiles", "/tiles/{z}/{x}/{y}"), ("min-zoom", String(tiles.zooms.lowerBound)),
                ("max-zoom", String(tiles.zooms.upperBound)),
            ]
            if let bounds = tiles.bounds { pairs.append(("bounds", bounds.map { "\($0)" }.joined(separator: ","))) }
        } else if let server {
            pairs += [
                ("tiles", "/tiles/{z}/{x}/{y}"), ("min-zoom", "0"), ("max-zoom", String(server.zoomMax)),
            ]
        } else {
            pairs.append(("base", assets.address("natural-earth.json")))
        }
        return pairs.map { "data-\($0)=\"\($1)\"" }.joined(separator: " ")
    }

    static let styles = ["leaflet/leaflet.css"]
    static let scripts = ["leaflet/leaflet.js", "map.js"]
}
