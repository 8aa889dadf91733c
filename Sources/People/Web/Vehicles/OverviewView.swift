internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports
internal import Trips

/// The fleet in a day, week or month beside the one before: a verdict in words, the figures, and each vehicle's share of them.
struct OverviewView {
    enum Span: String, CaseIterable {
        case day, week, month

        var name: String {
            switch self {
            case .day: t("Day")
            case .week: t("Week")
            case .month: t("Month")
            }
        }
    }

    let first: CivilDate
    let span: Span
    let now: [TripRead]
    /// Of the span before: while this one is under way, of the same part of it, or every figure would be lower until the evening.
    let before: [TripRead]
    private let isCut: Bool
    let map: FleetMap
    let caller: PageCaller
    let nowMs: Int64

    /// - Parameter before: all of the span before.
    init(
        first: CivilDate, span: Span, now: [TripRead], before: [TripRead], map: FleetMap, caller: PageCaller,
        nowMs: Int64
    ) {
        (self.first, self.span, self.now, self.map, self.caller, self.nowMs) = (first, span, now, map, caller, nowMs)
        isCut = max(now.count, before.count) == Int(TripRead.dayMax)
        let cutMs = OverviewView.cutMs(first, span, nowMs: nowMs)
        self.before = cutMs.map { cutMs in before.filter { $0.trip.startMs < cutMs } } ?? before
    }

    /// As far into the span before as now is into this one; nil: this one is over, or still to come.
    private static func cutMs(_ first: CivilDate, _ span: Span, nowMs: Int64) -> Int64? {
        let days = OverviewView.days(first, span)
        guard days.now.first.span(days: days.now.count).contains(nowMs) else { return nil }
        let past = days.before.first.span(days: days.before.count)
        // A month has days that the one before lacks.
        return min(past.upperBound, past.lowerBound + nowMs - days.now.first.startMs)
    }

    private var cutMs: Int64? { OverviewView.cutMs(first, span, nowMs: nowMs) }

    /// The days of a span that a date lies in, and those of the one before.
    static func days(_ date: CivilDate, _ span: Span) -> (
        now: (first: CivilDate, count: Int64), before: (first: CivilDate, count: Int64)
    ) {
        switch span {
        case .day: return ((date, 1), (date.moved(by: -1), 1))
        case .week: return ((date.monday, 7), (date.monday.moved(by: -7), 7))
        case .month:
            let (this, next) = date.monthStarts
            let last = this.moved(by: -1).monthStarts.this
            return ((this, this.days(to: next)), (last, last.days(to: this)))
        }
    }

    var html: HTML {
        """
        \(picker)
        \(isCut ? "<p class=\"strip warning\">\(HTML.icon(.warn))<span>Only the first \(TripRead.dayMax) trips are counted. Choose a shorter span.</span></p>" : "")
        <div class="grid">
        \(verdict)
        </div>
        \(figures)
        \(now.isEmpty ? "" : vehicleTable)
        \(now.isEmpty && before.isEmpty ? "" : rest)
        \(span == .day || now.isEmpty ? "" : byDay)
        <div class="grid">
        \(alerts)
        \(silent)
        </div>
        """
    }

    private var dayCount: Int64 { OverviewView.days(first, span).now.count }

    /// `20 to 26 Nov 2026`
    var title: String {
        let last = first.moved(by: dayCount - 1)
        switch span {
        case .day: return caller.words.fullDate(first)
        case .week:
            return t("\(caller.words.date(first)) to \(caller.words.date(last)) \(String(last.text.prefix(4)))")
        case .month: return "\(caller.words.date(first).dropFirst(2)) \(first.text.prefix(4))"
        }
    }

    private var hours: Int64 {
        let ms = first.span(days: dayCount)
        return (ms.upperBound - ms.lowerBound) / 3_600_000
    }

    // MARK: The range

    private var picker: HTML {
        func address(_ date: CivilDate, _ span: Span) -> HTML { "/fleet?date=\(date.text)&amp;span=\(span.rawValue)" }
        let (earlier, later) = (OverviewView.days(first, span).before.first, first.moved(by: dayCount))
        let spans: [HTML] = Span.allCases.map { one in
            "<a href=\"\(address(first, one))\"\(" aria-current=\"true\"", if: one == span)>\(one.name)</a>"
        }
        let isNow = later.startMs > nowMs
        let (back, forth) =
            switch span {
            case .day: (t("The day before"), t("The day after"))
            case .week: (t("The week before"), t("The week after"))
            case .month: (t("The month before"), t("The month after"))
            }
        return """
            <div class="row wrap between bar"><div class="row wrap"><nav class="seg" aria-label="Span">\(spans.joined())</nav>
            <a class="btn icon" href="\(address(earlier, span))" aria-label="\(back)">\(HTML.icon(.left))</a>\
            \(isNow ? "" : "<a class=\"btn icon\" href=\"\(address(later, span))\" aria-label=\"\(forth)\">\(HTML.icon(.right))</a>")
            <span class="soft small about">\(about)</span></div>
            <form class="row" method="get" action="/fleet">\(FormView.hidden("span", span.rawValue))<label class="sr" for="date">Date</label>\
            <input class="box" id="date" name="date" type="date" value="\(first.text)" required><button class="btn">Show</button></form></div>
            """
    }

    /// What is counted, and what it is compared with.
    private var about: HTML {
        let counted: HTML = "\(t("\(first.zone), \(hours) hours.")) \(t("Trips count on the day they begin."))"
        return cutMs.map { cutMs in
            let moment = caller.clock.minute(cutMs)
            let words =
                switch span {
                case .day: t("Today so far is compared with the day before up to the same time, \(moment).")
                case .week: t("This week so far is compared with the week before up to \(moment).")
                case .month: t("This month so far is compared with the month before up to \(moment).")
                }
            return "\(counted) \(words)"
        } ?? counted
    }

    // MARK: The verdict

    private var sums: FleetSums { FleetSums(now) }

    private var byVehicle: [(vehicle: String, reads: [TripRead], sums: FleetSums)] {
        Dictionary(grouping: now, by: \.vehicle).map { ($0.key, $0.value, FleetSums($0.value)) }
            .sorted { ($1.sums.distanceMm, $0.vehicle) < ($0.sums.distanceMm, $1.vehicle) }
    }

    private func name(_ vehicle: String) -> String {
        map.vehicles.first { $0.kind == .car && $0.vehicle == vehicle }?.name ?? vehicle
    }

    private var verdict: HTML {
        guard !now.isEmpty else {
            let title =
                switch span {
                case .day: t("No trip began in this day")
                case .week: t("No trip began in this week")
                case .month: t("No trip began in this month")
                }
            let words: HTML =
                "<span>Figures come here with the first trip. <a href=\"/trips\">Trips of other days</a></span>"
            return "<section class=\"card w12\">\(HTML.emptyState(.trip, title, words))</section>"
        }
        let (title, words) = judged
        return
            "<section class=\"card w12 verdict-card\"><div class=\"body\"><p class=\"verdict-line\"><b>\(title)</b> <span class=\"soft\">\(words)</span></p></div></section>"
    }

    /// The vehicle that stands out, and how the fleet did.
    private var judged: (title: String, words: String) {
        let fleet = sums
        let figure = FleetSums.Figure.consumption
        let unit = figure.unit(caller.units)
        let overall = overallWords
        // A short way says little of what a vehicle uses.
        let known = byVehicle.filter { $0.sums.fuelDistanceMm >= 5_000_000 }.compactMap { one in
            one.sums.value(figure, caller.units).map { (one.vehicle, $0) }
        }
        let thirsty = caller.units == .us ? known.min { $0.1 < $1.1 } : known.max { $0.1 < $1.1 }
        guard known.count > 1, let (vehicle, value) = thirsty, let mean = fleet.value(figure, caller.units), mean > 0
        else {
            return (overall, "")
        }
        let percent = GroupedNumber.short(abs(value - mean) / mean * 100, 0)
        guard percent != "0" else { return (overall, t("All vehicles use about the same.")) }
        let (named, used) = (name(vehicle), "\(figure.text(value)) \(unit)")
        let title =
            caller.units == .us
            ? t("\(named) uses the most: \(used), \(percent) % below the fleet.")
            : t("\(named) uses the most: \(used), \(percent) % over the fleet.")
        return (title, overall)
    }

    private var overallWords: String {
        let (fleet, past) = (sums, FleetSums(before))
        let distance = FleetSums.Figure.distance
        let km =
            fleet.value(distance, caller.units).map { "\(distance.text($0)) \(distance.unit(caller.units))" } ?? "0 km"
        let vehicles = byVehicle.count
        let trips = caller.words.count(fleet.trips, .trip)
        let drove = t(
            vehicles, one: "\(vehicles) vehicle drove \(km) in \(trips).",
            many: "\(vehicles) vehicles drove \(km) in \(trips).")
        guard let now = fleet.value(distance, caller.units), let then = past.value(distance, caller.units), then > 0
        else { return drove }
        return ChangeWords.text(now, then, than: than).map { "\(drove) \($0)." } ?? drove
    }

    private var than: ChangeWords.Than {
        switch span {
        case .day: .day(soFar: cutMs != nil)
        case .week: .week(soFar: cutMs != nil)
        case .month: .month(soFar: cutMs != nil)
        }
    }

    /// `by this time yesterday`
    private var beforeWords: String {
        switch (span, cutMs == nil) {
        case (.day, true): t("the day before")
        case (.week, true): t("the week before")
        case (.month, true): t("the month before")
        case (.day, false): t("by this time yesterday")
        case (.week, false): t("by this time last week")
        case (.month, false): t("by this time last month")
        }
    }

    // MARK: Figures

    private var figures: HTML {
        let (fleet, past) = (sums, FleetSums(before))
        let tiles: [HTML] = FleetSums.Figure.allCases.compactMap { figure in
            let (value, old) = (fleet.value(figure, caller.units), past.value(figure, caller.units))
            guard let value else { return nil }
            let then =
                old.map { "\(figure.text($0)) \(figure.unit(caller.units)) \(beforeWords)" }
                ?? t("Not known \(beforeWords)")
            let mark: HTML? = FleetSums.change(figure, value, old, caller.units).map {
                "<span class=\"\($0.tone)\">\($0.mark)</span> "
            }
            return """
                <div class="card kpi"><span class="label">\(figure.name)</span><span class="row">\(.figure(figure.text(value), figure.unit(caller.units)))\
                \(span == .day ? "" : HTML.sparkline(values: days.map { FleetSums($0.reads).value(figure, caller.units) }, width: 108, height: 36))</span><span class="chg">\(mark)\(then)</span></div>
                """
        }
        return "<section class=\"tiles4\" aria-label=\"At a glance\">\(tiles.joined(separator: "\n"))</section>"
    }

    /// What has no tile, beside the span before.
    private var rest: HTML {
        let pairs = zip(TripTotalsView(now, caller.units).figures, TripTotalsView(before, caller.units).figures)
        let (this, then) =
            switch (span, cutMs == nil) {
            case (.day, true): (t("This day"), t("The day before"))
            case (.week, true): (t("This week"), t("The week before"))
            case (.month, true): (t("This month"), t("The month before"))
            case (.day, false): (t("Today so far"), t("By this time yesterday"))
            case (.week, false): (t("This week so far"), t("By this time last week"))
            case (.month, false): (t("This month so far"), t("By this time last month"))
            }
        return HTML.table(
            caption: t("Figures"),
            headers: [.text(t("Figure")), .number(this), .number(then), .number(t("Change"))],
            rows: pairs.map { now, before in
                [.text(now.name), .text(now.text), .text(before.text), .text(change(now.value, before.value))]
            }, empty: "")
    }

    private func change(_ now: Double?, _ before: Double?) -> String? {
        guard let now, let before, before > 0 else { return nil }
        let percent = (now - before) / before * 100
        return "\(percent > 0 ? "+" : percent < 0 ? "−" : "")\(TripTotalsView.text(abs(percent), 0)) %"
    }
}
