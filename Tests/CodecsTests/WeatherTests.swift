import Basics
import Codecs
import Fleet
import Formats
import Foundation
import SimKit
import Testing

struct WeatherTests {
    static let hasSamples = Repository.hasShared("weather-samples")

    private func sample(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Repository.shared.appending(path: "weather-samples/\(name)")))
    }

    @Test(.enabled(if: Self.hasSamples, "put the project's ../shared beside the checkout"))
    func recordedAnswersOfOpenWeatherMap() throws {
        let now = try OpenWeatherMap.hours(sample("openweathermap/observation.json"))
        #expect(now.map(\.ts) == [1_378_895_177_000])
        #expect(
            now[0].thousandths == [
                .temperature: 15_290, .windSpeed: 1_540, .windGust: 2_570, .windDirection: 31_000, .cloudCover: 92_000,
                .humidity: 75_000, .pressure: 1_022_000, .condition: 804_000, .precipitation: 0,
            ])
        let call = try OpenWeatherMap.hours(sample("openweathermap/one_call.json"))
        #expect(call.map(\.ts) == [1_586_001_851_000, 1_586_001_600_000])
        #expect(call[0].thousandths[.precipitation] == 1_020)
        #expect(call[1].thousandths[.windSpeed] == 4_880)
        // Broken by its author in the weather's list only: what can be read is, and rain is not made up.
        let broken = try OpenWeatherMap.hours(sample("openweathermap/observation_malformed.json.txt"))
        #expect(broken[0].thousandths[.temperature] == 15_290 && broken[0].thousandths[.precipitation] == nil)
        for name in ["observation_not_found", "internal_server_error", "city_weather_history_not_found"] {
            #expect(throws: WeatherFault.refused) { try OpenWeatherMap.hours(sample("openweathermap/\(name).json")) }
        }
        #expect(throws: WeatherFault.self) { try OpenWeatherMap.hours(sample("openweathermap/search_results.json")) }
    }

    @Test(.enabled(if: Self.hasSamples, "put the project's ../shared beside the checkout"))
    func recordedAnswersOfOpenMeteo() throws {
        let now = try OpenMeteo.hours(sample("open-meteo/forecast_current_trimmed.json"))
        #expect(now.map(\.ts) == [UTC.parse("2026-10-03T10:30:00Z")!])
        #expect(
            now[0].thousandths == [
                .temperature: 17_700, .windSpeed: 1_000, .windGust: 3_306, .windDirection: 259_000, .cloudCover: 73_000,
                .precipitation: 0, .humidity: 66_000, .pressure: 1_030_400, .condition: 2_000,
            ])
        let past = try OpenMeteo.hours(sample("open-meteo/historical_weather.json"))
        #expect(past.map(\.ts) == (0..<3).map { UTC.parse("1953-01-30T22:00:00Z")! + $0 * 3_600_000 })
        #expect(past.map { $0.thousandths[.windSpeed] } == [6_444, 6_583, 6_889])
    }

    /// A year of New York's hours in °F, mph and inches, as a service of other units would send them; converted back by
    /// hand with the definitions of the units.
    @Test(.enabled(if: Self.hasSamples, "put the project's ../shared beside the checkout"))
    func aYearInOtherUnits() throws {
        let lines = String(decoding: try sample("hourly_jfk_2013.csv"), as: UTF8.self).split(separator: "\n")
            .dropFirst()
        var seen = 0
        for line in lines {
            let columns = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard let fahrenheit = Double(columns[5]), let mph = Double(columns[9]) else { continue }
            let body = """
                {"hourly_units":{"time":"iso8601","temperature_2m":"°F","wind_speed_10m":"mp/h"},"hourly":
                {"time":["\(columns[14].prefix(16))"],"temperature_2m":[\(fahrenheit)],"wind_speed_10m":[\(mph)]}}
                """
            let hour = try OpenMeteo.hours(Array(body.utf8))[0]
            #expect(UTC.text(hour.ts) == columns[14])
            let (celsius, speed) = ((fahrenheit - 32) / 1.8, mph * 0.44704)
            #expect(abs(Double(hour.thousandths[.temperature]!) / 1_000 - celsius) < 0.000_51)
            // A gust of 1,048 mph in the source is a typing error that the column of winds does not have.
            #expect(abs(Double(hour.thousandths[.windSpeed] ?? -1) / 1_000 - speed) < 0.000_51)
            seen += 1
        }
        #expect(seen > 8_000)
    }

    @Test(arguments: ["km/h", "m/s", "mp/h", "mph", "kn"]) func speedsOfEveryUnit(_ unit: String) throws {
        let perMetre = ["km/h": 3.6, "m/s": 1, "mp/h": 2.236_936_292, "mph": 2.236_936_292, "kn": 1.943_844_492][unit]!
        for speed in stride(from: 0.0, to: 114, by: 0.73) {
            let body = """
                {"current_units":{"time":"unixtime","wind_speed_10m":"\(unit)"},
                "current":{"time":1700000000,"wind_speed_10m":\(speed * perMetre)}}
                """
            let value = try OpenMeteo.hours(Array(body.utf8))[0].thousandths[.windSpeed]
            #expect(abs(Double(value ?? -1) / 1_000 - speed) < 0.000_6)
        }
    }

    /// Cut off, flipped and put together of pieces: an error or hours, never a crash or a value that cannot be.
    @Test func whateverBytesComeNothingImpossibleComesOut() {
        let documents = [
            #"{"main":{"temp":288.4,"pressure":1022,"humidity":75},"wind":{"speed":1.5,"deg":31},"clouds":{"all":92},"weather":[{"id":804}],"dt":1378895177}"#,
            #"{"data":[{"dt":1586390400,"temp":278.4,"wind_speed":9.8,"rain":{"1h":1.2},"snow":{"1h":"0.3"},"weather":[{"id":1}]}]}"#,
            #"{"utc_offset_seconds":7200,"hourly_units":{"time":"iso8601","temperature_2m":"°C"},"hourly":{"time":["2026-01-01T00:00"],"temperature_2m":[-3.5]}}"#,
        ]
        let rounds = Length.count(3_000, long: 300_000)
        var answered = 0
        for seed in 0..<UInt64(rounds) {
            var chance = SeededChance(seed: seed)
            var bytes = Array(documents[Int(seed) % documents.count].utf8)
            for _ in 0..<chance.below(4) {
                let at = chance.index(bytes.count)
                switch chance.below(3) {
                case 0: bytes[at] = UInt8(truncatingIfNeeded: chance.below(256))
                case 1: bytes[at] = UInt8(0x30 + chance.below(10))
                default: bytes.insert(UInt8(0x30 + chance.below(10)), at: at)
                }
            }
            if chance.once(in: 8) { bytes.removeLast(chance.index(bytes.count)) }
            let readings = [try? OpenWeatherMap.hours(bytes), try? OpenMeteo.hours(bytes)].compactMap { $0 }.joined()
            for hour in readings {
                answered += 1
                #expect(hour.ts < UTC.plausible.upperBound)
                let temperature = hour.thousandths[.temperature] ?? 0
                #expect((-95_000...60_000).contains(temperature), "seed \(seed)")
                #expect((0...115_000).contains(hour.thousandths[.windSpeed] ?? 0), "seed \(seed)")
            }
        }
        #expect(answered > rounds / 10)
    }

    @Test func whatIsWrittenIsReadBackAndUnknownKeysAreLeftAlone() {
        for seed in 0..<UInt64(500) {
            var chance = SeededChance(seed: seed)
            let place = chance.position()
            var hour = WeatherHour(ts: chance.below(2_000_000_000_000))
            for quantity in WeatherQuantity.allCases where !chance.once(in: 3) {
                hour.thousandths[quantity] = quantity == .pressure ? 1_013_250 : chance.below(60_000)
            }
            if chance.once(in: 2) {
                hour.dropped = [DroppedWeather(.windGust, .unitUnknown), DroppedWeather(.humidity, .impossible)]
            }
            let answer = WeatherAnswer(
                source: "open-meteo", model: "archive", cell: WeatherCell(place, sizeMilliDeg: 100),
                fetchedMs: chance.below(2_000_000_000_000), hour: hour)
            let fields = answer.fields + [("later", .text("x"))]
            #expect(WeatherAnswer(json: Array(JSONValue.object(fields).rendered().utf8)) == answer, "seed \(seed)")
        }
        #expect(WeatherAnswer(json: Array("{}".utf8)) == nil)
    }

    @Test func theMiddleOfACellIsInItAndOnTheGlobe() {
        for seed in 0..<UInt64(3_000) {
            var chance = SeededChance(seed: seed)
            let size = Int32(10 + chance.below(4_991))
            let place = chance.position()
            let cell = WeatherCell(place, sizeMilliDeg: size)
            #expect(WeatherCell(cell.middle, sizeMilliDeg: size) == cell, "seed \(seed)")
            #expect(cell.middle.latitude.magnitude < 900_000_000 && cell.middle.longitude.magnitude < 1_800_000_000)
            let half = Int64(size) * 5_000
            #expect((Int64(cell.middle.latitude) - Int64(place.latitude)).magnitude <= half)
        }
    }
}
