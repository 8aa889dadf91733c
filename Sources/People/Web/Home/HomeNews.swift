internal import Alerts
internal import Basics
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports
internal import Trips

/// What Home reads. It is no more than what the other pages show the same account.
struct HomeNews {
    private static let alertsMax: Int64 = 100
    static let tripsMax: Int64 = 10

    let map: FleetMap
    /// What is wrong and nobody has taken on or muted, the worst first.
    let faults: [OpenAlert]
    /// Faults that somebody has acknowledged, or muted.
    let handled: [OpenAlert]
    /// Services that are due, or soon.
    let services: [OpenAlert]
    /// There are more than were read.
    let isCut: Bool
    /// Of the worst fault.
    let told: [(account: String, name: String, ms: Int64)]
    let figures: HomeFigures
    /// Those of today, the last first.
    let trips: [TripRead]
    let ways: [TripOutlines.Key: TripOutlines.Way]
    /// The worst fault is the reader's to take on.
    let mayAct: Bool

    /// - Parameter seen: an alert that the reader has just acknowledged, which may not be stored yet.
    init(
        _ caller: PageCaller, seen: String?, tripGapMs: Int64, price: FuelPrice?, nowMs: Int64,
        _ queries: ReportQueries,
        on connection: Connection
    ) throws {
        map = try FleetMap.read(
            search: "", group: "", role: caller.audience, tripGapMs: tripGapMs, nowMs: nowMs, queries, on: connection)
        let open = try OpenAlert.read(role: caller.audience, limit: HomeNews.alertsMax, queries, on: connection)
        isCut = open.count == Int(HomeNews.alertsMax)
        services = open.filter { $0.alert.isService }
        let wrong = open.filter { !$0.alert.isService }
        func isHandled(_ one: OpenAlert) -> Bool {
            one.acknowledgedBy != nil || one.silencedUntilMs != nil || one.id == seen
        }
        faults = wrong.filter { !isHandled($0) }
        handled = wrong.filter(isHandled)
        told = try faults.first.map { try HomeNews.told($0, queries, on: connection) } ?? []
        mayAct =
            try faults.first.flatMap {
                try AlertDetail.read($0.id, audiences: caller.audience.seen, queries, on: connection)
            }.map { try AlertAccess.mayAct($0, caller, at: nowMs, on: connection) } ?? false
        let today = CivilDate(ofMs: nowMs, zone: caller.clock.zone)
        figures = try HomeFigures(caller, map, today: today, nowMs: nowMs, queries, on: connection)
        guard !caller.roles.isDisjoint(with: FleetRoutes.drivers) else {
            (trips, ways) = ([], [:])
            return
        }
        let span = today.span(days: 1)
        trips = try connection.query(
            queries["home_trips"],
            [.timestampMs(span.lowerBound), .timestampMs(span.upperBound), .int8(HomeNews.tripsMax)]
        ).map { try TripRead($0, price: price) }
        ways = try TripOutlines.read(trips, queries, on: connection)
    }

    /// Who was told of an alert while it was open, each when first. Whoever was not is of no use to the reader now.
    private static func told(
        _ open: OpenAlert, _ queries: ReportQueries, on connection: Connection
    ) throws -> [(account: String, name: String, ms: Int64)] {
        var found: [(account: String, name: String, ms: Int64)] = []
        // The latest come first.
        for one in try AlertTale(of: open.id, queries, on: connection).told.reversed() {
            guard let ms = one.sentMs, !found.contains(where: { $0.account == one.account }) else { continue }
            found.append((one.account, one.name.isEmpty ? one.account : one.name, ms))
        }
        return found.sorted { $0.ms < $1.ms }
    }
}
