internal import Basics
internal import Formats

/// Answers of Open-Meteo-compatible services (forecast and archive), whose `hourly_units` decide: a value in a unit that is
/// not known is dropped, whatever was asked for.
public enum OpenMeteo {
    /// The columns to ask for.
    public static let columns: [(quantity: WeatherQuantity, name: String)] = [
        (.temperature, "temperature_2m"), (.windSpeed, "wind_speed_10m"), (.windGust, "wind_gusts_10m"),
        (.windDirection, "wind_direction_10m"), (.cloudCover, "cloud_cover"), (.precipitation, "precipitation"),
        (.humidity, "relative_humidity_2m"), (.pressure, "pressure_msl"), (.condition, "weather_code"),
    ]

    /// The hours of the block `hourly`, or the one of `current`, in the order of the answer.
    public static func hours(_ body: [UInt8], hoursMax: Int = 2_000) throws(WeatherFault) -> [WeatherHour] {
        let tree: JSONValue
        do throws(JSONValue.Fault) { tree = try JSONValue(body) } catch { throw .notJSON(error) }
        if case .bool(true)? = tree["error"] { throw .refused }
        let offsetMs = (tree["utc_offset_seconds"]?.integer ?? 0) * 1_000
        guard offsetMs.magnitude <= 86_400_000 else { throw .missing("utc_offset_seconds") }
        if let hourly = tree["hourly"], let units = tree["hourly_units"] {
            guard let times = hourly["time"]?.items, times.count <= hoursMax else { throw .missing("hourly.time") }
            let values = columns.map { hourly[$0.name]?.items }
            let hours = times.indices.compactMap { index in
                hour(times[index], units, offsetMs) { column in
                    values[column].flatMap { $0.indices.contains(index) ? $0[index] : nil }
                }
            }
            guard !hours.isEmpty else { throw .missing("hourly.time") }
            return hours
        }
        guard let current = tree["current"], let units = tree["current_units"], let time = current["time"],
            let hour = hour(time, units, offsetMs, { current[columns[$0].name] })
        else { throw .missing("hourly and hourly_units") }
        return [hour]
    }

    private static func hour(
        _ time: JSONValue, _ units: JSONValue, _ offsetMs: Int64, _ value: (Int) -> JSONValue?
    ) -> WeatherHour? {
        guard let ts = ts(time, unit: units["time"]?.text, offsetMs) else { return nil }
        var hour = WeatherHour(ts: ts)
        for (index, column) in columns.enumerated() {
            guard let given = value(index), !given.isNull else { continue }
            guard let unit = units[column.name]?.text, let (scale, offset) = conversion(column.quantity, unit) else {
                hour.dropped.append(DroppedWeather(column.quantity, .unitUnknown))
                continue
            }
            hour.set(column.quantity, given, scale: scale, offset: offset)
        }
        return hour
    }

    /// `unixtime` in seconds, or ISO 8601 without a zone, which is local by `utc_offset_seconds`.
    private static func ts(_ time: JSONValue, unit: String?, _ offsetMs: Int64) -> Int64? {
        switch unit {
        case "unixtime":
            guard let seconds = time.integer, seconds.magnitude < 1 << 40 else { return nil }
            return past(seconds * 1_000)
        case "iso8601":
            guard let text = time.text, text.utf8.count == 16, let local = UTC.parse(text + ":00Z") else { return nil }
            return past(local - offsetMs)
        default: return nil
        }
    }

    /// The archive begins in 1940, long before any reading.
    private static func past(_ ts: Int64) -> Int64? {
        (-1_000_000_000_000..<UTC.plausible.upperBound).contains(ts) ? ts : nil
    }

    /// Converts a value of the unit to ours: value × scale + offset. 1 mile is 1609.344 m, 1 nautical mile 1852 m, 1 inch 25.4 mm (all
    /// exact by definition).
    static func conversion(_ quantity: WeatherQuantity, _ unit: String) -> (scale: Double, offset: Double)? {
        switch (quantity, unit) {
        case (.temperature, "°C"): (1, 0)
        case (.temperature, "°F"): (5.0 / 9, -160.0 / 9)
        case (.windSpeed, "m/s"), (.windGust, "m/s"): (1, 0)
        case (.windSpeed, "km/h"), (.windGust, "km/h"): (1 / 3.6, 0)
        case (.windSpeed, "mp/h"), (.windGust, "mp/h"), (.windSpeed, "mph"), (.windGust, "mph"): (1_609.344 / 3_600, 0)
        case (.windSpeed, "kn"), (.windGust, "kn"): (1_852.0 / 3_600, 0)
        case (.windDirection, "°"): (1, 0)
        case (.cloudCover, "%"), (.humidity, "%"): (1, 0)
        case (.precipitation, "mm"): (1, 0)
        case (.precipitation, "inch"): (25.4, 0)
        case (.pressure, "hPa"): (1, 0)
        case (.condition, "wmo code"): (1, 0)
        default: nil
        }
    }
}
