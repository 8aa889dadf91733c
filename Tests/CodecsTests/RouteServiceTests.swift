import Codecs
import Fleet
import Foundation
import SimKit
import Testing

struct RouteServiceTests {
    /// The example of the format's own description.
    @Test func theLineOfTheDescription() throws {
        let points = try Polyline.decode("_p~iF~ps|U_ulLnnqC_mqNvxq`@")
        #expect(points.map(\.text) == ["38.5,-120.2", "40.7,-120.95", "43.252,-126.453"])
        #expect(Polyline.encode(points) == "_p~iF~ps|U_ulLnnqC_mqNvxq`@")
    }

    @Test(arguments: [
        ("_p~iF", Polyline.Fault.cutOff), ("_p~iF~ps|", .cutOff), ("_p~iF ~ps", .notPolyline(at: 5)),
        ("________________", .notPolyline(at: 7)), ("é", .notPolyline(at: 0)),
        ("_gjaR?", .offTheGlobe(at: 0)), ("_c`|@?_c`|@_qvoa@", .offTheGlobe(at: 6)),
    ])
    func noLine(_ text: String, _ fault: Polyline.Fault) {
        #expect(throws: fault) { try Polyline.decode(text) }
    }

    @Test func linesComeBackAndNothingLeavesTheGlobe() throws {
        for seed in 0..<UInt64(1_500) {
            var chance = SeededChance(seed: seed)
            let decimals = chance.once(in: 2) ? 5 : 6
            let step = decimals == 5 ? Int64(100) : 10
            let points = (0..<chance.below(20)).map { _ in
                Position(
                    latitude: Int32((chance.below(1_800_000_001) - 900_000_000) / step * step),
                    longitude: Int32((chance.below(3_600_000_001) - 1_800_000_000) / step * step))
            }
            let text = Polyline.encode(points, decimals: decimals)
            #expect(try Polyline.decode(text, decimals: decimals) == points, "seed \(seed)")
            var bytes = Array(text.utf8)
            if !bytes.isEmpty { bytes[chance.index(bytes.count)] = UInt8(63 + chance.below(64)) }
            for point in (try? Polyline.decode(String(decoding: bytes, as: UTF8.self), decimals: decimals)) ?? [] {
                #expect(point.latitude.magnitude <= 900_000_000 && point.longitude.magnitude <= 1_800_000_000)
            }
        }
        #expect(throws: Polyline.Fault.tooMany(most: 2)) { try Polyline.decode("??????", pointsMax: 2) }
    }

    private func table(_ text: String, _ rows: Int, _ columns: Int) throws -> OSRM.Table {
        try OSRM.table(Array(text.utf8), sources: rows, destinations: columns)
    }

    @Test func aTable() throws {
        let read = try table(
            #"{"code":"Ok","durations":[[0,12.34],[null,1e9]],"distances":[[0,100.6],[null,5]]}"#, 2, 2)
        #expect(
            read.legs == [
                OSRM.Leg(durationMs: 0, distanceM: 0), OSRM.Leg(durationMs: 12_340, distanceM: 101), nil, nil,
            ])
        #expect(read.impossible == 1)
    }

    @Test(arguments: [
        #"{"code":"Ok"}"#, #"{"code":"Ok","durations":[[1]],"distances":[[1],[2]]}"#,
        #"{"code":"Ok","durations":[[1,2]],"distances":[[1,2]]}"#, #"{"durations":[[1]],"distances":[[1]]}"#,
        #"{"code":"Ok","durations":1,"distances":[[1]]}"#, "[]", "",
    ])
    func noTable(_ text: String) { #expect(throws: OSRM.Fault.self) { try table(text, 1, 1) } }

    @Test func whatARefusalSaysIsAWordOrNothing() {
        #expect(throws: OSRM.Fault.refused(code: "NoSegment")) { try table(#"{"code":"NoSegment"}"#, 1, 1) }
        #expect(throws: OSRM.Fault.refused(code: "without a reason")) { try table(#"{"code":"a\nb <x>"}"#, 1, 1) }
    }

    @Test(arguments: [
        (#"{"code":"Ok","durations":[[1]],"distances":[[100000]]}"#, true),  // faster than anything on a road
        (#"{"code":"Ok","durations":[[-1]],"distances":[[1]]}"#, true),
        (
            #"{"code":"Ok","durations":[[10]],"distances":[[100]],"sources":[{"distance":4000}],"destinations":[{"distance":1}]}"#,
            true
        ),
        (
            #"{"code":"Ok","durations":[[10]],"distances":[[100]],"sources":[{"distance":400}],"destinations":[{}]}"#,
            false
        ),
    ])
    func impossible(_ text: String, _ isImpossible: Bool) throws {
        #expect(try table(text, 1, 1).impossible == (isImpossible ? 1 : 0))
        #expect(try (table(text, 1, 1).legs[0] == nil) == isImpossible)
    }

    @Test func placesOfAGeocoder() throws {
        let body =
            #"[{"lat":"x","lon":"1","display_name":"a"},{"lat":"52.5","lon":"-1.25","display_name":"b\u0000\u202e"}]"#
        // A NUL cannot be kept: the whole text is refused.
        #expect(throws: Nominatim.Fault.self) { try Nominatim.places(Array(body.utf8)) }
        let good = try Nominatim.places(Array(body.replacing(#"\u0000"#, with: "").utf8))
        #expect(good == [Nominatim.Place(position: Position(text: "52.5,-1.25")!, label: "b")])
        #expect(try Nominatim.places(Array("[]".utf8)).isEmpty)
        #expect(try Nominatim.reverse(Array(#"{"error":"Unable to geocode"}"#.utf8)) == nil)
        let long = #"{"lat":1,"lon":2,"display_name":"\#(String(repeating: "é", count: 9_000))"}"#
        #expect(try Nominatim.reverse(Array(long.utf8))!.label.utf8.count == Nominatim.labelBytesMax)
    }
}
