internal import Basics
internal import Formats

/// Answers of OpenWeatherMap-compatible services, asked for with `units=standard`: kelvin and m/s. The answer does not say
/// its units, so a temperature that is impossible in kelvin unmasks an answer in others, and no wind is believed then.
public enum OpenWeatherMap {
    static let kelvinOffset = -273.15

    /// The hours of a current weather document (2.5), a one-call document (2.5, 3.0: `current`, `hourly`) or a time machine's
    /// (3.0: `data`), in the order of the answer.
    public static func hours(_ body: [UInt8], hoursMax: Int = 400) throws(WeatherFault) -> [WeatherHour] {
        let tree = try parsed(body)
        if let hour = tree["main"].flatMap({ _ in current(tree) }) { return [hour] }
        let lists = ["data", "hourly"].compactMap { tree[$0]?.items }.joined()
        let hours = ([tree["current"]].compactMap { $0 } + lists.prefix(hoursMax)).compactMap(flat)
        guard !hours.isEmpty else { throw isRefusal(tree) ? .refused : .missing("main, current, hourly or data") }
        return hours
    }

    private static func parsed(_ body: [UInt8]) throws(WeatherFault) -> JSONValue {
        do throws(JSONValue.Fault) { return try JSONValue(body) } catch { throw .notJSON(error) }
    }

    /// `{"cod":"404","message":…}`; the code is a text or a number.
    private static func isRefusal(_ tree: JSONValue) -> Bool {
        tree["cod"].flatMap { $0.integer ?? $0.text.flatMap { Int64($0) } }.map { $0 != 200 } ?? false
    }

    private static func time(_ tree: JSONValue) -> Int64? {
        guard let seconds = tree["dt"]?.integer, UTC.plausible.contains(seconds &* 1_000), seconds > 0,
            seconds < 1 << 40
        else { return nil }
        return seconds * 1_000
    }

    private static func current(_ tree: JSONValue) -> WeatherHour? {
        guard let ts = time(tree) else { return nil }
        var hour = WeatherHour(ts: ts)
        let (main, wind) = (tree["main"], tree["wind"])
        decode(
            &hour, temperature: main?["temp"], speed: wind?["speed"], gust: wind?["gust"], direction: wind?["deg"])
        hour.set(.humidity, main?["humidity"])
        // The pressure at sea level, as Open-Meteo's `pressure_msl`.
        hour.set(.pressure, main?["pressure"])
        hour.set(.cloudCover, tree["clouds"]?["all"])
        rest(&hour, tree)
        return hour
    }

    private static func flat(_ tree: JSONValue) -> WeatherHour? {
        guard let ts = time(tree) else { return nil }
        var hour = WeatherHour(ts: ts)
        decode(
            &hour, temperature: tree["temp"], speed: tree["wind_speed"], gust: tree["wind_gust"],
            direction: tree["wind_deg"])
        hour.set(.humidity, tree["humidity"])
        hour.set(.pressure, tree["pressure"])
        hour.set(.cloudCover, tree["clouds"])
        rest(&hour, tree)
        return hour
    }

    private static func decode(
        _ hour: inout WeatherHour, temperature: JSONValue?, speed: JSONValue?, gust: JSONValue?, direction: JSONValue?
    ) {
        hour.set(.temperature, temperature, offset: kelvinOffset)
        hour.set(.windDirection, direction)
        if hour.dropped.contains(DroppedWeather(.temperature, .impossible)) {
            if speed != nil { hour.dropped.append(DroppedWeather(.windSpeed, .unitUnknown)) }
            if gust != nil { hour.dropped.append(DroppedWeather(.windGust, .unitUnknown)) }
            return
        }
        hour.set(.windSpeed, speed)
        hour.set(.windGust, gust)
    }

    /// Rain and snow of the last hour in millimetres of water. No entry means a dry hour only where a condition is told.
    private static func rest(_ hour: inout WeatherHour, _ tree: JSONValue) {
        let condition = tree["weather"]?[0]?["id"]
        hour.set(.condition, condition)
        let (rain, snow) = (tree["rain"]?["1h"], tree["snow"]?["1h"])
        switch (rain, snow) {
        case (nil, nil):
            guard tree["rain"] == nil, tree["snow"] == nil, condition?.integer != nil else { return }
            hour.thousandths[.precipitation] = 0
        case (let rain?, let snow?):
            guard let sum = rain.double.flatMap({ r in snow.double.map { r + $0 } }) else {
                return hour.set(.precipitation, .text(""))
            }
            hour.set(.precipitation, .number(String(sum)))
        case (let one?, nil), (nil, let one?): hour.set(.precipitation, one)
        }
    }
}
