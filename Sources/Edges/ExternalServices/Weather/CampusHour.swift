package import Codecs
package import Fleet
internal import Formats

/// A campus's surge and speed in one hour, by its settings, the time and the weather. Pure.
package struct CampusHour: Sendable {
    private static let hourMs: Int64 = 3_600_000

    private let settings: CampusSettings
    private let zone: TimeZoneName
    private let speeds: DayHours?
    private let hours: DayHours?
    private let rain: StepTable?
    private let snow: StepTable?
    private let wind: StepTable?

    /// - Throws: a table that cannot be read; one on the log can.
    package init(_ settings: CampusSettings, zone: TimeZoneName) throws(DayHours.Fault) {
        func hours(_ key: CampusSettings.TableKey) throws(DayHours.Fault) -> DayHours? {
            guard let text = settings.tables[key] else { return nil }
            return try DayHours(text, key.range)
        }
        func steps(_ key: CampusSettings.TableKey) throws(DayHours.Fault) -> StepTable? {
            guard let text = settings.tables[key] else { return nil }
            return try StepTable(text, key.range)
        }
        self.settings = settings
        self.zone = zone
        speeds = try hours(.speedsKmh)
        self.hours = try hours(.surgeHours)
        rain = try steps(.surgeRain)
        snow = try steps(.surgeSnow)
        wind = try steps(.surgeWind)
    }

    package var asksWeather: Bool { rain != nil || snow != nil || wind != nil }
    package var saysNothing: Bool { speeds == nil && hours == nil && !asksWeather }

    /// The middle of the smallest box around the campus.
    package var middle: Position {
        func middle(_ values: [Int32]) -> Int32 { Int32((Int64(values.min()!) + Int64(values.max()!)) / 2) }
        return Position(
            latitude: middle(settings.boundary.map(\.latitude)), longitude: middle(settings.boundary.map(\.longitude)))
    }

    /// - Parameter weather: nil: not known; time of day alone counts.
    package func record(atMs: Int64, weather: WeatherAnswer?) -> RideRecord.Hour {
        let localMs = atMs + zone.offsetMs(atMs)
        let sinceMs = ((localMs % CampusHour.hourMs) + CampusHour.hourMs) % CampusHour.hourMs
        let hour = zone.weekHour(atMs) % 24
        var surge = hours?.thousandths[hour] ?? 1_000
        if let weather, asksWeather {
            surge = surge * fall(weather) / 1_000
            if let wind, let speed = weather.hour.thousandths[.windSpeed] {
                surge = surge * wind.number(at: speed) / 1_000
            }
        }
        return RideRecord.Hour(
            startMs: atMs - sinceMs, surge: min(surge, settings[.surgeMax]), speedKmh: speeds?.thousandths[hour],
            weather: asksWeather ? weather.map { JSONValue.object($0.fields).rendered() } : nil)
    }

    /// Snow counts by its water, in mm/h, as rain does.
    private func fall(_ weather: WeatherAnswer) -> Int64 {
        guard let fallen = weather.hour.thousandths[.precipitation], fallen > 0 else { return 1_000 }
        return (CampusHour.isSnow(weather) ? snow : rain)?.number(at: fallen) ?? 1_000
    }

    /// WMO 4677: 71 to 77, 85 and 86; OpenWeatherMap: group 6. Without a code, what falls below half a degree is snow.
    package static func isSnow(_ weather: WeatherAnswer) -> Bool {
        guard let code = weather.hour.thousandths[.condition].map({ $0 / 1_000 }) else {
            return weather.hour.thousandths[.temperature].map { $0 <= 500 } ?? false
        }
        return weather.source == WeatherProvider.openWeatherMap.rawValue
            ? (600..<700).contains(code) : (71...77).contains(code) || code == 85 || code == 86
    }
}
