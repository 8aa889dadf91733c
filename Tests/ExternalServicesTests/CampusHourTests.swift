import Basics
import Codecs
import ExternalServices
import Fleet
import Testing

/// What time of day and weather make of a campus.
struct CampusHourTests {
    private static let york = TimeZoneName("America/New_York")!

    private static func rule(_ tables: [CampusSettings.TableKey: String], most: Int64 = 2_000) throws -> CampusHour {
        var settings = CampusSettings(
            name: "c",
            boundary: [
                Position(latitude: 10, longitude: 20), Position(latitude: 30, longitude: 60),
                Position(latitude: 10, longitude: 60),
            ], numbers: [.surgeMax: most])
        settings.tables = tables
        return try CampusHour(settings, zone: york)
    }

    private static func weather(_ values: [WeatherQuantity: Int64], source: String = "open-meteo") -> WeatherAnswer {
        var hour = WeatherHour(ts: 1_790_000_000_000)
        hour.thousandths = values
        return WeatherAnswer(
            source: source, model: "forecast",
            cell: WeatherCell(Position(latitude: 0, longitude: 0), sizeMilliDeg: 100), fetchedMs: 1_790_000_000_000,
            hour: hour)
    }

    @Test(
        "The hours are those of the campus's clocks, over their changes too",
        arguments: [
            // Clocks of New York go from 2 to 3 on 2026-03-08 07:00 UTC, and from 2 to 1 on 2026-11-01 06:00 UTC.
            ("2026-03-08T06:59:59Z", 1, "2026-03-08T06:00:00Z"), ("2026-03-08T07:00:00Z", 3, "2026-03-08T07:00:00Z"),
            ("2026-11-01T05:30:00Z", 1, "2026-11-01T05:00:00Z"), ("2026-11-01T06:30:00Z", 1, "2026-11-01T06:00:00Z"),
            ("2026-11-01T07:00:00Z", 2, "2026-11-01T07:00:00Z"), ("2026-07-01T03:59:59Z", 23, "2026-07-01T03:00:00Z"),
        ])
    func clocks(_ at: String, _ hour: Int, _ start: String) throws {
        let speeds = (0..<24).map { "\($0)-\($0 + 1) \($0 + 10)" }.joined(separator: ", ")
        let record = try Self.rule([.speedsKmh: speeds]).record(atMs: try #require(UTC.parse(at)), weather: nil)
        #expect(record.speedKmh == Int64(hour + 10) * 1_000 && record.startMs == UTC.parse(start))
        #expect(record.surge == 1_000 && record.weather == nil)
    }

    @Test(arguments: ["Australia/Adelaide", "Asia/Kolkata", "Asia/Calcutta"])
    func halfHoursOfAZoneBeginAtHalfPast(_ zone: String) throws {
        let rule = try CampusHour(
            CampusSettings(name: "c", boundary: [Position(latitude: 0, longitude: 0)]),
            zone: #require(TimeZoneName(zone)))
        let record = rule.record(atMs: try #require(UTC.parse("2026-11-21T08:29:00Z")), weather: nil)
        #expect(record.startMs == UTC.parse("2026-11-21T07:30:00Z"))
    }

    @Test(
        "Rain or snow, times wind, times the hour, at most so much",
        arguments: [
            ([.precipitation: 0], 1_200), ([.precipitation: 600], 1_320), ([.precipitation: 3_000], 1_500),
            ([.precipitation: 600, .condition: 73_000], 1_560),
            ([.precipitation: 600, .condition: 61_000, .temperature: -5_000], 1_320),
            ([.precipitation: 600, .temperature: 400], 1_560), ([.windSpeed: 9_999], 1_200),
            ([.windSpeed: 10_000], 1_260),
            ([.precipitation: 3_000, .windSpeed: 20_000], 1_600), ([:], 1_200),
        ] as [([WeatherQuantity: Int64], Int64)])
    func factors(_ values: [WeatherQuantity: Int64], _ surge: Int64) throws {
        let rule = try Self.rule(
            [
                .surgeHours: "0-24 1.2", .surgeRain: "0.5 1.1, 2.5 1.25", .surgeSnow: "0.1 1.3",
                .surgeWind: "10 1.05, 17 1.5",
            ], most: 1_600)
        let weather = Self.weather(values)
        let record = rule.record(atMs: 1_790_000_000_000, weather: weather)
        #expect(record.surge == surge)
        #expect(WeatherAnswer(json: Array(try #require(record.weather).utf8)) == weather)
    }

    @Test func theCodesOfAServiceAreItsOwn() {
        // 601 is snow with OpenWeatherMap; 73 is, with WMO.
        #expect(CampusHour.isSnow(Self.weather([.condition: 601_000], source: "openweathermap")))
        #expect(!CampusHour.isSnow(Self.weather([.condition: 601_000])))
        #expect(CampusHour.isSnow(Self.weather([.condition: 86_000])))
        #expect(!CampusHour.isSnow(Self.weather([.condition: 73_000], source: "openweathermap")))
    }

    @Test func withoutWeatherTimeOfDayAloneCounts() throws {
        let rule = try Self.rule([.surgeHours: "0-24 1.2", .surgeRain: "0 1.5"])
        let record = rule.record(atMs: 1_790_000_000_000, weather: nil)
        #expect(record.surge == 1_200 && record.weather == nil && rule.asksWeather && !rule.saysNothing)
        #expect(try Self.rule([:]).saysNothing)
        #expect(rule.middle == Position(latitude: 20, longitude: 40))
    }
}
