internal import CSQLite
internal import Foundation

/// One SQLite file (MBTiles 1.3).
@safe
final class MBTiles: TileSource, @unchecked Sendable {
    private static let types = [
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp", "pbf": TileFile.vectorType,
        "mvt": TileFile.vectorType,
    ]

    let type: String
    let zooms: ClosedRange<Int>
    let attribution: String
    let bounds: [Double]?

    // Both are used under the lock only.
    private let database: OpaquePointer
    private let find: OpaquePointer
    private let lock = NSLock()

    init(path: String) throws(TileFile.Fault) {
        var handle: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let handle = unsafe handle else {
            let why = unsafe String(cString: sqlite3_errstr(code))
            unsafe sqlite3_close_v2(handle)
            throw TileFile.Fault(
                description: "\(path): \(why). Name an MBTiles or PMTiles file that this program may read")
        }
        var statement: OpaquePointer?
        let sql = "SELECT tile_data FROM tiles WHERE zoom_level = ?1 AND tile_column = ?2 AND tile_row = ?3"
        guard unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let find = unsafe statement
        else {
            let why = unsafe String(cString: sqlite3_errmsg(handle))
            unsafe sqlite3_close_v2(handle)
            throw TileFile.Fault(description: "\(path): is neither MBTiles nor PMTiles: \(why)")
        }
        unsafe (database, self.find) = unsafe (handle, find)
        let metadata = unsafe MBTiles.metadata(handle)
        let format = metadata["format"] ?? ""
        let known = MBTiles.types[format.lowercased()]
        type = known ?? ""
        zooms = unsafe MBTiles.zooms(metadata, handle)
        attribution = TileFile.plain(metadata["attribution"] ?? "")
        bounds = MBTiles.bounds(metadata["bounds"])
        // All is set: from here on `deinit` closes it.
        guard known != nil else {
            throw TileFile.Fault(
                description: "\(path): its tiles are `\(format)`, and maps are drawn from pbf, png, jpg or webp. "
                    + "Name a file with such tiles")
        }
    }

    deinit {
        unsafe sqlite3_finalize(find)
        unsafe sqlite3_close_v2(database)
    }

    func tile(zoom: Int, column: Int, row: Int) -> [UInt8]? {
        guard (0...TileFile.zoomMax).contains(zoom) else { return nil }
        let side = 1 << zoom
        guard (0..<side).contains(column), (0..<side).contains(row) else { return nil }
        lock.lock()
        defer { lock.unlock() }
        defer { unsafe sqlite3_reset(find) }

        unsafe sqlite3_bind_int64(find, 1, Int64(zoom))
        unsafe sqlite3_bind_int64(find, 2, Int64(column))
        unsafe sqlite3_bind_int64(find, 3, Int64(side - 1 - row))
        guard unsafe sqlite3_step(find) == SQLITE_ROW, let bytes = unsafe sqlite3_column_blob(find, 0) else {
            return nil
        }
        let count = unsafe sqlite3_column_bytes(find, 0)
        guard count > 0, Int(count) <= TileFile.tileBytesMax else { return nil }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    }

    // MARK: What the file says of itself

    private static func metadata(_ database: OpaquePointer) -> [String: String] {
        var statement: OpaquePointer?
        let sql = "SELECT name, value FROM metadata LIMIT 1000"
        guard unsafe sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else { return [:] }
        defer { unsafe sqlite3_finalize(statement) }

        var found: [String: String] = [:]
        while unsafe sqlite3_step(statement) == SQLITE_ROW {
            guard let name = unsafe sqlite3_column_text(statement, 0),
                let value = unsafe sqlite3_column_text(statement, 1)
            else { continue }
            unsafe found[String(cString: name)] = unsafe String(cString: value)
        }
        return found
    }

    private static func zooms(_ metadata: [String: String], _ database: OpaquePointer) -> ClosedRange<Int> {
        func bound(_ name: String, _ sql: String) -> Int {
            if let told = metadata[name].flatMap({ Int($0) }) { return min(max(told, 0), TileFile.zoomMax) }
            var statement: OpaquePointer?
            guard unsafe sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else { return 0 }
            defer { unsafe sqlite3_finalize(statement) }

            guard unsafe sqlite3_step(statement) == SQLITE_ROW else { return 0 }
            return min(max(Int(unsafe sqlite3_column_int64(statement, 0)), 0), TileFile.zoomMax)
        }
        let least = bound("minzoom", "SELECT min(zoom_level) FROM tiles")
        return least...max(least, bound("maxzoom", "SELECT max(zoom_level) FROM tiles"))
    }

    private static func bounds(_ text: String?) -> [Double]? {
        let sides = (text ?? "").split(separator: ",").map { Double($0.filter { $0 != " " }) }
        guard sides.count == 4, let west = sides[0], let south = sides[1], let east = sides[2], let north = sides[3],
            (-180...180).contains(west), (-180...180).contains(east), (-90...90).contains(south),
            (-90...90).contains(north), west < east, south < north
        else { return nil }
        return [west, south, east, north]
    }
}
