import Testing
import Tours

@Suite struct GPXTrackTests {
    private func gpx(_ inner: String) -> [UInt8] {
        Array(
            "<?xml version=\"1.0\"?><gpx version=\"1.1\" xmlns=\"http://www.topografix.com/GPX/1/1\">\(inner)</gpx>"
                .utf8)
    }

    private func point(_ name: String, _ latitude: String, _ longitude: String) -> String {
        "<\(name) lat=\"\(latitude)\" lon=\"\(longitude)\"><ele>400</ele><time>2026-05-01T10:00:00Z</time></\(name)>"
    }

    @Test func aTrackInSegments() throws {
        let track = try GPXTrack(
            gpx(
                "<wpt lat=\"1\" lon=\"1\"/><trk><name>Anna's walk</name><trkseg>\(point("trkpt", "47.9", "8.0"))\(point("trkpt", "47.9", "8.0"))"
                    + "\(point("trkpt", "47.91", "8.02"))</trkseg><trkseg>\(point("trkpt", "47.95", "8.01"))</trkseg></trk>"
            ))
        #expect(track.places == [place(47.9, 8), place(47.91, 8.02), place(47.95, 8.01)] && track.points == 3)
    }

    @Test func aRouteWhereThereIsNoTrack() throws {
        let track = try GPXTrack(gpx("<rte>\(point("rtept", "-1.5", "179.5"))\(point("rtept", "-1.25", "179"))</rte>"))
        #expect(track.places == [place(-1.5, 179.5), place(-1.25, 179)])
    }

    @Test func pointsOnALineAreLeftOut() throws {
        let line = (0...5_000).map { point("trkpt", "47.9", "8.\(100_000 + $0)") }.joined()
        #expect(
            try GPXTrack(gpx("<trk><trkseg>\(line)</trkseg></trk>")).places == [place(47.9, 8.1), place(47.9, 8.105)])
        // A zigzag of 111 m keeps what it may have.
        let zigzag = (0..<5_000).map { point("trkpt", $0 % 2 == 0 ? "47.9" : "47.901", "8.\(100_000 + $0 * 10)") }
            .joined()
        let kept = try GPXTrack(gpx("<trk><trkseg>\(zigzag)</trkseg></trk>"))
        #expect((2...Tour.trackMax).contains(kept.places.count) && kept.points == 5_000)
    }

    @Test(arguments: [
        "", "<kml/>", #"<gpx><trk><trkseg><trkpt lat="91" lon="0"/><trkpt lat="1" lon="0"/></trkseg></trk></gpx>"#,
        "<gpx/>", #"<gpx><trk><trkseg><trkpt lat="1" lon="1"/></trkseg></trk></gpx>"#, "<gpx><trk>",
        "<!DOCTYPE gpx [<!ENTITY a \"b\">]><gpx>&a;</gpx>",
        #"<gpx><trk><trkseg><trkpt lat="1,5" lon="1"/></trkseg></trk></gpx>"#,
    ])
    func whatIsNoTrackIsRefused(_ text: String) {
        #expect(throws: GPXTrack.Fault.self) { try GPXTrack(Array(text.utf8)) }
    }
}
