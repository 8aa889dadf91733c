import Testing
import Tiles

/// Names of streets out of a vector tile that is written here by hand.
struct StreetNamesTests {
    /// One tile at zoom 14; all others are empty.
    private struct OneTile: TileSource {
        var type = "application/vnd.mapbox-vector-tile"
        var zooms = 0...14
        let attribution = ""
        let bounds: [Double]? = nil
        var content: [UInt8]
        func tile(zoom: Int, column: Int, row: Int) -> [UInt8]? {
            (zoom, column, row) == (14, 8_192, 8_191) ? content : nil
        }
    }

    private static func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [number << 3 | 2, UInt8(bytes.count)] + bytes
    }

    /// A step of a line: zigzag, in two bytes.
    private static func step(_ value: Int) -> [UInt8] {
        let zigzag = value < 0 ? -2 * value - 1 : 2 * value
        return [UInt8(zigzag & 0x7f | 0x80), UInt8(zigzag >> 7)]
    }

    /// A street from the west to the east at a height of the tile, with a name.
    private static func feature(_ value: UInt8, y: Int) -> [UInt8] {
        let geometry = [9] + step(0) + step(y) + [10] + step(4_000) + step(0)
        return field(2, field(2, [0, value]) + [3 << 3, 2] + field(4, geometry))
    }

    private static func layer(_ name: String) -> [UInt8] {
        field(
            3,
            field(1, Array(name.utf8)) + feature(0, y: 1_000) + feature(1, y: 3_000) + field(3, Array("name".utf8))
                + field(4, field(1, Array("Postikatu".utf8))) + field(4, field(1, Array("Unioninkatu".utf8))) + [
                    5 << 3, 0x80, 0x20,
                ])
    }

    /// A place in the tile north of the equator and east of Greenwich, in shares of its side.
    private static func place(_ x: Double, _ y: Double) -> StreetNames.Place {
        // So near the equator a degree is one of the map, too.
        let side = 360.0 / 16_384
        return (latitudeDeg: side * (1 - y), longitudeDeg: side * x)
    }

    @Test func theNearestStreetNamesAPlaceAndFarAwayNoneDoes() throws {
        let names = try #require(StreetNames(OneTile(content: Self.layer("transportation_name"))))
        let found = names.names(at: [
            Self.place(0.5, 1_010.0 / 4_096), Self.place(0.5, 2_990.0 / 4_096), Self.place(0.5, 0.5), nil,
            (latitudeDeg: 60, longitudeDeg: 25), (latitudeDeg: 89, longitudeDeg: 0),
        ])
        #expect(found == ["Postikatu", "Unioninkatu", nil, nil, nil, nil])
    }

    @Test func otherLayersAndDamagedTilesNameNothing() throws {
        let place = [Self.place(0.5, 1_000.0 / 4_096)]
        #expect(try #require(StreetNames(OneTile(content: Self.layer("waterway")))).names(at: place) == [nil])
        let whole = Self.layer("transportation_name")
        for count in 0..<whole.count {
            _ = try #require(StreetNames(OneTile(content: Array(whole.prefix(count))))).names(at: place)
        }
        #expect(try #require(StreetNames(OneTile(content: [0x1f, 0x8b, 1, 2]))).names(at: place) == [nil])
    }

    @Test func picturesAndCoarseTilesHaveNoNames() {
        #expect(StreetNames(OneTile(type: "image/png", content: [])).map { _ in 0 } == nil)
        #expect(StreetNames(OneTile(zooms: 0...10, content: [])).map { _ in 0 } == nil)
    }
}
