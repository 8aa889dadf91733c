import Fleet
import Reports
import Testing

struct TripExportTests {
    private func reading(_ seconds: Int64, _ latitude: Int32?, speed: Int32?) -> CarReading {
        var reading = CarReading(ts: 1_519_154_607_000 + seconds * 1_000)
        (reading[.latitude], reading[.longitude], reading[.speed]) = (latitude, latitude.map { _ in 91_234_567 }, speed)
        return reading
    }

    private var export: TripExport {
        TripExport(
            vehicle: "car-1",
            readings: [
                reading(0, 485_000_000, speed: 36_000), reading(1, nil, speed: 37_000),
                reading(2, 485_000_900, speed: nil), reading(60, 485_100_000, speed: 0),
            ], gapMs: 10_000)
    }

    @Test func csvHasARowAReadingAndAColumnASignal() {
        #expect(
            export.csv() == """
                time,speed_kmh,latitude_deg,longitude_deg\r
                2018-02-20T19:23:27Z,36,48.5,9.1234567\r
                2018-02-20T19:23:28Z,37,,\r
                2018-02-20T19:23:29Z,,48.50009,9.1234567\r
                2018-02-20T19:24:27Z,0,48.51,9.1234567\r

                """)
    }

    @Test func gpxHasASegmentAStretchWithoutHoles() throws {
        let gpx = try export.gpx()
        #expect(gpx.split(separator: "<trkseg>").count == 3)
        #expect(gpx.contains(#"<trkpt lat="48.5" lon="9.1234567"><time>2018-02-20T19:23:27Z</time>"#))
        #expect(gpx.contains("<gpxtpx:speed>10</gpxtpx:speed>"))
        #expect(gpx.split(separator: "<trkpt").count == 4)
    }

    @Test func withoutPositionsThereIsNoTrack() {
        let export = TripExport(vehicle: "car-1", readings: [reading(0, nil, speed: 1)], gapMs: 10_000)
        #expect(throws: TripExport.Fault.self) { try export.gpx() }
    }
}
