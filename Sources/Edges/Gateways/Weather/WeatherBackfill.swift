internal import Codecs
package import ExternalServices
package import Kafka
internal import Postgres
package import Telemetry
internal import Threads

/// Asks for the weather of surveys and of cars' trips that lack it and puts the answers on the log, for the worker to join.
/// Several of them do no harm: of one hour the answer counts that was asked for last. For one thread.
package final class WeatherBackfill {
    package struct Settings {
        package var kafka: KafkaSettings
        /// The connection of a role that may read the times and places of surveys and trips.
        package var conninfo: String
        package var weather: WeatherClient
        /// Between two looks.
        package var intervalMs: Int64

        package init(kafka: KafkaSettings, conninfo: String, weather: WeatherClient, intervalMs: Int64) {
            self.kafka = kafka
            self.conninfo = conninfo
            self.weather = weather
            self.intervalMs = intervalMs
        }
    }

    private let settings: Settings
    private let backfill: WeatherBackfillSession
    private var surveys = SurveyWeather()
    private var trips = TripWeather()
    private var trouble: FailureLog

    package init(_ settings: Settings, log: Log) {
        self.settings = settings
        trouble = FailureLog(
            cannot: "the weather of surveys and trips cannot be asked for; it is added later",
            again: "the weather of surveys and trips is asked for again", level: .warning, log: log)
        backfill = WeatherBackfillSession(settings)
    }

    /// Returns when `shouldStop` says so.
    package func run(shouldStop: () -> Bool) {
        while !shouldStop() {
            do {
                if let error = try look(shouldStop) { trouble.failed("\(error)") } else { trouble.isOver() }
            } catch {
                backfill.close()
                trouble.failed("\(error)")
            }
            BackOff.pause(settings.intervalMs, shouldStop)
        }
    }

    /// Trips get the calls that surveys leave. Returns the error that keeps the service from being called.
    private func look(_ shouldStop: () -> Bool) throws -> ServiceError? {
        if let trouble = try surveys.look(backfill, shouldStop) { return trouble }
        return try trips.look(backfill, shouldStop)
    }
}

/// The resources of a weather backfill: a session, the service, a producer. For one thread.
final class WeatherBackfillSession {
    private static let patienceMs: Int32 = 5_000

    let weather: WeatherClient
    private let settings: WeatherBackfill.Settings
    private var connection: Connection?
    private var producer: Producer?

    init(_ settings: WeatherBackfill.Settings) { (self.settings, weather) = (settings, settings.weather) }

    func session() throws -> Connection {
        let open =
            try connection ?? Connection.ofService(conninfo: settings.conninfo, applicationName: "drover-weather")
        connection = open
        return open
    }

    func put(_ value: [UInt8], topic: String, key: String) throws {
        let sender =
            try producer ?? Producer(settings.kafka, Producer.Tuning(timeoutMs: Int(WeatherBackfillSession.patienceMs)))
        producer = sender
        try sender.produce(topic: topic, partition: nil, key: Array(key.utf8), value: value, timestampMs: nil)
    }

    /// Returns when the broker has all that was put.
    func flush() throws { try producer?.flush(timeoutMs: WeatherBackfillSession.patienceMs + 1_000) }

    /// After an error: either may be gone for good.
    func close() { (connection, producer) = (nil, nil) }
}
