internal import Basics
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage

/// A campus at one moment, for its dispatchers.
struct CampusSnapshot {
    /// What went otherwise than planned: ends of rides, and events of decisions.
    enum Exception: String {
        case cancelled, expired, refused, ended
        case override, breakdown, silence
        case handOver = "hand_over"
        case fellSilent = "fell_silent"
        case outOfService = "out_of_service"

        var shown: String {
            switch self {
            case .cancelled: t("Ride cancelled")
            case .expired: t("Ride given up: no vehicle in time")
            case .refused: t("Ride refused")
            case .ended: t("Ride ended before its drop-off")
            case .override: t("Driver refused a ride")
            case .breakdown: t("Breakdown")
            case .silence: t("Driver silent: out of service")
            case .handOver: t("Ride given to another vehicle")
            case .fellSilent: t("Vehicle silent: it gets no rides")
            case .outOfService: t("Out of service")
            }
        }
    }

    struct Event {
        let atMs: Int64
        let what: Exception
        let request, rider, vehicle, reason: String?
    }

    struct Times {
        /// 1 is Monday; nil: today.
        let weekday: Int?
        let requests, served: Int
        let waitingP50S, waitingP90S, ridingP50S: Double?
    }

    /// Deviations from the plan are shown this long.
    private static let eventsMs: Int64 = 3_600_000
    private static let days: Int64 = 28

    let campus: String
    let settings: CampusSettings
    let vehicles: [VehicleNow]
    /// Outstanding ones, the oldest first.
    let rides: [RideNow]
    /// The riders of these rides.
    let riders: [RideQueries.Key: RideRecord.Person]
    let offset: Int64
    let events: [Event]
    let times: [Times]

    /// Nil: there is no such campus that the account may watch.
    static func read(
        _ campus: String, zone: String, nowMs: Int64, _ queries: ReportQueries, on connection: Connection
    ) throws -> CampusSnapshot? {
        guard let settings = try RideQueries.settings(campus, on: connection) else { return nil }
        let rides = try RideQueries.outstanding(campus, on: connection)
        let keys = rides.map { RideQueries.Key(campus, $0.pickup.request) }
        let today = ZonedDay(date: ZonedDay.date(ofMs: nowMs, zone: zone), zone: zone)
        let fromMs = today?.fromMs ?? UTC.day(of: nowMs)
        let beforeDate = ZonedDay.date(ofMs: fromMs + 43_200_000 - days * UTC.msPerDay, zone: zone)
        let beforeMs = ZonedDay(date: beforeDate, zone: zone)?.fromMs ?? fromMs - days * UTC.msPerDay
        let events = try connection.query(
            queries["campus_events"], [.text(campus), .timestampMs(nowMs - eventsMs)]
        ).map { row in
            Event(
                atMs: try row.timestampMs("happened_at")!, what: try row.word("event")!,
                request: try row.text("request"),
                rider: try row.text("rider"), vehicle: try row.text("vehicle"), reason: try row.text("reason"))
        }
        let times = try connection.query(
            queries["campus_times"],
            [.text(campus), .text(zone), .timestampMs(fromMs), .timestampMs(beforeMs)]
        ).map { row in
            Times(
                weekday: try row.int("weekday"), requests: try row.int("requests")!, served: try row.int("served")!,
                waitingP50S: try row.double("waiting_p50_s"), waitingP90S: try row.double("waiting_p90_s"),
                ridingP50S: try row.double("riding_p50_s"))
        }
        return CampusSnapshot(
            campus: campus, settings: settings, vehicles: try RideQueries.vehicles(campus, on: connection),
            rides: rides,
            riders: keys.isEmpty ? [:] : try RideQueries.riders(keys, on: connection),
            offset: try RideQueries.offsets([campus], on: connection)[campus] ?? 0, events: events, times: times)
    }

    var names: PlaceNames { PlaceNames(settings) }

    /// It was seen too long ago.
    func isStale(_ vehicle: VehicleNow, nowMs: Int64) -> Bool {
        CampusTextView.isStale(vehicle.seenMs, isSilent: vehicle.isSilent, settings, nowMs: nowMs)
    }

    func rider(_ ride: RideNow) -> String {
        riders[RideQueries.Key(campus, ride.pickup.request)]?.name ?? ride.pickup.rider
    }

    /// A vehicle's way: where it is and its stops in order.
    func way(_ vehicle: VehicleNow) -> [Position] {
        CampusSnapshot.way(vehicle, Dictionary(rides.map { ($0.pickup.request, $0) }) { first, _ in first })
    }

    static func way(_ vehicle: VehicleNow, _ rides: [String: RideNow]) -> [Position] {
        [vehicle.place]
            + vehicle.stops.compactMap { stop in
                rides[String(stop.dropLast(2))].map { stop.hasSuffix(" p") ? $0.pickup.from : $0.pickup.to }
            }
    }

    /// The same for a routing service: a vehicle that has not gone a hundred metres is asked for once.
    static func roughly(_ way: [Position]) -> [Position] {
        way.prefix(1).map { $0.rounded(decimals: 3) } + way.dropFirst()
    }
}
