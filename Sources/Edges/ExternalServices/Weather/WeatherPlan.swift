internal import Basics
internal import Codecs
internal import Fleet

/// The provider of weather data.
package enum WeatherProvider: String, CaseIterable, Sendable {
    case openWeatherMap = "openweathermap"
    case openMeteo = "open-meteo"

    /// The addresses for now and for the past; the same where there is one.
    package var addresses: (now: String, past: String) {
        switch self {
        case .openWeatherMap: ("https://api.openweathermap.org", "https://api.openweathermap.org")
        case .openMeteo: ("https://api.open-meteo.com", "https://archive-api.open-meteo.com")
        }
    }

    /// Its free tier. One Call is free for 1,000 calls a day; Open-Meteo's is for non-commercial use.
    package var freeLimits: String {
        switch self {
        case .openWeatherMap: "60/min, 1000/day, 1000000/month"
        case .openMeteo: "600/min, 5000/h, 10000/day"
        }
    }
}

/// Decides which request gets the weather of an hour. Pure.
struct WeatherPlan: Equatable {
    enum Endpoint: Equatable { case current, timeMachine, forecast, archive }

    static let hourMs: Int64 = 3_600_000
    /// The archive (ERA5) is about five days behind; the forecast service goes back further than that.
    private static let archiveMs: Int64 = 7 * UTC.msPerDay
    private static let aheadMs: Int64 = 4 * UTC.msPerDay
    /// ERA5 begins in 1940, the time machine in 1979.
    private static let firstMs: Int64 = -946_771_200_000
    private static let firstTimeMachineMs: Int64 = 283_996_800_000

    let endpoint: Endpoint
    let path: String
    var isPast: Bool { endpoint == .timeMachine || endpoint == .archive }

    var model: String {
        switch endpoint {
        case .current: "current"
        case .timeMachine: "timemachine"
        case .forecast: "forecast"
        case .archive: "archive"
        }
    }

    /// Nil: it knows nothing of that time.
    init?(_ provider: WeatherProvider, _ cell: WeatherCell, hourMs: Int64, nowMs: Int64) {
        guard hourMs <= nowMs + WeatherPlan.aheadMs else { return nil }
        let (latitude, longitude) = (
            Decimal.text(Int64(cell.middle.latitude), decimals: 7),
            Decimal.text(Int64(cell.middle.longitude), decimals: 7)
        )
        switch provider {
        case .openWeatherMap:
            guard hourMs >= WeatherPlan.firstTimeMachineMs else { return nil }
            let place = "lat=\(latitude)&lon=\(longitude)&units=standard"
            if (hourMs..<hourMs + WeatherPlan.hourMs).contains(nowMs) {
                endpoint = .current
                path = "/data/2.5/weather?" + place
            } else {
                endpoint = .timeMachine
                path = "/data/3.0/onecall/timemachine?\(place)&dt=\(hourMs / 1_000)"
            }
        case .openMeteo:
            guard hourMs >= WeatherPlan.firstMs else { return nil }
            let isOld = hourMs < nowMs - WeatherPlan.archiveMs
            endpoint = isOld ? .archive : .forecast
            let day = UTC.dateText(hourMs)
            path =
                "/v1/\(isOld ? "archive" : "forecast")?latitude=\(latitude)&longitude=\(longitude)"
                + "&hourly=" + OpenMeteo.columns.map(\.name).joined(separator: ",")
                + "&start_date=\(day)&end_date=\(day)&timezone=GMT&timeformat=unixtime&wind_speed_unit=ms"
        }
    }

    /// The hours of an answer that are worth keeping: of a whole day all, else the one that is nearest to the question.
    func kept(_ hours: [WeatherHour], hourMs: Int64) -> [(hourMs: Int64, hour: WeatherHour)] {
        switch endpoint {
        case .forecast, .archive:
            return hours.filter { $0.ts % WeatherPlan.hourMs == 0 && !$0.thousandths.isEmpty }.map { ($0.ts, $0) }
        case .current, .timeMachine:
            func distance(_ hour: WeatherHour) -> UInt64 { (hour.ts - hourMs).magnitude }
            let near = hours.filter { !$0.thousandths.isEmpty && distance($0) <= WeatherAnswer.distanceMsMax }
            guard let best = near.min(by: { distance($0) < distance($1) }) else { return [] }
            return [(hourMs, best)]
        }
    }

    /// How long an answer is kept: an hour, or for ever when the hour was over.
    static func keptUntilMs(hourMs: Int64, fetchedMs: Int64) -> Int64 {
        fetchedMs >= hourMs + WeatherPlan.hourMs ? fetchedMs + 366 * UTC.msPerDay : fetchedMs + WeatherPlan.hourMs
    }
}
