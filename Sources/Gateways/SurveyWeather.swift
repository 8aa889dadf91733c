public import Fleet
internal import Observe
internal import Outside
internal import Postgres
public import Wire

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
    mutating func look(_ desk: WeatherDesk, _ shouldStop: () -> Bool) throws -> ServiceError? {
        while !shouldStop() {
            let page = try page(desk.session())
            for wanted in page where !shouldStop() {
                guard tries.isDue(wanted.key, nowMs: Clock.nowMs()) else { continue }
                if let trouble = try fill(wanted, desk) {
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

    private mutating func fill(_ wanted: Wanted, _ desk: WeatherDesk) throws -> ServiceError? {
        var answers: [WeatherAnswer] = []
        var trouble: ServiceError?
        for hour in wanted.hours {
            do throws(ServiceError) {
                answers.append(try desk.weather.weather(at: wanted.place, ts: hour, nowMs: Clock.nowMs()))
            } catch {
                guard error.reason == .noAnswer || error.reason == .unreadable else {
                    trouble = error
                    break
                }
                // Of this hour nothing is known; others of the survey may be.
                if error.reason == .unreadable { trouble = error }
            }
        }
        // What was told is not thrown away for what was not.
        if !answers.isEmpty { try push(answers, of: wanted, desk) }
        // A service that is away says nothing about the survey.
        if trouble == nil || trouble?.reason == .unreadable {
            tries.tried(wanted.key, isFilled: answers.count == wanted.hours.count, nowMs: Clock.nowMs())
        }
        return trouble
    }

    // MARK: Out and in

    private func push(_ answers: [WeatherAnswer], of wanted: Wanted, _ desk: WeatherDesk) throws {
        let record = SurveyRecord(
            weather: answers, of: wanted.survey, site: wanted.site, account: wanted.account, ts: Clock.nowMs())
        try desk.put(SurveyRecords.encode(record), topic: Topic.sightings, key: wanted.site)
        try desk.flush()
    }
    /// The next surveys, the last handed in first, with the hours that are over and not known. An hour that is not over
    /// is asked for later: its weather is told of as it was.
    private mutating func page(_ open: Connection) throws -> [Wanted] {
        let rows = try open.query(
            """
            SELECT s.site, s.survey, s.account, s.latitude_deg, s.longitude_deg, s.submitted_at, (
                SELECT string_agg((extract(epoch FROM hour_at) * 1000)::bigint::text, ' ' ORDER BY hour_at)
                FROM generate_series(date_trunc('hour', s.started_at, 'UTC'), s.stopped_at, interval '1 hour') AS hour_at
                WHERE hour_at + interval '1 hour' <= now() AND NOT EXISTS (
                    SELECT FROM drover.survey_weather w
                    WHERE w.site = s.site AND w.survey = s.survey AND w.hour_at = hour_at.hour_at)) AS hours
            FROM drover.survey s
            WHERE s.weather_missing > 0 AND s.latitude_deg IS NOT NULL
                AND ($1::timestamptz IS NULL OR (s.submitted_at, s.site, s.survey) < ($1, $2, $3))
            ORDER BY s.submitted_at DESC, s.site DESC, s.survey DESC LIMIT $4
            """,
            [
                cursor.map { .timestampMs($0.submittedMs) } ?? .null, .text(cursor?.site), .text(cursor?.survey),
                .int8(Int64(SurveyWeather.pageMax)),
            ])
        let page = try rows.map { row in
            let place = Position(degrees: try row.double("latitude_deg"), try row.double("longitude_deg"))
            let hours = try row.text("hours")?.split(separator: " ").compactMap { Int64($0) } ?? []
            return Wanted(
                site: try row.text("site")!, survey: try row.text("survey")!, account: try row.text("account")!,
                place: place ?? Position(latitude: 0, longitude: 0), hours: hours)
        }
        if let last = rows.last, let wanted = page.last {
            cursor = (try last.timestampMs("submitted_at")!, wanted.site, wanted.survey)
        }
        return page
    }
}

extension SurveyRecord {
    /// - Parameter answers: at least one.
    public init(weather answers: [WeatherAnswer], of survey: String, site: String, account: String, ts: Int64) {
        self.init(
            id: "weather-\(answers[0].fetchedMs)-\(answers[0].hour.ts)", site: site, ts: ts, account: account,
            by: "weather",
            kind: .weather(survey: survey, answers: answers.map { JSONValue.object($0.fields).rendered() }))
    }
}
