internal import Formats
package import HTTPServer
internal import Presentation
internal import Reports
package import Tiles

/// The base of maps: the operator's tiles, or the streets of the sample's city; beneath them the coarse world that ships with the program.
package struct BaseMap: Sendable {
    static let coarse = "Natural Earth (coarse)"

    /// Pictures that may be taken along: packages of tours hold those of a file only, since other servers forbid it.
    var tiles: (any TileSource)? { file.flatMap { $0.isVector ? nil : $0 } }
    /// The operator's, or the sample's.
    private let file: (any TileSource)?
    private let server: (proxy: TileProxy, zoomMax: Int)?
    /// What streets are called; nil: the tiles do not say.
    let streets: StreetNames?
    /// The attribution shown on each map.
    package let attribution: String
    private let assets: AssetFiles

    /// - Parameters:
    ///   - sample: streets of one city, where the operator has no tiles.
    ///   - server: tiles of a server of others, where there is no file.
    ///   - attribution: who made the tiles; empty: as their file says.
    package init(
        tiles: (any TileSource)?, sample: (any TileSource)? = nil, server: (proxy: TileProxy, zoomMax: Int)? = nil,
        attribution: String, assets: AssetFiles
    ) {
        let isOwn = tiles != nil || server != nil
        file = tiles ?? (isOwn ? nil : sample)
        streets = file.flatMap { StreetNames($0) }
        self.server = server
        self.assets = assets
        let told = attribution.isEmpty ? tiles?.attribution ?? "" : attribution
        let parts = sample.map { [$0.attribution, BaseMap.coarse] } ?? [BaseMap.coarse]
        self.attribution = isOwn ? told : parts.joined(separator: " · ")
    }

    /// Call once.
    package func stop() { server?.proxy.stop() }

    /// Open to everybody: it is a map of the world and tells nothing of who uses it.
    package func add(to router: inout Router) {
        guard file != nil || server != nil else { return }
        router.add("GET", "/tiles/{zoom}/{column}/{row}") { request in
            func number(_ name: String) -> Int? {
                request.parameters[name].flatMap { $0.utf8.count <= 8 ? Int($0) : nil }
            }
            guard let zoom = number("zoom"), let column = number("column"), let row = number("row") else {
                return .problem(404, type: "not-found", detail: "Tiles are /tiles/ZOOM/COLUMN/ROW, in whole numbers.")
            }
            if let file {
                let tile = file.tile(zoom: zoom, column: column, row: row)
                return BaseMap.response(tile.map { (file.type, $0) }, for: file.isVector ? request : nil)
            }
            guard let server, (0...server.zoomMax).contains(zoom), (0..<1 << zoom).contains(column),
                (0..<1 << zoom).contains(row)
            else { return BaseMap.response(nil) }
            return server.proxy.answer(TileProxy.Place(zoom: zoom, column: column, row: row), request)
        }
    }

    /// - Parameter request: of a vector tile; these are kept packed.
    static func response(_ tile: (type: String, content: [UInt8])?, for request: Request? = nil) -> Response {
        // A hole in the map is nothing that went wrong.
        guard let tile else { return Response(204, headers: [("Cache-Control", "public, max-age=3600")]) }
        let response = Response(
            200, headers: [("Content-Type", tile.type), ("Cache-Control", "public, max-age=86400")], body: tile.content)
        guard let request, tile.content.starts(with: [0x1f, 0x8b]) else { return response }
        var whole = response.with("Vary", "Accept-Encoding")
        if PackedBody.isTaken(by: request) { return whole.with("Content-Encoding", "gzip") }
        // A damaged tile is a hole, too.
        guard let content = try? Gunzip.unpack(tile.content, bytesMax: TileFile.unpackedBytesMax) else {
            return Response(204)
        }
        whole.body = content
        return whole
    }

    /// The attributes of a map's element, as Sources/People/Web/Assets/map.js reads them.
    var attributes: HTML {
        var pairs = [
            ("attribution", attribution), ("worker", assets.address(AssetFiles.worker)),
            ("glyphs", assets.glyphs.address),
            ("world", assets.address("natural-earth.json")),
        ]
        if let file {
            pairs += [
                ("tiles", "/tiles/{z}/{x}/{y}"), ("kind", file.isVector ? "vector" : "raster"),
                ("min-zoom", String(file.zooms.lowerBound)), ("max-zoom", String(file.zooms.upperBound)),
            ]
            if let bounds = file.bounds { pairs.append(("bounds", bounds.map { "\($0)" }.joined(separator: ","))) }
        } else if let server {
            pairs += [
                ("tiles", "/tiles/{z}/{x}/{y}"), ("kind", "raster"), ("min-zoom", "0"),
                ("max-zoom", String(server.zoomMax)),
            ]
        }
        return pairs.map { "data-\($0)=\"\($1)\"" }.joined(separator: " ")
    }

    static let styles = ["maplibre/maplibre-gl.css"]
    static let scripts = ["maplibre/maplibre-gl-csp.js", "map-style.js", "map-fleet.js", "map.js"]

    /// Whether a page with these scripts has a map.
    static func isLoaded(by scripts: [String]) -> Bool { scripts.contains("map.js") }
}
