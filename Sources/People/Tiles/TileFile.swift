internal import Foundation

/// Tiles of a base map, opened for reading: pictures, or lines and names that the browser draws (vector tiles).
package protocol TileSource: Sendable {
    /// Media type of its tiles.
    var type: String { get }
    var zooms: ClosedRange<Int> { get }
    /// The map's author as plain text; empty: the file names none.
    var attribution: String { get }
    /// West, south, east and north in degrees; nil: the file does not say.
    var bounds: [Double]? { get }

    /// Nil: there is none.
    /// - Parameters:
    ///   - column: from the 180th meridian eastwards.
    ///   - row: from the north southwards, as web maps count.
    func tile(zoom: Int, column: Int, row: Int) -> [UInt8]?
}

extension TileSource {
    /// Of the schema of OpenMapTiles, packed with gzip as its tools write them.
    package var isVector: Bool { type == TileFile.vectorType }
}

/// Opens MBTiles or PMTiles, as the first bytes tell.
package enum TileFile {
    /// Why a file is refused, and what to do.
    package struct Fault: Error, CustomStringConvertible, Equatable {
        package let description: String
    }

    /// A tile of this zoom is a few metres wide.
    package static let zoomMax = 22
    /// Larger tiles are none.
    static let tileBytesMax = 4 << 20
    /// Of a vector tile.
    package static let unpackedBytesMax = 16 << 20
    static let vectorType = "application/vnd.mapbox-vector-tile"

    package static func open(path: String) throws(Fault) -> any TileSource {
        let handle = FileHandle(forReadingAtPath: path)
        // SQLite explains files that cannot be read.
        let first = (try? handle?.read(upToCount: PMTiles.magic.count)) ?? Data()
        guard let handle, Array(first) == PMTiles.magic else { return try MBTiles(path: path) }
        return try PMTiles(handle, path: path)
    }

    /// The file may say it with links; what is shown is the text.
    package static func plain(_ html: String) -> String {
        var (text, isTag) = ("", false)
        for character in html.prefix(2_000) {
            switch character {
            case "<": isTag = true
            case ">" where isTag: isTag = false
            default: if !isTag { text.append(character) }
            }
        }
        for (entity, character) in [("&copy;", "©"), ("&#169;", "©"), ("&quot;", "\""), ("&amp;", "&")] {
            text = text.replacing(entity, with: character)
        }
        return String(text.prefix(300))
    }
}
