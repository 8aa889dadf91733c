internal import Alerts
internal import Basics
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports

/// The figures of Home: the latest day that has any, over two weeks, against what is usual. What the tables cannot say is left out.
struct HomeFigures {
    static let days = 14
    /// Of more cars the table of days is read, in UTC days, and not every trip: who looks is waiting.
    private static let carsMax = 50
    /// Engine hours of more machines are not added up.
    private static let machinesMax = 200

    private typealias Day = (date: CivilDate, value: Double?)

    private let caller: PageCaller
    private let today: CivilDate
    /// Days are those of UTC, not the reader's.
    private let isUTC: Bool
    /// By date; empty: nobody drove.
    private let sums: [String: FleetSums]
    /// Until this time of the day before; nil: not known.
    private let before: FleetSums?
    /// Hours that engines ran; empty: no machine tells.
    private let engineHours: [Double]
    private let opened: [String: Int]
    /// Of the alerts of a week that are over.
    private let resolved: (count: Int, tookMs: Int64)

    init(
        _ caller: PageCaller, _ map: FleetMap, today: CivilDate, nowMs: Int64, _ queries: ReportQueries,
        on connection: Connection
    ) throws {
        self.caller = caller
        let cars = map.vehicles.count { $0.kind == .car }
        let machines = map.vehicles.count - cars
        // Of a part of a fleet nothing is said.
        guard !map.vehicles.isEmpty, map.vehicles.count < Int(FleetMap.vehiclesMax) else {
            (self.today, isUTC, sums, engineHours, opened, resolved) = (today, false, [:], [], [:], (0, 0))
            before = nil
            return
        }
        isUTC = cars > HomeFigures.carsMax && today.zone != "UTC"
        let day = isUTC ? CivilDate(ofMs: nowMs, zone: "UTC") : today
        self.today = day
        let first = day.moved(by: 1 - Int64(HomeFigures.days))
        let span: [Parameter] = [.timestampMs(first.startMs), .timestampMs(day.moved(by: 1).startMs)]
        let mayDrive = !caller.roles.isDisjoint(with: FleetRoutes.drivers) && cars > 0
        let rows =
            !mayDrive
            ? nil
            : cars > HomeFigures.carsMax
                ? try connection.query(queries["home_fleet_days"], span + [.int8(FleetMap.vehiclesMax)])
                : try connection.query(queries["home_days"], span + [.text(day.zone)])
        sums = try Dictionary(
            uniqueKeysWithValues: rows.map { try $0.map { (try $0.text("day")!, try FleetSums($0)) } } ?? [])
        // A day under way is compared with as much of the day before: the whole one would always have more.
        let yesterday = day.moved(by: -1)
        before =
            cars > HomeFigures.carsMax || sums[day.text] == nil
            ? nil
            : try connection.query(
                queries["home_days"],
                [
                    .timestampMs(yesterday.startMs),
                    .timestampMs(min(day.startMs, yesterday.startMs + nowMs - day.startMs)), .text(day.zone),
                ]
            ).first.map { try FleetSums($0) } ?? FleetSums()
        engineHours =
            sums.isEmpty && (1...HomeFigures.machinesMax).contains(machines)
            ? try HomeFigures.engineHours(first, nowMs: nowMs, queries, on: connection) : []
        let audiences = caller.audience.seen.map(\.rawValue)
        let alerts = try connection.query(
            queries["home_alert_days"], span + [.text(day.zone), .textArray(audiences), .int8(FleetMap.vehiclesMax)])
        var (opened, over, tookMs) = ([String: Int](), 0, Int64(0))
        let week = day.moved(by: -6).text
        for row in alerts {
            let day = try row.text("day")!
            opened[day] = try row.int("opened")
            if day >= week {
                over += try row.int("resolved") ?? 0
                tookMs += Int64(try row.int("took_ms") ?? 0)
            }
        }
        self.opened = opened
        resolved = (over, tookMs)
    }

    /// Of each day, today's so far.
    private static func engineHours(
        _ first: CivilDate, nowMs: Int64, _ queries: ReportQueries, on connection: Connection
    ) throws -> [Double] {
        let edges = (0..<Int64(days)).map { first.moved(by: $0).startMs } + [nowMs]
        let rows = try connection.query(
            queries["home_machine_days"], [.timestampArray(edges), .int8(Int64(machinesMax))])
        let meters = try rows.map { try $0.double("engine_h") ?? 0 }
        guard meters.count == edges.count else { return [] }
        return zip(meters.dropFirst(), meters).map { max(0, $0 - $1) }
    }

    /// `7 of this week's alerts are resolved, in 6 min on average`
    var resolvedWords: String? {
        guard resolved.count > 0 else { return nil }
        let span = caller.words.span(resolved.tookMs / Int64(resolved.count))
        return t("\(resolved.count) resolved this week, in \(span) on average")
    }

    // MARK: Tiles

    /// Four of cars, or two of machines; empty: there is nothing to tell.
    var tiles: [HTML] {
        if !sums.isEmpty { return FleetSums.Figure.allCases.compactMap(tile) }
        return [hoursTile, alertsTile].compactMap { $0 }
    }

    private var dates: [CivilDate] {
        (0..<Int64(HomeFigures.days)).map { today.moved(by: $0 + 1 - Int64(HomeFigures.days)) }
    }

    private func tile(_ figure: FleetSums.Figure) -> HTML? {
        let days: [Day] = dates.map { ($0, sums[$0.text]?.value(figure, caller.units)) }
        guard let latest = days.last(where: { $0.value != nil }), let value = latest.value else { return nil }
        let others = dates.filter { $0.text != latest.date.text }.compactMap { sums[$0.text] }
        let isSum = figure == .distance
        let usual =
            isSum
            ? others.isEmpty
                ? nil : others.compactMap { $0.value(figure, caller.units) }.reduce(0, +) / Double(others.count)
            : others.reduce(FleetSums(), +).value(figure, caller.units)
        return HomeFigures.card(
            address: figure == .distance ? "/trips?date=\(latest.date.text)" : "/fleet?date=\(latest.date.text)",
            t("\(figure.name) \(name(latest.date))"), .figure(figure.text(value), figure.unit(caller.units)),
            HTML.sparkline(values: days.map(\.value), width: 108, height: 36),
            isSum && isToday(latest.date)
                ? soFar(figure, value, usual.map { "\(figure.text($0)) \(figure.unit(caller.units))" })
                : change(figure, value, usual))
    }

    private func change(_ figure: FleetSums.Figure, _ value: Double, _ usual: Double?) -> HTML {
        guard let change = FleetSums.change(figure, value, usual, caller.units), let usual else {
            return .t("Nothing to compare it with yet")
        }
        let words = t("\(figure.text(usual)) on a usual day")
        return change.tone == "flat" && change.mark == t("no change")
            ? .t("As on a usual day") : "<span class=\"\(change.tone)\">\(change.mark)</span> \(words)"
    }

    private func soFar(_ usual: String?) -> HTML { usual.map { .t("So far. Usually \($0) a day") } ?? .t("So far") }

    private func soFar(_ figure: FleetSums.Figure, _ value: Double, _ usual: String?) -> HTML {
        guard let before else { return soFar(usual) }
        guard let then = before.value(figure, caller.units) else {
            return .t("So far. Nothing yet at this time yesterday")
        }
        let words = "\(figure.text(then)) \(figure.unit(caller.units))"
        guard let change = FleetSums.change(figure, value, then, caller.units) else { return soFar(usual) }
        return "<span class=\"\(change.tone)\">\(change.mark)</span> \(t("vs this time yesterday, \(words)"))"
    }

    private var hoursTile: HTML? {
        guard let at = engineHours.lastIndex(where: { $0 > 0.05 }) else { return nil }
        let others = engineHours.indices.filter { $0 != at && engineHours[$0] > 0.05 }.map { engineHours[$0] }
        let usual = others.isEmpty ? nil : others.reduce(0, +) / Double(others.count)
        let usually = usual.map { "\(GroupedNumber.short($0, 1)) h" }
        let date = dates[at]
        return HomeFigures.card(
            address: "/vehicles?kind=machine", t("Engine hours \(name(date))"),
            .figure(GroupedNumber.short(engineHours[at], 1), "h"),
            HTML.sparkline(values: engineHours, width: 108, height: 36),
            isToday(date)
                ? soFar(usually) : usually.map { .t("Usually \($0) a day") } ?? .t("Nothing to compare it with yet"))
    }

    private var alertsTile: HTML? {
        let counts = dates.map { Double(opened[$0.text] ?? 0) }
        let total = Int(counts.reduce(0, +))
        guard total > 0 else { return nil }
        return HomeFigures.card(
            address: "/alerts", t("Alerts today"), .figure(String(Int(counts[counts.count - 1])), t("opened")),
            HTML.bars(values: counts, width: 108, height: 36), .t("\(total) in 14 days"))
    }

    private static func card(address: HTML, _ label: String, _ figure: HTML, _ picture: HTML, _ change: HTML) -> HTML {
        """
        <a class="card kpi link" href="\(address)"><span class="label">\(label)</span>\
        <span class="row">\(figure)\(picture)</span><span class="chg">\(change)</span></a>
        """
    }

    private func isToday(_ date: CivilDate) -> Bool { date.text == today.text }

    private func name(_ date: CivilDate) -> String {
        let name =
            switch date.days(to: today) {
            case 0: t("today")
            case 1: t("yesterday")
            default: caller.words.date(date)
            }
        return isUTC ? t("\(name) (UTC)") : name
    }
}
