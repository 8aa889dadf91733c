internal import Alerts
internal import Basics
internal import Presentation
internal import Reports
internal import Trips

/// What happened on a trip, in the order of time: each line leads to its moment on the map and in the charts.
struct TripEventsView {
    /// A day of deliveries has about as many stops.
    private static let eventsMax = 150

    let events: [TripEvent]
    /// Of each event, where it is known.
    let streets: [String?]
    /// Where it began and ended.
    let ends: [String?]
    let read: TripRead
    let words: TripWords

    var html: HTML {
        let shown = events.prefix(TripEventsView.eventsMax)
        let left = events.count - shown.count
        let rest: HTML = left > 0 ? "<p class=\"empty\">And \(left) more: they are in the charts.</p>" : ""
        let start = line(t("Start"), ends[0], .flag, read.trip.startMs)
        let end = line(read.isOpen ? t("Last reading") : t("End"), ends[1], .flag, read.trip.endMs)
        return """
            <section class="card w4" aria-labelledby="happened"><header><h2 id="happened">Stops and events</h2><span class="count">\(events.count)</span></header>
            <ol id="events" class="evs">\(start)\(zip(shown, streets).map(item).joined())\(end)</ol>\(rest)</section>
            """
    }

    private func item(_ event: TripEvent, at street: String?) -> HTML {
        let value = event.value.map { String($0) }
        switch event.kind {
        case .stop:
            return line(
                t("Stop"), street, .parking, event.startMs, TripWords.length(event.lengthMs), untilMs: event.endMs)
        case .silence:
            return line(
                t("No readings"), nil, .silent, event.startMs, TripWords.length(event.lengthMs), untilMs: event.endMs)
        case .acceleration:
            return line(
                t("Harsh acceleration"), street, .harsh, event.startMs, rate(event), short: t("acceleration"),
                isWarning: true)
        case .braking:
            return line(
                t("Harsh braking"), street, .harsh, event.startMs, rate(event), short: t("braking"), isWarning: true)
        case .topSpeed:
            let speed = words.speed(event.value.map { Decimal.text($0, decimals: 3) }).map { "\($0.number) \($0.unit)" }
            let limit = read.settings.flatMap { $0.isOn(.alerts) && $0.isOn(.speedAlert) ? $0.speedLimitMilliKmh : nil }
            let isOver = limit.map { (event.value ?? 0) > $0 } ?? false
            return line(
                isOver ? t("Top speed, over the limit") : t("Top speed"), street, .speed, event.startMs, speed ?? value,
                isWarning: isOver)
        }
    }

    private func rate(_ event: TripEvent) -> String? {
        event.value.map { "\(GroupedNumber.text(Double($0) / 1_000, 1)) m/s²" }
    }

    /// - Parameter short: its name in a chart.
    private func line(
        _ name: String, _ street: String?, _ icon: IconName, _ ms: Int64, _ end: String? = nil, untilMs: Int64? = nil,
        short: String? = nil, isWarning: Bool = false
    ) -> HTML {
        let mark: HTML? = short.map { " data-short=\"\($0)\"" }
        let until: HTML? = untilMs.map { " data-until=\"\($0)\"" }
        let place: HTML? = street.map { " <span class=\"soft\">\($0)</span>" }
        let more: HTML? = end.map { "<span class=\"small nowrap\">\($0)</span>" }
        return
            "<li><a class=\"ev\(" warn", if: isWarning)\" href=\"#track\" data-at=\"\(ms)\"\(until)\(mark) data-icon=\"\(icon.rawValue)\">\(words.timeHTML(ms))\(HTML.icon(icon))<span class=\"ell\"><b>\(name)</b>\(place)</span>\(more)</a></li>"
    }
}

/// What a trip's fuel cost, and how much the car used beside its trips before.
struct TripCostView {
    /// Fewer are no habit.
    private static let leastTrips = 3

    let read: TripRead
    /// The newest first.
    let before: [TripRead]
    let words: TripWords

    var html: HTML {
        """
        <section class="card w4" aria-labelledby="cost"><header><h2 id="cost">Cost</h2></header>
        \(cost)\(habit)</section>
        """
    }

    private var cost: HTML {
        guard let cost = words.cost(read.figures), let price = read.figures.price, let fuel = words.fuel(read.figures)
        else {
            let why = read.figures.fuelUnknown.map(TripWords.why) ?? t("no price of fuel is set")
            return
                "<p class=\"empty\">Not known: \(why). <a href=\"/vehicles/\(encoded: read.vehicle)?kind=car\">The car's facts</a></p>"
        }
        let each: HTML? = words.costOfDistance(read.figures).map { " <span class=\"soft\">\($0)</span>" }
        return """
            <div class="body"><span class="fig">\(cost)</span>\(each)
            <dl class="kv right"><dt>Fuel, \(fuel.number) \(fuel.unit) at \(words.price(price))</dt><dd>\(cost)</dd></dl></div>
            """
    }

    /// Litres a kilometre of the trips before and of this one.
    private var habit: HTML {
        let all = (before.reversed() + [read]).compactMap { TripCostView.consumption($0.figures) }
        guard let now = TripCostView.consumption(read.figures), all.count > TripCostView.leastTrips else { return "" }
        let others = all.dropLast()
        let mean = others.reduce(0, +) / Double(others.count)
        let percent = ChangeWords.percent(now, mean) ?? 0
        let tone: HTML = percent < 0 ? "up small" : percent == 0 ? "flat small" : "small"
        let verdict: HTML = "<span class=\"\(tone)\">\(ChangeWords.text(now, mean, than: .average) ?? "–")</span>"
        return """
            <div class="body rule"><div class="row between"><b>\(words.isUS ? t("Fuel a mile, last \(all.count) trips") : t("Fuel a kilometre, last \(all.count) trips"))</b>\(verdict)</div>
            \(HTML.bars(values: all, width: 330, height: 96))</div>
            """
    }

    private static func consumption(_ figures: TripFigures) -> Double? {
        guard let litres = figures.litres, let km = figures.distanceKm.flatMap({ Double($0) }), km > 0.5 else {
            return nil
        }
        return litres / km
    }
}
