internal import Codecs
internal import ExternalServices
internal import Fleet
internal import Postgres
internal import Storage
internal import Telemetry

/// The weather of surveys, hour by hour.
struct SurveyWeather {
    private struct Wanted {
        let site, survey, account: String
        let place: Position
        let hours: [Int64]
        var key: String { site + " " + survey }
    }

    private static let pageMax = 200

    private var tries = BackfillTries()
    /// The last survey that was looked at; nil: begin with the newest.
    private var cursor: (submittedMs: Int64, site: String, survey: String)?

    /// Goes on where the last look stopped, to the end. Returns what keeps the service from being asked.
    mutating func look(_ backfill: WeatherBackfillSession, _ shouldStop: () -> Bool) throws -> ServiceError? {
        while !shouldStop() {
            let page = try page(backfill.session())
            for wanted in page where !shouldStop() {
                guard tries.isDue(wanted.key, nowMs: Clock.nowMs()) else { continue }
                if let trouble = try fill(wanted, backfill) {
                    cursor = nil
                    return trouble
                }
            }
            if page.count < SurveyWeather.pageMax {
                cursor = nil
                return nil
            }
        }
        return nil
    }

    private mutating func fill(_ wanted: Wanted, _ backfill: WeatherBackfillSession) throws -> ServiceError? {
        var answers: [WeatherAnswer] = []
        var trouble: ServiceError?
        for hour in wanted.hours {
            do throws(ServiceError) {
                answers.append(try backfill.weather.weather(at: wanted.place, ts: hour, nowMs: Clock.nowMs()))
            } catch {
                guard error.reason == .noAnswer || error.reason == .unreadable else {
                    trouble = error
                    break
                }
                // Nothing is known of this hour; others of the survey may be.
                if error.reason == .unreadable { trouble = error }
            }
        }
        // A failure does not discard the answers that did arrive.
        if !answers.isEmpty { try push(answers, of: wanted, backfill) }
        // A service that is away says nothing about the survey.
        if trouble == nil || trouble?.reason == .unreadable {
            tries.tried(wanted.key, isFilled: answers.count == wanted.hours.count, nowMs: Clock.nowMs())
        }
        return trouble
    }

    // MARK: Out and in

    private func push(_ answers: [WeatherAnswer], of wanted: Wanted, _ backfill: WeatherBackfillSession) throws {
        let record = SurveyRecord(
            weather: answers, of: wanted.survey, site: wanted.site, account: wanted.account, ts: Clock.nowMs())
        try backfill.put(SurveyRecords.encode(record), topic: Topic.sightings, key: wanted.site)
        try backfill.flush()
    }

    /// The next surveys that lack some of their weather.
    private mutating func page(_ open: Connection) throws -> [Wanted] {
        let rows = try SurveyWeatherStore.lacking(after: cursor, most: SurveyWeather.pageMax, on: open)
        if let last = rows.last { cursor = (last.submittedMs, last.site, last.survey) }
        return rows.map {
            Wanted(
                site: $0.site, survey: $0.survey, account: $0.account,
                place: $0.place ?? Position(latitude: 0, longitude: 0), hours: $0.hours)
        }
    }
}
