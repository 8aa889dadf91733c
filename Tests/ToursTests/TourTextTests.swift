import Codecs
internal import Formats
import SimKit
import Testing
import Tours

@Suite struct TourTextTests {
    private func text(_ tour: Tour) -> [UInt8] { Array(TourText.encode(tour).rendered().utf8) }

    @Test func whatIsWrittenIsReadAgain() throws {
        for tour in [hillWalk(), Tour(area: "nothing yet"), hillWalk { $0.corners = nil }, hillWalk { $0.mapZoom = 0 }]
        {
            #expect(try TourText.decode(text(tour)) == tour)
        }
        #expect(hillWalk().faults == [])
        #expect(hillWalk().media == [filmName, pictureName])
    }

    private static func waypoint(_ fields: String) -> String { #"{"area":"a","waypoints":[{\#(fields)}]}"# }
    private static func wellPlaced(_ more: String) -> String {
        waypoint(#""id":"w","latitude":1,"longitude":0,"# + more)
    }

    @Test(arguments: [
        Row("no JSON", "{", "tour: not JSON"), Row("a list", "[]", "tour: is no object"),
        Row("a name that is a number", #"{"area":7}"#, "area: is no text"),
        Row("a name of two lines", "{\"area\":\"a\\nb\"}", "area: holds control characters"),
        Row("a name that is too long", #"{"area":"\#(String(repeating: "ü", count: 101))"}"#, "area: has 202 bytes"),
        Row("a text with a NUL", "{\"area\":\"a\",\"text\":\"\\u0000\"}", "tour: not JSON"),
        Row("half a frame", #"{"area":"a","corners":{"south_west":[1,2]}}"#, "corners.north_east"),
        Row(
            "a frame inside out", #"{"area":"a","corners":{"south_west":[1,2],"north_east":[0.5,3]}}"#,
            "corners: the first"),
        Row(
            "over the 180th meridian", #"{"area":"a","corners":{"south_west":[1,179.5],"north_east":[2,-179.5]}}"#,
            "corners: the first"),
        Row(
            "a whole country", #"{"area":"a","corners":{"south_west":[40,2],"north_east":[45,3]}}"#,
            "corners: a frame is at most"),
        Row("off the globe", waypoint(#""id":"w","latitude":91,"longitude":0"#), "waypoints[0]: `latitude`"),
        Row("degrees as text", waypoint(#""id":"w","latitude":"1","longitude":0"#), "waypoints[0]: `latitude`"),
        Row("an id that is a path", waypoint(#""id":"../x","latitude":1,"longitude":0"#), "waypoints[0].id"),
        Row("a medium that is a path", wellPlaced(#""media":["../../etc"]"#), "waypoints[0].media"),
        Row("a medium in capitals", wellPlaced(#""media":["\#(pictureName.uppercased())"]"#), "waypoints[0].media"),
        Row("a zoom between two", #"{"area":"a","map_zoom":1.5}"#, "map_zoom"),
        Row("too fine a map", #"{"area":"a","map_zoom":18}"#, "map_zoom"),
        Row("a line of one number", #"{"area":"a","track":[[1]]}"#, "track[0]"),
        Row(
            "too many waypoints",
            #"{"area":"a","waypoints":[\#(Array(repeating: "1", count: 101).joined(separator: ","))]}"#,
            "waypoints: has 101"),
        Row(
            "two of one id", waypoint(#""id":"w","latitude":1,"longitude":1},{"id":"w","latitude":1,"longitude":1"#),
            "waypoints[1].id"),
    ])
    func badInputIsNamed(_ row: Row<String, String>) {
        let fault = #expect(throws: TourText.Fault.self) { try TourText.decode(Array(row.given.utf8)) }
        #expect(fault?.description.hasPrefix(row.wanted) == true, "\(fault?.description ?? "")")
    }

    @Test func whatIsMissingIsSaid() {
        #expect(Tour(area: "").faults.count == 3)
        #expect(hillWalk { $0.waypoints[1].title = "" }.faults == ["Waypoint 2 needs a title."])
        #expect(
            hillWalk { $0.waypoints[2].place = place(48.01, 8.1) }.faults == [
                "Waypoint 3 lies outside the map's frame."
            ])
    }
}
