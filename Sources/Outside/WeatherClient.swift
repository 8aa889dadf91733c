public import Fleet
internal import Observe
internal import Postgres
public import Wire

public struct WeatherSettings: Sendable {
    public var shelf: WeatherShelf
    public var now: ServiceSettings
    public var past: ServiceSettings
    public var key: String

    public init(_ shelf: WeatherShelf, now: ServiceSettings, past: ServiceSettings, key: String) {
        (self.shelf, self.now, self.past, self.key) = (shelf, now, past, key)
    }

    public var provider: WeatherProvider { shelf.provider }
}

/// The weather of a place and hour: from the table, else from the service, which is told the middle of a cell and never
/// the place. For one thread.
public final class WeatherClient {
    private let settings: WeatherSettings
    private let database: SharedDatabase
    private let now: OutsideService
    private let past: OutsideService

    public init(_ settings: WeatherSettings, database: SharedDatabase) throws {
        (self.settings, self.database) = (settings, database)
        now = try OutsideService("weather", settings.now, database)
        past = try OutsideService("weather-history", budget: "weather", settings.past, database)
    }

    /// Without asking anybody outside; nil: not known yet.
    public func known(at position: Position, ts: Int64, nowMs: Int64) throws(ServiceError) -> WeatherAnswer? {
        let hourMs = WeatherAnswer.hour(of: ts)
        return try database.run("weather") {
            try self.settings.shelf.known(at: position, from: hourMs, through: hourMs, nowMs: nowMs, on: $0).first
        }
    }

    /// - Parameter timeoutMs: less than the setting, when somebody waits.
    public func weather(
        at position: Position, ts: Int64, nowMs: Int64, timeoutMs: Int? = nil
    ) throws(ServiceError) -> WeatherAnswer {
        if let known = try known(at: position, ts: ts, nowMs: nowMs) { return known }
        let cell = settings.shelf.cell(position)
        let hourMs = WeatherAnswer.hour(of: ts)
        guard let plan = WeatherPlan(settings.provider, cell, hourMs: hourMs, nowMs: nowMs) else {
            throw ServiceError("weather", .noAnswer, "\(settings.provider.rawValue) knows nothing of that time")
        }
        return try fetch(plan, cell, hourMs: hourMs, nowMs: nowMs, timeoutMs: timeoutMs)
    }

    /// Asks whatever is kept, for `outside check`.
    public func ask(at position: Position, nowMs: Int64) throws(ServiceError) -> WeatherAnswer {
        let cell = settings.shelf.cell(position)
        let hourMs = WeatherAnswer.hour(of: nowMs)
        guard let plan = WeatherPlan(settings.provider, cell, hourMs: hourMs, nowMs: nowMs) else {
            preconditionFailure("the present is always known")
        }
        return try fetch(plan, cell, hourMs: hourMs, nowMs: nowMs, timeoutMs: nil)
    }

    public func left() throws(ServiceError) -> [CallLimits.Period: Int] { try now.left() }
    public var limits: CallLimits { settings.now.limits }

    private func fetch(
        _ plan: WeatherPlan, _ cell: WeatherCell, hourMs: Int64, nowMs: Int64, timeoutMs: Int?
    ) throws(ServiceError) -> WeatherAnswer {
        let service = plan.isPast ? past : now
        let provider = settings.provider
        let key = settings.key.isEmpty ? "" : keyName + ServiceAddress.escaped(settings.key)
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
        // Not keeping it costs a call later, and is no reason to withhold what was answered.
        try? database.run("weather") { try self.store(answers, cell, nowMs, $0) }
        return answers.first { $0.hourMs == hourMs }!.answer
    }

    private var keyName: String {
        switch settings.provider {
        case .openWeatherMap: "&appid="
        case .openMeteo: "&apikey="
        }
    }

    private func store(
        _ answers: [(hourMs: Int64, answer: WeatherAnswer)], _ cell: WeatherCell, _ nowMs: Int64,
        _ connection: Connection
    ) throws {
        try connection.transaction {
            for (hourMs, answer) in answers.sorted(by: { $0.hourMs < $1.hourMs }) {
                // What was told after the hour had ended is not replaced by what was told before.
                try connection.query(
                    """
                    INSERT INTO drover.weather_hour AS old (source, cell_millideg, latitude_index, longitude_index,
                        hour_at, answer, kept_until) VALUES ($1, $2, $3, $4, $5, $6, $7)
                    ON CONFLICT (source, cell_millideg, latitude_index, longitude_index, hour_at)
                    DO UPDATE SET answer = excluded.answer, kept_until = excluded.kept_until
                    WHERE old.kept_until < excluded.kept_until
                    """,
                    [
                        .text(settings.provider.rawValue), .int4(cell.sizeMilliDeg), .int4(cell.latitudeIndex),
                        .int4(cell.longitudeIndex), .timestampMs(hourMs),
                        .text(JSONValue.object(answer.fields).rendered()),
                        .timestampMs(WeatherPlan.keptUntilMs(hourMs: hourMs, fetchedMs: nowMs)),
                    ])
            }
            try Expired.delete(from: .weather, nowMs: nowMs, on: connection)
        }
    }
}
