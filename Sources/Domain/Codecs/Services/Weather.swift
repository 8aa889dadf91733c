internal import Basics
public import Formats

/// The weather quantities, each in our one unit whatever a service uses.
public enum WeatherQuantity: String, CaseIterable, Sendable {
    case temperature, windSpeed = "wind_speed", windGust = "wind_gust", windDirection = "wind_direction"
    case cloudCover = "cloud_cover", precipitation, humidity, pressure
    /// WMO 4677 code of Open-Meteo or condition id of OpenWeatherMap: the source says which.
    case condition

    public var unit: String {
        switch self {
        case .temperature: "°C"
        case .windSpeed, .windGust: "m/s"
        case .windDirection: "°"
        case .cloudCover, .humidity: "%"
        case .precipitation: "mm/h"
        case .pressure: "hPa"
        case .condition: "code"
        }
    }

    /// Measured extremes on earth, with margin, in thousandths: air -89.2 and 56.7 °C, gusts 113 m/s, 305 mm of rain in an hour, 870 and
    /// 1084 hPa at sea level (WMO World Weather and Climate Extremes Archive); pressure may be that of a mountain.
    var possible: ClosedRange<Int64> {
        switch self {
        case .temperature: -95_000...60_000
        case .windSpeed: 0...115_000
        case .windGust: 0...135_000
        case .windDirection: 0...360_000
        case .cloudCover, .humidity: 0...100_000
        case .precipitation: 0...450_000
        case .pressure: 300_000...1_100_000
        case .condition: 0...999_000
        }
    }
}

/// A value that a service gave and that is not believed.
public struct DroppedWeather: Equatable, Sendable {
    public enum Reason: String, Sendable {
        case impossible, unitUnknown = "unit_unknown"
        /// Given, but no number.
        case notANumber = "not_a_number"
    }
    public let quantity: WeatherQuantity
    public let reason: Reason
    public init(_ quantity: WeatherQuantity, _ reason: Reason) { (self.quantity, self.reason) = (quantity, reason) }
}

/// The weather of one place and time, as one service told it.
public struct WeatherHour: Equatable, Sendable {
    /// The time that the values are for, epoch milliseconds.
    public var ts: Int64
    /// In thousandths of the quantity's unit; a quantity that is absent is unknown.
    public var thousandths: [WeatherQuantity: Int64] = [:]
    public var dropped: [DroppedWeather] = []

    public init(ts: Int64) { self.ts = ts }

    /// Keeps a value when it is possible, else drops it with the reason. `scale` and `offset` bring it to our unit.
    mutating func set(
        _ quantity: WeatherQuantity, _ value: JSONValue?, scale: Double = 1, offset: Double = 0
    ) {
        guard let value, !value.isNull else { return }
        guard let number = value.double else { return dropped.append(DroppedWeather(quantity, .notANumber)) }
        guard let scaled = Decimal.scaled(number * scale + offset, decimals: 3), quantity.possible.contains(scaled)
        else { return dropped.append(DroppedWeather(quantity, .impossible)) }
        thousandths[quantity] = scaled
    }
}

/// A weather service's answer that cannot be read. Repeats nothing of it.
public enum WeatherFault: Error, Equatable, CustomStringConvertible {
    case notJSON(JSONValue.Fault)
    /// It says itself that it has nothing.
    case refused
    case missing(String)

    public var description: String {
        switch self {
        case .notJSON(let fault): "its answer is \(fault)"
        case .refused: "it says that it has no answer"
        case .missing(let key): "its answer has no `\(key)` that can be read"
        }
    }
}
