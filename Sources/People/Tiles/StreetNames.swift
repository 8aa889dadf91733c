internal import Formats
internal import Glibc

/// What the street at a place is called, from vector tiles of the schema of OpenMapTiles: the nearest line of the layer `transportation_name`.
/// A damaged tile is one without streets.
package struct StreetNames: Sendable {
    package typealias Place = (latitudeDeg: Double, longitudeDeg: Double)

    /// Further away a street is another one.
    private static let reachM = 60.0
    /// Small streets have names from here on.
    private static let zoom = 14
    /// Round the equator (WGS 84).
    private static let equatorM = 40_075_016.7

    private static let layerName = "transportation_name"
    /// A tile takes milliseconds to read: places in others stay without a name.
    private static let tilesMax = 24

    private let source: any TileSource

    /// Nil: the tiles are pictures, or too coarse for streets.
    package init?(_ source: any TileSource) {
        guard source.isVector, source.zooms.contains(StreetNames.zoom) else { return nil }
        self.source = source
    }

    /// In the order of the places; each tile is read once.
    package func names(at places: [Place?]) -> [String?] {
        var tiles: [Int: [Street]] = [:]
        return places.map { place in
            guard let place, abs(place.latitudeDeg) < 85 else { return nil }
            let (x, y) = StreetNames.position(place)
            let (column, row) = (Int(x), Int(y))
            let key = row << StreetNames.zoom | column
            guard tiles[key] != nil || tiles.count < StreetNames.tilesMax else { return nil }
            let streets =
                tiles[key] ?? StreetNames.streets(source.tile(zoom: StreetNames.zoom, column: column, row: row))
            tiles[key] = streets
            let metres = StreetNames.equatorM * cos(place.latitudeDeg * .pi / 180) / Double(1 << StreetNames.zoom)
            let nearest = streets.map { ($0.name, $0.distance(x - Double(column), y - Double(row)) * metres) }
                .min { $0.1 < $1.1 }
            return nearest.flatMap { $0.1 <= StreetNames.reachM ? $0.0 : nil }
        }
    }

    /// In tiles, from the 180th meridian and the north (Web Mercator, EPSG:3857).
    private static func position(_ place: Place) -> (x: Double, y: Double) {
        let across = Double(1 << zoom)
        let latitude = place.latitudeDeg * .pi / 180
        let x = (place.longitudeDeg + 180) / 360 * across
        let y = (1 - asinh(tan(latitude)) / .pi) / 2 * across
        return (min(max(0, x), across - 1e-9), min(max(0, y), across - 1e-9))
    }

    /// Lines in shares of the tile's side.
    fileprivate struct Street {
        let name: String
        var lines: [[(x: Double, y: Double)]]

        func distance(_ x: Double, _ y: Double) -> Double {
            lines.reduce(.infinity) { least, line in
                zip(line, line.dropFirst()).reduce(least) { min($0, Street.distance(x, y, $1.0, $1.1)) }
            }
        }

        private static func distance(
            _ x: Double, _ y: Double, _ a: (x: Double, y: Double), _ b: (x: Double, y: Double)
        ) -> Double {
            let (dx, dy) = (b.x - a.x, b.y - a.y)
            let square = dx * dx + dy * dy
            let share = square > 0 ? min(1, max(0, ((x - a.x) * dx + (y - a.y) * dy) / square)) : 0
            let (offX, offY) = (x - a.x - share * dx, y - a.y - share * dy)
            return (offX * offX + offY * offY).squareRoot()
        }
    }

    // MARK: Mapbox Vector Tile specification 2.1

    private static func streets(_ tile: [UInt8]?) -> [Street] {
        guard let tile else { return [] }
        let isPacked = tile.starts(with: [0x1f, 0x8b])
        guard let bytes = isPacked ? try? Gunzip.unpack(tile, bytesMax: TileFile.unpackedBytesMax) : tile else {
            return []
        }
        var (reader, streets): (Wire, [Street]) = (Wire(bytes[...]), [])
        while let (field, value) = reader.next() {
            guard field == 3, case .bytes(let layer) = value else { continue }
            streets += StreetNames.layer(layer)
        }
        return streets
    }

    private static func layer(_ bytes: ArraySlice<UInt8>) -> [Street] {
        var (name, extent) = ("", 4_096.0)
        var (keys, values, features): ([String], [String?], [ArraySlice<UInt8>]) = ([], [], [])
        var reader = Wire(bytes)
        while let (field, value) = reader.next() {
            switch (field, value) {
            case (1, .bytes(let text)):
                name = String(decoding: text, as: UTF8.self)
                // Writers say the name first: the other layers are most of a tile.
                guard name == StreetNames.layerName else { return [] }
            case (2, .bytes(let feature)): features.append(feature)
            case (3, .bytes(let text)): keys.append(String(decoding: text, as: UTF8.self))
            case (4, .bytes(let value)): values.append(StreetNames.text(value))
            case (5, .number(let number)): extent = max(1, Double(number))
            default: continue
            }
        }
        guard name == StreetNames.layerName, let key = keys.firstIndex(of: "name") else { return [] }
        return features.compactMap { street($0, key, values, extent) }
    }

    /// A value that is a text.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        var reader = Wire(bytes)
        while let (field, value) = reader.next() {
            if field == 1, case .bytes(let text) = value { return String(decoding: text, as: UTF8.self) }
        }
        return nil
    }

    private static func street(
        _ bytes: ArraySlice<UInt8>, _ key: Int, _ values: [String?], _ extent: Double
    ) -> Street? {
        var (tags, geometry, type): ([UInt64], [UInt64], UInt64) = ([], [], 0)
        var reader = Wire(bytes)
        while let (field, value) = reader.next() {
            switch (field, value) {
            case (2, .bytes(let packed)): tags = Wire.numbers(packed)
            case (3, .number(let number)): type = number
            case (4, .bytes(let packed)): geometry = Wire.numbers(packed)
            default: continue
            }
        }
        guard type == 2 else { return nil }
        for at in stride(from: 0, to: tags.count - 1, by: 2) where tags[at] == UInt64(key) {
            guard tags[at + 1] < UInt64(values.count), let name = values[Int(tags[at + 1])] else { return nil }
            return Street(name: name, lines: lines(geometry, extent))
        }
        return nil
    }

    /// Commands 1 (move to) and 2 (line to), each with a count and as many pairs of steps.
    private static func lines(_ geometry: [UInt64], _ extent: Double) -> [[(x: Double, y: Double)]] {
        var (lines, x, y, at): ([[(x: Double, y: Double)]], Int64, Int64, Int) = ([], 0, 0, 0)
        while at < geometry.count {
            let (command, count) = (geometry[at] & 7, geometry[at] >> 3)
            at += 1
            guard command == 1 || command == 2 else { continue }
            for _ in 0..<min(count, UInt64(geometry.count)) where at + 1 < geometry.count {
                x &+= Wire.signed(geometry[at])
                y &+= Wire.signed(geometry[at + 1])
                at += 2
                let point = (x: Double(x) / extent, y: Double(y) / extent)
                if command == 1 || lines.isEmpty { lines.append([point]) } else { lines[lines.count - 1].append(point) }
            }
        }
        return lines
    }
}

/// The wire format of Protocol Buffers: fields one after the other. What is cut short ends it.
private struct Wire {
    enum Value {
        case number(UInt64)
        case bytes(ArraySlice<UInt8>)
        case other
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func next() -> (field: Int, value: Value)? {
        guard let tag = varint() else { return nil }
        let field = Int(truncatingIfNeeded: tag >> 3)
        switch tag & 7 {
        case 0: return varint().map { (field, .number($0)) }
        case 1: return skip(8).map { (field, $0) }
        case 2:
            guard let count = varint(), count <= UInt64(rest.count) else { return nil }
            let bytes = rest.prefix(Int(count))
            rest = rest.dropFirst(Int(count))
            return (field, .bytes(bytes))
        case 5: return skip(4).map { (field, $0) }
        default: return nil
        }
    }

    private mutating func skip(_ count: Int) -> Value? {
        guard rest.count >= count else { return nil }
        rest = rest.dropFirst(count)
        return .other
    }

    private mutating func varint() -> UInt64? {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while let byte = rest.first, shift < 64 {
            rest = rest.dropFirst()
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    static func numbers(_ packed: ArraySlice<UInt8>) -> [UInt64] {
        var (reader, numbers): (Wire, [UInt64]) = (Wire(packed), [])
        while let number = reader.varint() { numbers.append(number) }
        return numbers
    }

    /// Zigzag.
    static func signed(_ number: UInt64) -> Int64 { Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }
}
