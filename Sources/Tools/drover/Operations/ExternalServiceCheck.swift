import App
import Basics
import Codecs
import ExternalServices
import Fleet
import Formats
import Settings

/// Asks each service of others once.
struct ExternalServiceCheck {
    struct Result {
        let service: String
        let isSet: Bool
        let isWell: Bool
        let says: String
        var limits = ""
        var left = ""

        var text: String {
            let end = limits.isEmpty ? "" : "\n  limits: \(limits)" + (left.isEmpty ? "" : "; left now: \(left)")
            return "\(service): \(isSet ? isWell ? "ok, " : "FAILED, " : "")\(says)\(end)"
        }
        var fields: JSONValue {
            .object([
                ("service", .text(service)), ("set", .bool(isSet)), ("ok", .bool(isWell)), ("says", .text(says)),
                ("limits", .optional(limits.isEmpty ? nil : limits)),
                ("left", .optional(left.isEmpty ? nil : left)),
            ])
        }
    }

    private let weather: WeatherClient?
    private let travel: TravelService
    private let geocoder: Geocoder?
    private let place: Position

    init(_ settings: Settings, at place: Position) throws {
        let database = settings.outsideDatabase()
        weather = try settings.weather().map { try WeatherClient($0, database: database) }
        travel = try TravelService(settings.travel(), database: database)
        geocoder = try settings.geocoder().map { try Geocoder($0, database: database) }
        self.place = place
    }

    func all(nowMs: Int64) -> [Result] { [checkWeather(nowMs), checkTravel(nowMs), checkGeocoder(nowMs)] }

    private func checkWeather(_ nowMs: Int64) -> Result {
        guard let weather else { return unset("weather", "weather.provider") }
        return asked("weather", weather.limits, weather.left) { () throws(ServiceError) in
            ExternalServiceCheck.text(try weather.ask(at: place, nowMs: nowMs))
        }
    }

    /// About a kilometre to the north.
    private func checkTravel(_ nowMs: Int64) -> Result {
        guard let limits = travel.limits else { return unset("travel", "travel.url") }
        let north = place.latitude > 890_000_000 ? -100_000 : 100_000
        let other = Position(latitude: place.latitude + Int32(north), longitude: place.longitude)
        return asked("travel", limits, travel.left) { () throws(ServiceError) in
            let table = travel.table(from: [place], to: [other], atMs: nowMs, nowMs: nowMs, fresh: true)
            if let fault = table.fault { throw fault }
            let leg = table.legs[0]
            return leg.method == .service
                ? "\(leg.durationMs / 1_000) s and \(leg.distanceM) m to a place 1.1 km away"
                : "it answers, and knows no way at \(place.text): name a place on its map with --at"
        }
    }

    private func checkGeocoder(_ nowMs: Int64) -> Result {
        guard let geocoder else { return unset("geocoder", "geocoder.url") }
        return asked("geocoder", geocoder.limits, geocoder.left) { () throws(ServiceError) in
            let found = try geocoder.reverse(place, nowMs: nowMs, fresh: true)
            return found?.label.map { "\(place.text) is \($0)" } ?? "it answers, and knows no address at \(place.text)"
        }
    }

    private func unset(_ service: String, _ setting: String) -> Result {
        Result(service: service, isSet: false, isWell: true, says: "not used: \(setting) is not set")
    }

    private func asked(
        _ service: String, _ limits: CallLimits, _ left: () throws(ServiceError) -> [CallLimits.Period: Int],
        _ ask: () throws(ServiceError) -> String
    ) -> Result {
        var (says, isWell) = ("", true)
        do throws(ServiceError) { says = try ask() } catch {
            isWell = false
            let when = error.retryAtMs.map { "; again at \(UTC.text($0))" } ?? ""
            says = "\(error.text)\(when)"
        }
        // The answer above says it when PostgreSQL is away.
        let counts = (try? left()) ?? [:]
        let texts = CallLimits.Period.allCases.compactMap { period in
            counts[period].map { "\($0)/\(period.rawValue)" }
        }
        return Result(
            service: service, isSet: true, isWell: isWell, says: says, limits: limits.text,
            left: texts.joined(separator: ", "))
    }

    /// One line: time, source, values with their units, and what was not believed.
    static func text(_ answer: WeatherAnswer) -> String {
        let values = WeatherQuantity.allCases.compactMap { quantity in
            answer.hour.thousandths[quantity].map {
                "\(quantity.rawValue) \(Decimal.text($0, decimals: 3)) \(quantity.unit)"
            }
        }
        let dropped = answer.hour.dropped.map { "\($0.quantity.rawValue) (\($0.reason.rawValue))" }
        return "\(UTC.text(answer.hour.ts)) at \(answer.place.text), \(answer.source) \(answer.model): "
            + values.joined(separator: ", ")
            + (dropped.isEmpty ? "" : "; not believed: " + dropped.joined(separator: ", "))
    }
}
