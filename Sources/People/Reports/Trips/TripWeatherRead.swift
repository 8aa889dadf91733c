internal import Basics
internal import Codecs
internal import Postgres

/// The weather of the hour and the place at which a trip began, from `drover.trip_now`; nil fields: the service has not told.
struct TripWeatherRead: Sendable {
    private let answer: WeatherAnswer

    /// Nil: no service has told of it yet.
    init?(_ row: Row) throws {
        guard let text = try row.text("weather"), let answer = WeatherAnswer(json: Array(text.utf8)) else { return nil }
        self.answer = answer
    }

    /// In the unit of the quantity.
    func value(_ quantity: WeatherQuantity) -> String? {
        answer.hour.thousandths[quantity].map { Decimal.text($0, decimals: 3) }
    }

    /// The source and its product: `open-meteo archive`.
    var source: String { answer.source + " " + answer.model }
    var fetched: String { UTC.text(answer.fetchedMs) }

    /// For readers: `18 °C, wind 3 m/s, clouds 40 %`.
    var text: String {
        let parts: [(WeatherQuantity, String)] = [(.temperature, ""), (.windSpeed, "wind "), (.cloudCover, "clouds ")]
        return parts.compactMap { quantity, name in
            short(value(quantity), 0).map { "\(name)\($0)\u{A0}\(quantity.unit)" }
        }.joined(separator: ", ")
    }
}
