import ExternalServices
import Fleet
import Telemetry
import Testing

struct MetricsTests {
    @Test func whatBecameOfQuestionsIsCounted() throws {
        let metrics = Metrics()
        var service = ServiceSettings(
            address: try ServiceAddress("https://127.0.0.1:1", setting: "travel.url"), limits: try CallLimits(""),
            caFile: nil, timeoutMs: 200)
        service.metrics = ExternalServiceMetrics(metrics)
        var settings = TravelSettings(
            speeds: try TravelSpeeds("0-24 36", detourThousandths: 1_000), zone: try #require(TimeZoneName("UTC")))
        settings.service = service
        let nowhere = SharedDatabase(conninfo: "host=127.0.0.1 port=1 dbname=none connect_timeout=2")
        let times = try TravelService(settings, database: nowhere)
        let (a, b) = (Position(latitude: 0, longitude: 0), Position(latitude: 0, longitude: 1_000_000))
        let table = times.table(from: [a], to: [a, b], atMs: 0, nowMs: 0)
        // A tenth of a degree of the equator at 10 m/s: R·π/1800.
        #expect(table.legs.map(\.distanceM) == [0, 11_120] && table.legs.map(\.durationMs) == [0, 1_111_951])
        #expect(table.legs.allSatisfy { $0.method == .distance } && table.fault?.reason == .database)
        #expect(times.table(from: [], to: [a], atMs: 0, nowMs: 0).legs.isEmpty)
        service.metrics?.answered("geocoder", dropped: 2)
        service.metrics?.failed("travel", .limit)
        let text = metrics.text()
        #expect(text.contains(#"drover_outside_questions_total{service="travel",outcome="limit"} 1"#))
        #expect(text.contains(#"drover_outside_values_dropped_total{service="geocoder"} 2"#))
    }
}
