internal import Codecs
package import ExternalServices
internal import Fleet
package import Kafka
internal import Postgres
internal import Storage
package import Telemetry
internal import Threads

/// Says on the log what each hour's time and weather make of each campus. Several of them do no harm: equal values have
/// equal ids, and decide nothing. For one thread.
package final class CampusHours {
    package struct Settings {
        package var kafka: KafkaSettings
        /// The connection of a role that may read `drover.campus`.
        package var conninfo: String
        /// Nil: time of day alone.
        package var weather: WeatherClient?
        /// Between two looks.
        package var intervalMs: Int64

        package init(kafka: KafkaSettings, conninfo: String, weather: WeatherClient?, intervalMs: Int64) {
            self.kafka = kafka
            self.conninfo = conninfo
            self.weather = weather
            self.intervalMs = intervalMs
        }
    }

    private static let patienceMs: Int32 = 5_000

    private let settings: Settings
    private let log: Log
    private var connection: Connection?
    private var producer: Producer?
    private var said: [String: RideRecord.Hour] = [:]
    private var trouble: FailureLog
    private var withoutWeather: FailureLog
    /// Zones that no longer are, each told once.
    private var unknownZones: Set<String> = []

    package init(_ settings: Settings, log: Log) {
        self.settings = settings
        self.log = log
        trouble = FailureLog(
            cannot: "surge and speed of campuses cannot be said", again: "surge and speed of campuses are said again",
            level: .warning, log: log)
        withoutWeather = FailureLog(
            cannot: "the weather of campuses is not known: time of day alone counts",
            again: "the weather of campuses is known again", level: .warning, log: log)
    }

    /// Returns when `shouldStop` says so.
    package func run(shouldStop: () -> Bool) {
        while !shouldStop() {
            do {
                try look(nowMs: Clock.nowMs())
                trouble.isOver()
            } catch {
                // Either may be gone for good.
                connection = nil
                producer = nil
                trouble.failed("\(error)")
            }
            BackOff.pause(settings.intervalMs, shouldStop)
        }
    }

    private func look(nowMs: Int64) throws {
        let open =
            try connection ?? Connection.ofService(conninfo: settings.conninfo, applicationName: "drover-campus-hours")
        connection = open
        var changed: [(campus: String, hour: RideRecord.Hour)] = []
        for known in try CampusQueries.campuses(on: open) {
            let campus = known.campus
            guard let rule = rule(campus, known.settings) else { continue }
            // A factor published before the tables were removed must be withdrawn.
            guard !rule.saysNothing || known.hasHour else { continue }
            let weather = rule.asksWeather ? self.weather(rule.middle, nowMs) : nil
            let hour = rule.record(atMs: nowMs, weather: weather)
            if CampusHours.isNews(hour, after: said[campus]) { changed.append((campus, hour)) }
        }
        try push(changed, nowMs: nowMs)
    }

    /// An hour without weather does not take back what the same hour's weather has said.
    static func isNews(_ hour: RideRecord.Hour, after said: RideRecord.Hour?) -> Bool {
        guard let said, said.startMs == hour.startMs else { return true }
        if hour.weather == nil, said.weather != nil { return false }
        return (hour.surge, hour.speedKmh) != (said.surge, said.speedKmh)
    }

    /// The same hour with the same values is the same record, whoever says it.
    static func record(_ campus: String, _ hour: RideRecord.Hour, nowMs: Int64) -> RideRecord {
        let speed = hour.speedKmh.map(String.init) ?? "own"
        return RideRecord(
            id: "hour-\(hour.startMs)-\(hour.surge)-\(speed)", campus: campus, ts: nowMs, by: "", kind: .hour(hour))
    }

    private func rule(_ campus: String, _ stored: [UInt8]) -> CampusHour? {
        let decoded = try? unsafe TickOrRecord(stored, key: Array(campus.utf8), RideRecords.decode)
        guard case .record(let record) = decoded, case .campus(let settings) = record.kind else { return nil }
        // Its hours are those of its records, in a day from a file.
        guard !settings.goesByRecordTime else { return nil }
        let name = settings.timeZone ?? "UTC"
        let zone = TimeZoneName(name)
        if zone == nil, unknownZones.insert(campus + " " + name).inserted {
            log.warning(
                "a campus's time zone is not known here; its hours are UTC",
                ["campus": "\(campus)", "time_zone": "\(name)"])
        }
        return try? CampusHour(settings, zone: zone ?? TimeZoneName("UTC")!)
    }

    private func weather(_ place: Position, _ nowMs: Int64) -> WeatherAnswer? {
        guard let client = settings.weather else { return nil }
        do throws(ServiceError) {
            let answer = try client.weather(at: place, ts: nowMs, nowMs: nowMs)
            withoutWeather.isOver()
            return answer
        } catch {
            withoutWeather.failed("\(error)")
            return nil
        }
    }

    private func push(_ changed: [(campus: String, hour: RideRecord.Hour)], nowMs: Int64) throws {
        guard !changed.isEmpty else { return }
        let sender = try producer ?? Producer(settings.kafka, Producer.Tuning(timeoutMs: Int(CampusHours.patienceMs)))
        producer = sender
        for (campus, hour) in changed {
            try sender.produce(
                topic: Topic.dispatch, partition: nil, key: Array(campus.utf8),
                value: RideRecords.encode(CampusHours.record(campus, hour, nowMs: nowMs)), timestampMs: nil)
        }
        try sender.flush(timeoutMs: CampusHours.patienceMs + 1_000)
        for (campus, hour) in changed { said[campus] = hour }
    }
}
