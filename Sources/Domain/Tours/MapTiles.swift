internal import Fleet
internal import Glibc

/// The tiles that cover a frame at one zoom, as web maps count: columns from the 180th meridian eastwards, rows from the north
/// southwards (EPSG:3857, 2^zoom tiles each way).
package struct TileCover: Equatable, Sendable {
    package let zoom: Int
    package let columns: ClosedRange<Int>
    package let rows: ClosedRange<Int>

    package var count: Int { columns.count * rows.count }

    package init(_ corners: Corners, zoom: Int) {
        let side = 1 << zoom
        func column(_ longitude: Int32) -> Int {
            min(side - 1, max(0, Int(((Double(longitude) * 1e-7 + 180) / 360 * Double(side)).rounded(.down))))
        }
        func row(_ latitude: Int32) -> Int {
            // The map ends where it is square.
            let degrees = min(85.051_128, max(-85.051_128, Double(latitude) * 1e-7))
            let north = asinh(tan(degrees * .pi / 180)) / .pi
            return min(side - 1, max(0, Int(((1 - north) / 2 * Double(side)).rounded(.down))))
        }
        self.zoom = zoom
        columns = column(corners.southWest.longitude)...column(corners.northEast.longitude)
        rows = row(corners.northEast.latitude)...row(corners.southWest.latitude)
    }
}

/// The part of the operator's map that goes into a package.
package struct MapTiles: Equatable, Sendable {
    package struct Tile: Equatable, Sendable {
        package let zoom, column, row: Int
        package let content: [UInt8]
    }

    /// A walk at zoom 15 has some hundred.
    package static let tilesMax = 2_000
    package static let bytesMax = 24 << 20

    package let mediaType: String
    package let attribution: String
    /// By zoom, column and row. Holes of the map are left out.
    package let tiles: [Tile]

    package init(mediaType: String, attribution: String, tiles: [Tile]) {
        self.mediaType = mediaType
        self.attribution = attribution
        self.tiles = tiles
    }

    /// Cuts a tour's frame out of a map.
    /// - Parameter zooms: that the map has.
    /// - Throws: `TourPackage.Fault`: more than a package may hold.
    package init(
        of tour: Tour, zooms: ClosedRange<Int>, mediaType: String, attribution: String,
        tile: (_ zoom: Int, _ column: Int, _ row: Int) -> [UInt8]?
    ) throws(TourPackage.Fault) {
        guard let corners = tour.corners else { throw .unfinished(tour.faults) }
        let wanted = zooms.filter { $0 <= tour.mapZoom }.map { TileCover(corners, zoom: $0) }
        let count = wanted.reduce(0) { $0 + $1.count }
        guard count <= MapTiles.tilesMax else { throw .mapTooLarge("\(count) tiles, at most \(MapTiles.tilesMax)") }
        var (found, bytes) = ([Tile](), 0)
        for cover in wanted {
            for column in cover.columns {
                for row in cover.rows {
                    guard let content = tile(cover.zoom, column, row) else { continue }
                    bytes += content.count
                    guard bytes <= MapTiles.bytesMax else {
                        throw .mapTooLarge("more than \(MapTiles.bytesMax) bytes of tiles")
                    }
                    found.append(Tile(zoom: cover.zoom, column: column, row: row, content: content))
                }
            }
        }
        self.init(mediaType: mediaType, attribution: attribution, tiles: found)
    }

    var fileExtension: String { TourMedium.fileExtension(mediaType) }

    func name(_ tile: Tile) -> String { "tiles/\(tile.zoom)/\(tile.column)/\(tile.row).\(fileExtension)" }
}
