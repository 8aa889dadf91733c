internal import Codecs
internal import ExternalServices
internal import Fleet
internal import Formats
internal import Postgres
internal import Storage
internal import Telemetry

/// The weather of cars' trips: that of the hour and the place at which they began.
struct TripWeather {
    private struct Wanted {
        let vehicle: String
        let startMs: Int64
        let place: Position
        /// A start that late data moves is another question.
        var key: String { "\(vehicle) \(startMs) \(place.text)" }
    }

    private static let pageMax = 200

    private var tries = BackfillTries()
    /// The last trip that was looked at; nil: begin with the newest.
    private var cursor: (startMs: Int64, vehicle: String)?

    /// Goes on where the last look stopped, to the end. Returns what keeps the service from being asked.
    mutating func look(_ backfill: WeatherBackfillSession, _ shouldStop: () -> Bool) throws -> ServiceError? {
        while !shouldStop() {
            let (page, isLast) = try page(backfill.session())
            var trouble: ServiceError?
            for wanted in page where !shouldStop() && trouble == nil {
                if tries.isDue(wanted.key, nowMs: Clock.nowMs()) { trouble = try fill(wanted, backfill) }
            }
            try backfill.flush()
            if trouble != nil || isLast {
                cursor = nil
                return trouble
            }
        }
        return nil
    }

    private mutating func fill(_ wanted: Wanted, _ backfill: WeatherBackfillSession) throws -> ServiceError? {
        let answer: WeatherAnswer
        do throws(ServiceError) {
            answer = try backfill.weather.weather(at: wanted.place, ts: wanted.startMs, nowMs: Clock.nowMs())
        } catch {
            // A service that is away says nothing about the trip.
            guard error.reason == .noAnswer || error.reason == .unreadable else { return error }
            tries.tried(wanted.key, isFilled: false, nowMs: Clock.nowMs())
            return error.reason == .unreadable ? error : nil
        }
        try push(answer, of: wanted, backfill)
        tries.tried(wanted.key, isFilled: true, nowMs: Clock.nowMs())
        return nil
    }

    private func push(_ answer: WeatherAnswer, of wanted: Wanted, _ backfill: WeatherBackfillSession) throws {
        let action = Action(
            id: "weather-\(answer.fetchedMs)-\(answer.hour.ts)", vehicle: VehicleID(wanted.vehicle),
            ts: Clock.nowMs(), by: "weather", note: nil,
            kind: .weather(
                hourMs: WeatherAnswer.hour(of: wanted.startMs), answer: JSONValue.object(answer.fields).rendered()))
        try backfill.put(RecordWriter.action(action), topic: Topic.cars, key: wanted.vehicle)
    }

    /// The next trips that lack their weather.
    private mutating func page(_ open: Connection) throws -> (page: [Wanted], isLast: Bool) {
        let rows = try TripWeatherStore.lacking(after: cursor, most: TripWeather.pageMax, on: open)
        if let last = rows.last { cursor = (last.startMs, last.vehicle) }
        let page = rows.compactMap { trip in
            trip.place.map { Wanted(vehicle: trip.vehicle, startMs: trip.startMs, place: $0) }
        }
        return (page, rows.count < TripWeather.pageMax)
    }
}
