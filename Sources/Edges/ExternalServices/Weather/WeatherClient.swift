internal import Basics
package import Codecs
package import Fleet
internal import Formats
internal import Storage

package struct WeatherSettings: Sendable {
    package var cache: WeatherCache
    package var now: ServiceSettings
    package var past: ServiceSettings
    package var key: String

    package init(_ cache: WeatherCache, now: ServiceSettings, past: ServiceSettings, key: String) {
        self.cache = cache
        self.now = now
        self.past = past
        self.key = key
    }

    package var provider: WeatherProvider { cache.provider }
}

/// The weather of a place and hour: from the table, else from the service, which is told the middle of a cell and never
/// the place. For one thread.
package final class WeatherClient {
    private let settings: WeatherSettings
    private let database: SharedDatabase
    private let now: ExternalService
    private let past: ExternalService

    package init(_ settings: WeatherSettings, database: SharedDatabase) throws {
        self.settings = settings
        self.database = database
        now = try ExternalService("weather", settings.now, database)
        past = try ExternalService("weather-history", budget: "weather", settings.past, database)
    }

    /// Without asking anybody outside; nil: not known yet.
    package func known(at position: Position, ts: Int64, nowMs: Int64) throws(ServiceError) -> WeatherAnswer? {
        let hourMs = WeatherAnswer.hour(of: ts)
        return try database.run("weather") {
            try self.settings.cache.known(at: position, from: hourMs, through: hourMs, nowMs: nowMs, on: $0).first
        }
    }

    /// - Parameter timeoutMs: less than the setting, when somebody waits.
    package func weather(
        at position: Position, ts: Int64, nowMs: Int64, timeoutMs: Int? = nil
    ) throws(ServiceError) -> WeatherAnswer {
        if let known = try known(at: position, ts: ts, nowMs: nowMs) { return known }
        let cell = settings.cache.cell(position)
        let hourMs = WeatherAnswer.hour(of: ts)
        guard let plan = WeatherPlan(settings.provider, cell, hourMs: hourMs, nowMs: nowMs) else {
            throw ServiceError("weather", .noAnswer, "\(settings.provider.rawValue) knows nothing of that time")
        }
        return try fetch(plan, cell, hourMs: hourMs, nowMs: nowMs, timeoutMs: timeoutMs)
    }

    /// Asks whatever is kept, for `outside check`.
    package func ask(at position: Position, nowMs: Int64) throws(ServiceError) -> WeatherAnswer {
        let cell = settings.cache.cell(position)
        let hourMs = WeatherAnswer.hour(of: nowMs)
        guard let plan = WeatherPlan(settings.provider, cell, hourMs: hourMs, nowMs: nowMs) else {
            preconditionFailure("the present is always known")
        }
        return try fetch(plan, cell, hourMs: hourMs, nowMs: nowMs, timeoutMs: nil)
    }

    package func left() throws(ServiceError) -> [CallLimits.Period: Int] { try now.left() }
    package var limits: CallLimits { settings.now.limits }

    private func fetch(
        _ plan: WeatherPlan, _ cell: WeatherCell, hourMs: Int64, nowMs: Int64, timeoutMs: Int?
    ) throws(ServiceError) -> WeatherAnswer {
        let service = plan.isPast ? past : now
        let provider = settings.provider
        let key = settings.key.isEmpty ? "" : keyName + PercentEncoding.text(settings.key)
        let kept = try service.ask(plan.path + key, timeoutMs: timeoutMs) { body, dropped in
            let hours =
                switch provider {
                case .openWeatherMap: try OpenWeatherMap.hours(body)
                case .openMeteo: try OpenMeteo.hours(body)
                }
            dropped += hours.reduce(0) { $0 + $1.dropped.count }
            let kept = plan.kept(hours, hourMs: hourMs)
            guard kept.contains(where: { $0.hourMs == hourMs }) else {
                throw ServiceError(
                    service.name, hours.contains { !$0.dropped.isEmpty } ? .unreadable : .noAnswer,
                    "its answer holds no value of the hour that was asked for that can be believed")
            }
            return kept
        }
        let answers = kept.map { entry in
            (
                hourMs: entry.hourMs,
                answer: WeatherAnswer(
                    source: provider.rawValue, model: plan.model, cell: cell, fetchedMs: nowMs, hour: entry.hour)
            )
        }
        let hours = answers.map { hourMs, answer in
            WeatherHourStore.Hour(
                startMs: hourMs, answer: JSONValue.object(answer.fields).rendered(),
                keptUntilMs: WeatherPlan.keptUntilMs(hourMs: hourMs, fetchedMs: nowMs))
        }
        // Failing to cache it costs a call later, and is no reason to withhold the answer.
        try? database.run("weather") {
            try WeatherHourStore.keep(hours, from: provider.rawValue, cell, nowMs: nowMs, on: $0)
        }
        return answers.first { $0.hourMs == hourMs }!.answer
    }

    private var keyName: String {
        switch settings.provider {
        case .openWeatherMap: "&appid="
        case .openMeteo: "&apikey="
        }
    }
}
