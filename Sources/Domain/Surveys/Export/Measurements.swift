internal import Basics
internal import Codecs
internal import Formats

/// Measurements of a walk and its sightings, as lines of `DarwinCore.measurements`. A weather service's hour belongs to the walk, once:
/// the sightings' times tell which hour is theirs.
package enum Measurements {
    private struct Quantity {
        let key, type, unit: String
        init(_ key: String, _ type: String, _ unit: String) { (self.key, self.type, self.unit) = (key, type, unit) }
        /// In an id.
        var word: String { type.replacing(" ", with: "-") }
    }

    private static let own = [
        Quantity("temperature_c", "air temperature", "°C"), Quantity("wind_speed_mps", "wind speed", "m/s"),
        Quantity("wind_beaufort", "wind force", "Beaufort"), Quantity("wind_direction_deg", "wind direction", "°"),
        Quantity("cloud_cover_pct", "cloud cover", "%"), Quantity("sun_pct", "sunshine", "%"),
        Quantity("rain", "rain", ""),
    ]
    /// The keys of `WeatherAnswer`.
    private static let told = [
        Quantity("temperature_c", "air temperature", "°C"), Quantity("wind_speed_mps", "wind speed", "m/s"),
        Quantity("wind_gust_mps", "wind gust", "m/s"), Quantity("wind_direction_deg", "wind direction", "°"),
        Quantity("cloud_cover_pct", "cloud cover", "%"), Quantity("precipitation_mm_per_h", "precipitation", "mm/h"),
        Quantity("humidity_pct", "relative humidity", "%"), Quantity("pressure_hpa", "air pressure", "hPa"),
        Quantity("condition_code", "weather condition", ""),
    ]
    private static let light = Quantity("light_lux", "illuminance", "lx")

    /// - Parameter row: the event's id, its begin by the surveyors' clocks, these clocks' offset in minutes, what surveyors
    ///   measured (an object), and what services say (a list of objects by hour).
    package static func append(walk row: [[UInt8]?], to lines: inout [UInt8]) {
        precondition(row.count == 5, "a row has as many fields as were asked for")
        let (event, offset) = (text(row[0]), Int(text(row[2])) ?? 0)
        append(own: row[3], Source(event: event, occurrence: "", id: event, when: text(row[1])), to: &lines)
        for hour in tree(row[4])?.items ?? [] {
            guard let ts = hour["ts"]?.integer else { continue }
            let source = Source(
                event: event, occurrence: "", id: "\(event):\(UTC.text(ts).prefix(13))Z",
                method: [hour["source"]?.text, hour["model"]?.text].compactMap { $0 }.joined(separator: " "),
                when: UTC.localText(ts, offsetMin: offset))
            for quantity in told { append(quantity, hour[quantity.key], source, to: &lines) }
        }
    }

    /// - Parameter row: the event's id, the occurrence's, when it was seen by the surveyors' clocks, what surveyors measured
    ///   (an object), and the light in lux.
    package static func append(sighting row: [[UInt8]?], to lines: inout [UInt8]) {
        precondition(row.count == 5, "a row has as many fields as were asked for")
        let occurrence = text(row[1])
        let source = Source(event: text(row[0]), occurrence: occurrence, id: occurrence, when: text(row[2]))
        append(own: row[3], source, to: &lines)
        append(light, row[4].map { .number(text($0)) }, source, to: &lines)
    }

    /// Where a measurement belongs to, and who took it when.
    private struct Source {
        let event, occurrence: String
        /// The prefix of its id.
        let id: String
        var method = "surveyor"
        let when: String
    }

    private static func append(own json: [UInt8]?, _ source: Source, to lines: inout [UInt8]) {
        guard let measured = tree(json) else { return }
        for quantity in own { append(quantity, measured[quantity.key], source, to: &lines) }
    }

    private static func append(_ quantity: Quantity, _ value: JSONValue?, _ source: Source, to lines: inout [UInt8]) {
        let shown: String
        switch value {
        case .number(let text), .text(let text): shown = text
        case .bool(let flag): shown = "\(flag)"
        case .null, .list, .object, nil: return
        }
        // The fields of an event's own and of a service's weather differ in their prefix.
        let fields = [
            source.event, "\(source.id):\(quantity.word)", source.occurrence, quantity.type, shown, quantity.unit,
            source.method, source.when,
        ]
        lines += DarwinCore.line(fields.map { Array($0.utf8) }, of: DarwinCore.measurements)
    }

    private static func text(_ field: [UInt8]?) -> String { String(decoding: field ?? [], as: UTF8.self) }

    /// Nil for NULL. What PostgreSQL keeps as jsonb is JSON, and was bounded on its way in.
    private static func tree(_ json: [UInt8]?) -> JSONValue? { json.flatMap { try? JSONValue($0) } }
}
