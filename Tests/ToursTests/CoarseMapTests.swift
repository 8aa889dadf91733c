import Foundation
import Testing
import Tours

@Suite struct CoarseMapTests {
    private static let world = """
        {"type":"FeatureCollection","features":[
        {"type":"Feature","properties":{"kind":"land"},"geometry":{"type":"MultiPolygon","coordinates":[
            [[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[6,4],[6,6],[4,6],[4,4]]],[[[20,20],[21,20],[21,21],[20,20]]]]}},
        {"type":"Feature","properties":{"kind":"border"},"geometry":{"type":"MultiLineString","coordinates":[[[-1,5.5],[11,5.5],[11,4.5],[-1,4.5]]]}}]}
        """

    /// Features by kind: type and coordinates.
    private func map(_ south: Double, _ west: Double, _ north: Double, _ east: Double) throws -> [String: NSArray] {
        let coarse = try #require(CoarseMap(geoJSON: Array(Self.world.utf8)))
        let tour = hillWalk { tour in
            tour.corners = Corners(southWest: place(south, west), northEast: place(north, east))
            for index in tour.waypoints.indices {
                tour.waypoints[index].place = place((south + north) / 2, (west + east) / 2)
            }
        }
        let package = try TourPackage(of: tour, id: "t", version: 1, media: media, coarse: coarse, sha256: sum)
        let whole = try #require(
            try JSONSerialization.jsonObject(with: Data(package.files[1].content)) as? [String: Any])
        var found: [String: NSArray] = [:]
        for feature in try #require(whole["features"] as? [[String: Any]]) {
            let kind = try #require((feature["properties"] as? [String: Any])?["kind"] as? String)
            found[kind] = (feature["geometry"] as? [String: Any])?["coordinates"] as? NSArray
        }
        return found
    }

    @Test func aFrameWithinLandIsLand() throws {
        let map = try map(1, 1, 2, 2)
        let land = try #require(map["land"] as? [[[[Double]]]])
        #expect(land.count == 1 && Set(land[0][0]) == [[1, 1], [2, 1], [2, 2], [1, 2]])
        #expect(map["border"] == nil && map["frame"] != nil)
    }

    @Test func aCoastIsCutAtTheFrame() throws {
        let land = try #require(try map(9, 9, 11, 11)["land"] as? [[[[Double]]]])
        #expect(land.count == 1 && land[0].count == 1)
        #expect(Set(land[0][0]) == [[9, 9], [10, 9], [10, 10], [9, 10]])
        #expect(land[0][0].first == land[0][0].last)
    }

    @Test func aLakeStaysAHoleAndABorderIsCut() throws {
        let map = try map(4.2, 4.9, 5.8, 6.5)
        let land = try #require(map["land"] as? [[[[Double]]]])
        #expect(land[0].count == 2 && Set(land[0][1]) == [[4.9, 4.2], [6, 4.2], [6, 5.8], [4.9, 5.8]])
        #expect(map["border"] == [[[4.9, 5.5], [6.5, 5.5]], [[6.5, 4.5], [4.9, 4.5]]] as NSArray)
    }

    @Test func nothingIsLeftAtSea() throws {
        #expect(try map(-2, -2, -1, -1)["land"] == nil)
        // Only an edge is touched.
        #expect(try map(1, 10, 2, 11)["land"] == nil)
    }

    @Test func whatIsNoMapIsNone() {
        for text in ["", "{}", "[]", #"{"features":[{"properties":{"kind":"evil"}}]}"#] {
            #expect(CoarseMap(geoJSON: Array(text.utf8)) == nil)
        }
    }
}
