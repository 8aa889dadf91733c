import Basics
import ExternalServices
import Fleet
import SimKit
import Testing

struct TravelTests {
    @Test(arguments: 0..<UInt64(300)) func piecesCoverWhatIsMissingOnceAndFit(_ seed: UInt64) {
        var chance = SeededChance(seed: seed)
        let (rows, columns) = (Int(chance.below(14)), Int(1 + chance.below(14)))
        let most = Int(2 + chance.below(12))
        let missing = (0..<rows * columns).map { _ in !chance.once(in: 3) }
        var asked = [Int](repeating: 0, count: missing.count)
        for block in TravelBlocks(missing: missing, sources: rows, destinations: columns, coordinatesMax: most).blocks {
            #expect(block.sources.count + block.destinations.count <= most && !block.sources.isEmpty)
            for row in block.sources { for column in block.destinations { asked[row * columns + column] += 1 } }
        }
        for (index, isMissing) in missing.enumerated() {
            #expect(isMissing ? asked[index] == 1 : asked[index] <= 1, "seed \(seed)")
        }
    }

    @Test func theHourOfTheWeekFollowsTheClocksOfTheZone() throws {
        let (utc, york) = (try #require(TimeZoneName("UTC")), try #require(TimeZoneName("America/New_York")))
        let monday = try #require(UTC.parse("2026-11-16T00:30:00Z"))
        #expect(utc.weekHour(monday) == 0)
        #expect(york.weekHour(monday) == 6 * 24 + 19)
        // Before and after the clocks of New York went back (2026-11-01 06:00 UTC).
        #expect(york.weekHour(try #require(UTC.parse("2026-11-01T05:59:59Z"))) == 6 * 24 + 1)
        #expect(york.weekHour(try #require(UTC.parse("2026-11-01T06:00:00Z"))) == 6 * 24 + 1)
        #expect(utc.weekHour(-1) == 2 * 24 + 23, "the last hour of Wednesday, 1969-12-31")
        #expect(TimeZoneName("GMT+5") == nil && TimeZoneName("") == nil)
    }

    @Test func coordinatesDecideAndNobodyIsAsked() throws {
        // Neither the database nor the service is there: whoever asks fails.
        let service = ServiceSettings(
            address: try ServiceAddress("https://127.0.0.1:1", setting: "geocoder.url"), limits: try CallLimits("1/s"),
            caFile: nil, timeoutMs: 200)
        let nowhere = SharedDatabase(conninfo: "host=127.0.0.1 port=1 dbname=none connect_timeout=2")
        let geocoder = try Geocoder(GeocoderSettings(service: service), database: nowhere)
        let place = Position(latitude: 1, longitude: 2)
        let found = try geocoder.place(address: "2121 I Street NW", position: place, nowMs: 0)
        #expect(found == GeocodedPlace(position: place, label: "2121 I Street NW", method: .given))
        #expect(throws: ServiceError.self) { try geocoder.place(address: "2121 I Street NW", position: nil, nowMs: 0) }
    }

    @Test(arguments: [
        "http://127.0.0.1.example", "http://192.168.0.1", "http://[fe80::1]", "ftp://127.0.0.1", "https://a b", "",
        "https://a@b", "https://service.example/?q", "https://service.example/#f", "http://127.0.0.256", "http://127.1",
    ])
    func addressesThatAreRefused(_ text: String) {
        #expect(throws: ServiceAddress.Fault.self) { try ServiceAddress(text, setting: "travel.url") }
    }

    @Test(arguments: [
        "https://service.example/osrm/", "http://127.0.0.1:5000", "http://localhost:5000", "http://[::1]:5000",
    ])
    func addressesThatAreTaken(_ text: String) throws {
        let address = try ServiceAddress(text, setting: "travel.url")
        #expect(!address.base.hasSuffix("/") && text.hasSuffix(address.name + (text.hasSuffix("/") ? "/" : "")))
    }
}
