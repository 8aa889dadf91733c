public import Fleet
internal import Foundation
public import Kafka
public import Observe
public import Outside
internal import Postgres
public import Wire

/// Asks for the weather of surveys that lack it and puts the answers on the log, for the worker to join. Several of them do
/// no harm: of one hour the answer counts that was asked for last. For one thread.
public final class SurveyWeather {
    public struct Settings {
        public var kafka: KafkaSettings
        /// Of a role that may read when and where surveys were.
        public var conninfo: String
        public var weather: WeatherClient
        /// Between two looks.
        public var intervalMs: Int64

        public init(kafka: KafkaSettings, conninfo: String, weather: WeatherClient, intervalMs: Int64) {
            (self.kafka, self.conninfo, self.weather, self.intervalMs) = (kafka, conninfo, weather, intervalMs)
        }
    }

    private struct Wanted {
        let site, survey, account: String
        let place: Position
        let hours: [Int64]
        var key: String { site + " " + survey }
    }

    private static let patienceMs: Int32 = 5_000
    private static let pageMax = 200
    private static let hourMs: Int64 = 3_600_000

    private let settings: Settings
    private let log: Log
    private var connection: Connection?
    private var producer: Producer?
    private var tries = BackfillTries()
    /// The last survey that was looked at; nil: begin with the newest.
    private var cursor: (submittedMs: Int64, site: String, survey: String)?
    private var isTroubled = false

    public init(_ settings: Settings, log: Log) { (self.settings, self.log) = (settings, log) }

    /// Returns when `shouldStop` says so.
    public func run(shouldStop: () -> Bool) {
        while !shouldStop() {
            do {
                let trouble = try look(shouldStop)
                tell(trouble.map { "\($0)" })
            } catch {
                // Either may be gone for good.
                (connection, producer) = (nil, nil)
                tell("\(error)")
            }
            let againMs = Clock.steadyMs() + settings.intervalMs
            while !shouldStop(), Clock.steadyMs() < againMs { Thread.sleep(forTimeInterval: 0.1) }
        }
    }

    /// Once when it begins and once when it ends.
    private func tell(_ trouble: String?) {
        if let trouble, !isTroubled {
            log.warning("the weather of surveys cannot be asked for; it is added later", ["error": "\(trouble)"])
        } else if trouble == nil, isTroubled {
            log.info("the weather of surveys is asked for again")
        }
        isTroubled = trouble != nil
    }

    /// Goes on where the last look stopped, to the end. Returns what keeps the service from being asked.
    private func look(_ shouldStop: () -> Bool) throws -> ServiceError? {
        while !shouldStop() {
            let page = try page()
            for wanted in page where !shouldStop() {
                guard tries.isDue(wanted.key, nowMs: Clock.nowMs()) else { continue }
                if let trouble = try fill(wanted) {
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

    private func fill(_ wanted: Wanted) throws -> ServiceError? {
        var answers: [WeatherAnswer] = []
        var trouble: ServiceError?
        for hour in wanted.hours {
            do throws(ServiceError) {
                answers.append(try settings.weather.weather(at: wanted.place, ts: hour, nowMs: Clock.nowMs()))
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
        if !answers.isEmpty { try push(answers, of: wanted) }
        // A service that is away says nothing about the survey.
        if trouble == nil || trouble?.reason == .unreadable {
            tries.tried(wanted.key, isFilled: answers.count == wanted.hours.count, nowMs: Clock.nowMs())
        }
        return trouble
    }

    // MARK: Out and in

    private func push(_ answers: [WeatherAnswer], of wanted: Wanted) throws {
        let sender = try producer ?? Producer(settings.kafka, Producer.Tuning(timeoutMs: Int(SurveyWeather.patienceMs)))
        producer = sender
        let record = SurveyRecord(
            weather: answers, of: wanted.survey, site: wanted.site, account: wanted.account, ts: Clock.nowMs())
        try sender.produce(
            topic: Topic.sightings, partition: nil, key: Array(wanted.site.utf8), value: SurveyRecords.encode(record),
            timestampMs: nil)
        try sender.flush(timeoutMs: SurveyWeather.patienceMs + 1_000)
    }

    /// The next surveys, the last handed in first, with the hours that are over and not known. An hour that is not over
    /// is asked for later: its weather is told of as it was.
    private func page() throws -> [Wanted] {
        let open = try connection ?? Connection(conninfo: settings.conninfo, applicationName: "drover-survey-weather")
        connection = open
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

/// When a survey's weather is asked for again; bounded. Pure.
struct BackfillTries {
    static let entriesMax = 20_000
    /// The worker needs a moment to join what was found.
    static let filledMs: Int64 = 60_000
    private static let firstMs: Int64 = 600_000
    private static let mostMs: Int64 = 86_400_000

    private var entries: [String: (tries: Int, nextMs: Int64)] = [:]

    func isDue(_ key: String, nowMs: Int64) -> Bool { (entries[key]?.nextMs ?? 0) <= nowMs }

    /// Of what nobody knows it is asked after 10 minutes, 20, 40 … at most a day.
    mutating func tried(_ key: String, isFilled: Bool, nowMs: Int64) {
        if entries.count >= BackfillTries.entriesMax, entries[key] == nil {
            // Too many to remember: those that are due are forgotten, or all of them.
            entries = entries.filter { $0.value.nextMs > nowMs }
            if entries.count >= BackfillTries.entriesMax { entries.removeAll() }
        }
        let tries = isFilled ? 0 : (entries[key]?.tries ?? 0) + 1
        let waitMs =
            isFilled
            ? BackfillTries.filledMs : min(BackfillTries.mostMs, BackfillTries.firstMs << Int64(min(tries - 1, 10)))
        entries[key] = (tries, nowMs + waitMs)
    }
}
