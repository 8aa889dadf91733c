internal import Basics
public import Fleet
public import Formats

/// Weather with its source: stored, put on records and shown. A replay reads it and calls no service.
public struct WeatherAnswer: Equatable, Sendable {
    /// `openweathermap` or `open-meteo`.
    public var source: String
    /// The source's product: `current`, `timemachine`, `forecast`, `archive`.
    public var model: String
    /// The place that the source was asked about.
    public var place: Position
    public var cellMilliDeg: Int32
    /// When we asked.
    public var fetchedMs: Int64
    public var hour: WeatherHour

    public init(
        source: String, model: String, cell: WeatherCell, fetchedMs: Int64, hour: WeatherHour
    ) {
        self.source = source
        self.model = model
        self.fetchedMs = fetchedMs
        self.hour = hour
        place = cell.middle
        cellMilliDeg = cell.sizeMilliDeg
    }

    public static let hourMs: Int64 = 3_600_000
    static let bytesMax = 4_096
    /// Stations report every so often: an hour and a half is the most that still tells of the hour.
    public static let distanceMsMax: Int64 = 5_400_000

    /// The beginning of the hour that contains a time.
    public static func hour(of ts: Int64) -> Int64 { ts - ((ts % hourMs) + hourMs) % hourMs }

    public func tells(ofHour hourMs: Int64) -> Bool {
        (hourMs - WeatherAnswer.distanceMsMax...hourMs + WeatherAnswer.distanceMsMax).contains(hour.ts)
    }

    public var cell: WeatherCell { WeatherCell(place, sizeMilliDeg: cellMilliDeg) }

    static let keys: [(quantity: WeatherQuantity, key: String)] = [
        (.temperature, "temperature_c"), (.windSpeed, "wind_speed_mps"), (.windGust, "wind_gust_mps"),
        (.windDirection, "wind_direction_deg"), (.cloudCover, "cloud_cover_pct"),
        (.precipitation, "precipitation_mm_per_h"), (.humidity, "humidity_pct"), (.pressure, "pressure_hpa"),
        (.condition, "condition_code"),
    ]

    /// The fields of a record, flat, each key with its unit.
    public var fields: [JSONValue.Field] {
        var fields: [JSONValue.Field] = [
            ("source", .text(source)), ("model", .text(model)), ("ts", .integer(hour.ts)),
            ("fetched_ts", .integer(fetchedMs)),
            ("latitude", .number(Decimal.text(Int64(place.latitude), decimals: 7))),
            ("longitude", .number(Decimal.text(Int64(place.longitude), decimals: 7))),
            ("cell_deg", .number(Decimal.text(Int64(cellMilliDeg), decimals: 3))),
        ]
        for (quantity, key) in WeatherAnswer.keys {
            guard let value = hour.thousandths[quantity] else { continue }
            fields.append((key, .number(Decimal.text(value, decimals: 3))))
        }
        if !hour.dropped.isEmpty {
            let dropped = hour.dropped.map { "\($0.quantity.rawValue) \($0.reason.rawValue)" }
            fields.append(("dropped", .text(dropped.joined(separator: ", "))))
        }
        return fields
    }

    /// Nil for what `fields` did not make. Unknown keys are left alone.
    public init?(json bytes: [UInt8]) { try? self.init(told: bytes) }

    /// - Throws: `DecodeError.weather`. What passes is read back by every reader, unknown keys included.
    init(told bytes: [UInt8]) throws(DecodeError) {
        let fields: [String: JSONValue]
        do throws(FlatJSON.Fault) {
            let told = try FlatJSON.fields(bytes, bytesMax: WeatherAnswer.bytesMax)
            fields = Dictionary(uniqueKeysWithValues: told.map { ($0.key, $0.value) })
        } catch {
            throw .weather("\(error)")
        }
        func text(_ key: String) throws(DecodeError) -> String {
            guard case .text(let text)? = fields[key] else { throw .weather("`\(key)` must be a text") }
            return text
        }
        func number(_ key: String, _ decimals: Int, _ range: ClosedRange<Int64>) throws(DecodeError) -> Int64 {
            guard case .number(let text)? = fields[key], let number = Decimal.scaled(text.utf8, decimals: decimals),
                range.contains(number)
            else { throw .weather("`\(key)` must be a number that is possible there") }
            return number
        }
        let times = SurveyText.times.lowerBound...SurveyText.times.upperBound - 1
        source = try text("source")
        model = try text("model")
        fetchedMs = try number("fetched_ts", 0, times)
        place = Position(
            latitude: Int32(try number("latitude", 7, -900_000_000...900_000_000)),
            longitude: Int32(try number("longitude", 7, -1_800_000_000...1_800_000_000)))
        cellMilliDeg = Int32(try number("cell_deg", 3, 1...10_000))
        hour = WeatherHour(ts: try number("ts", 0, times))
        for (quantity, key) in WeatherAnswer.keys {
            // A text here would stop PostgreSQL's readers, which know what the key is.
            guard let told = fields[key], told != .null else { continue }
            hour.thousandths[quantity] = try number(key, 3, quantity.possible)
        }
        guard let dropped = fields["dropped"], dropped != .null else { return }
        for part in try text("dropped").split(separator: ",") {
            let words = part.split(separator: " ").map(String.init)
            guard words.count == 2, let quantity = WeatherQuantity(rawValue: words[0]),
                let reason = DroppedWeather.Reason(rawValue: words[1])
            else { throw .weather("`dropped` must name quantities with their reasons") }
            hour.dropped.append(DroppedWeather(quantity, reason))
        }
    }
}
