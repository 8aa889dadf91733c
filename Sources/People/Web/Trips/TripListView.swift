internal import Fleet
internal import Presentation
internal import Reports
internal import Trips

/// The trips of a day or some: sums beside those of the time before, then each trip with its outline.
struct TripListView {
    /// So many vehicles and drivers are offered as chips; others are typed.
    private static let chipsMax = 8

    let filter: TripFilter
    /// What the filter keeps, in its order.
    let trips: [TripRead]
    /// Of the span, whoever's they are: what chips offer.
    let all: [TripRead]
    let before: [TripRead]
    let names: [String: String]
    /// What stands in the field: the chosen vehicle's name, where it is the only one of that name, else its id.
    let typed: String
    /// Of the rows that are shown, by vehicle and start.
    let outlines: [TripOutlines.Key: TripOutlines.Way]
    /// The streets where they began and ended, as far as the map tells.
    let streets: [TripOutlines.Key: (from: String?, to: String?)]
    /// When the last trip began that may be seen: where there is none in the span.
    let lastMs: Int64?
    /// The span has more than can be read at once.
    let isCut: Bool
    let caller: PageCaller
    let nowMs: Int64
    let tripGapMs: Int64

    private var words: TripWords { TripWords(caller: caller) }

    var title: String {
        filter.days == 1
            ? t("Trips, \(caller.words.fullDate(filter.first))")
            : t(
                "Trips, \(caller.words.date(filter.first)) to \(caller.words.date(filter.last)) \(String(filter.last.text.prefix(4)))"
            )
    }

    var heading: PageHeading {
        let hours = (filter.span.upperBound - filter.span.lowerBound) / 3_600_000
        let status: HTML =
            "<span class=\"faint small hide-phone\" title=\"A trip counts on the day it begins\">\(filter.first.zone), \(hours) hours</span>"
        return PageHeading(HTML(title), status: status, actions: actions)
    }

    private var actions: HTML {
        let (days, filter) = (filter.days, filter)
        let earlier = filter.address(first: filter.first.moved(by: -days), last: filter.last.moved(by: -days))
        let later = filter.address(first: filter.first.moved(by: days), last: filter.last.moved(by: days))
        let (before, after) =
            days == 1
            ? (t("The day before"), t("The day after"))
            : (t("The \(days) days before"), t("The \(days) days after"))
        return """
            <a class="btn icon" href="\(earlier)" aria-label="\(before)" title="\(before)">\(HTML.icon(.left))</a>\
            <a class="btn icon" href="\(later)" aria-label="\(after)" title="\(after)">\(HTML.icon(.right))</a>
            \(filter.columns.menu(standard: filter.address(columns: ""), style: "btn"))
            <a class="btn hide-phone" href="/trips/compare">\(HTML.icon(.compare))Compare</a>
            <details class="menu end hide-phone"><summary class="btn">\(HTML.icon(.download))Export</summary><div class="pop">
            <a href="\(filter.address(format: "csv"))">\(file)</a>
            <a href="/reports?report=trips&amp;\(reportSpan)&amp;of=\(encoded: filter.vehicle)">As a report</a></div></details>
            \(filter.columns.form("/trips", kept: filter.items(columns: "")))
            """
    }

    private var file: String {
        let count = GroupedNumber.text(trips.count)
        return t(trips.count, one: "CSV of this trip", many: "CSV of these \(count) trips")
    }

    private var reportSpan: HTML {
        filter.days == 1
            ? "date=\(filter.first.text)" : "date=\(filter.first.text)&amp;until=\(filter.last.text)&amp;span=range"
    }

    var html: HTML {
        let cut: HTML =
            isCut
            ? "<p class=\"strip warning\">\(HTML.icon(.info))<span>More than \(GroupedNumber.text(TripRead.dayMax)) trips: only the first are counted. Choose fewer days or one vehicle.</span></p>\n"
            : ""
        return """
            \(cut)\(sums)
            <section class="card"><h2 class="sr">List</h2>
            \(TripListView.bar(filter, typed, chips: chips))
            \(trips.isEmpty ? empty : "\(TripRowsView(filter: filter, trips: shown, names: names, outlines: outlines, streets: streets, words: words, isUnderWay: isUnderWay).html)\(pager)")</section>
            """
    }

    /// Neither all trips nor none would answer the request.
    static func noVehicle(_ name: String, _ filter: TripFilter) -> HTML {
        """
        <p role="alert" class="strip critical">\(HTML.icon(.warn))<span>No vehicle \(String(name.prefix(64))): you see no car of this name or id, or several of this name. Choose one from the list, or leave it empty for all cars.</span></p>
        <section class="card">\(bar(filter, String(name.prefix(64)), chips: ""))</section>
        """
    }

    // MARK: Sums

    /// It may still grow: it counts when it has ended.
    private func isUnderWay(_ read: TripRead) -> Bool { read.isUnderWay(nowMs: nowMs, tripGapMs: tripGapMs) }

    private var sums: HTML {
        let ended = trips.filter { !isUnderWay($0) }
        let now = TripTotalsView(ended, caller.units), then = TripTotalsView(before, caller.units)
        func figure(_ key: TripTotalsView.Key) -> TripTotalsView.Figure? { now.figures.first { $0.key == key } }
        func card(
            _ key: TripTotalsView.Key, _ label: String, _ more: [String?], isLessBetter: Bool = false
        ) -> HTML {
            guard let figure = figure(key) else { return "" }
            let number: String
            if key == .cost, let value = figure.value {
                number = TripWords.money(value, figure.unit)
            } else {
                number = figure.unit.isEmpty ? figure.text : String(figure.text.dropLast(figure.unit.count + 1))
            }
            let unit: HTML? = key == .cost || figure.unit.isEmpty ? nil : "<small>\(figure.unit)</small>"
            let about = more.compactMap { $0 }.joined(separator: ", ")
            let note: HTML? = about.isEmpty ? nil : "\(about) · "
            let was = then.figures.first { $0.key == key }?.value
            return """
                <section class="card w3 kpi"><span class="label">\(label)</span><span class="fig">\(number)\(unit)</span>\
                <span class="chg">\(note)\(change(figure.value, was, isLessBetter))</span></section>
                """
        }
        func known(_ key: TripTotalsView.Key) -> String? {
            figure(key).flatMap { $0.value == nil ? nil : $0.text }
        }
        let open = trips.count - ended.count
        return """
            <div class="grid sums">
            \(card(.trips, t("Trips"), [caller.words.count(now.vehicles, .vehicle), open == 0 ? nil : t("\(open) under way, not counted yet")]))
            \(card(.distance, t("Distance"), ended.isEmpty ? [] : [known(.driving).map { t("\($0) driving") }, known(.idle).map { t("\($0) idle") }]))
            \(card(.fuel, t("Fuel"), [known(.consumption)], isLessBetter: true))
            \(card(.cost, t("Cost"), [], isLessBetter: true))
            </div>
            """
    }

    /// Beside the time before; of days that are not over, beside as much of it.
    private func change(_ now: Double?, _ then: Double?, _ isLessBetter: Bool) -> HTML {
        let days = filter.days, isPart = filter.span.contains(nowMs)
        guard let now, let then, then > 0 else {
            if isPart { return days == 1 ? .t("none by this time yesterday") : .t("none by this time before") }
            return days == 1 ? .t("none the day before") : .t("none in the \(days) days before")
        }
        // Whether more trips are good is not ours to say.
        let tone: HTML = isLessBetter && (ChangeWords.percent(now, then) ?? 0) < 0 ? "up" : "flat"
        let text = ChangeWords.text(now, then, than: days == 1 ? .day(soFar: isPart) : .days(days, soFar: isPart))
        return "<span class=\"\(tone)\">\(text ?? "–")</span>"
    }

    // MARK: What is chosen

    private static func bar(_ filter: TripFilter, _ typed: String, chips: HTML) -> HTML {
        let harsh: HTML = filter.isHarshOnly ? FormView.hidden("harsh", "1") : ""
        let driver: HTML = [("driver", filter.driver), (ColumnChoice.parameter, filter.columns.text)].filter {
            !$0.1.isEmpty
        }
        .map(FormView.hidden).joined()
        // Cards have no heads to sort by.
        let orders = HTML.options(
            TripFilter.Order.allCases.map { ($0.rawValue, $0.name) }, filter.order.rawValue)
        return """
            <form class="asks" method="get" action="/trips">
            <label>From <input class="box" id="date" name="date" type="date" value="\(filter.first.text)" required></label>
            <label>To <input class="box" id="until" name="until" type="date" value="\(filter.last.text)"></label>
            <label>Vehicle <input class="box" id="vehicle" name="vehicle" type="text" maxlength="100" list="vehicles" autocomplete="off" placeholder="All, or a name" value="\(typed)"></label>\(VehicleNames.list(kind: .car))\(harsh)\(driver)
            <span class="only-phone"><select class="box" name="sort" aria-label="Sort by">\(orders)</select></span>
            <button class="btn">Show</button></form>
            \(chips)
            """
    }

    private var chips: HTML {
        func chip(_ text: HTML, _ isOn: Bool, _ address: HTML) -> HTML {
            "<a class=\"chip\" href=\"\(address)\"\(" aria-current=\"true\"", if: isOn)>\(text)</a>"
        }
        let vehicles = TripListView.most(all.map(\.vehicle)), drivers = TripListView.most(all.compactMap(\.driver))
        var chips: [HTML] = [
            chip(
                "All <b>\(all.count)</b>", !filter.isFiltered,
                filter.address(vehicle: "", driver: "", isHarshOnly: false))
        ]
        let harsh = all.count { $0.trip.totals.sharpAccelerations + $0.trip.totals.sharpBrakings > 0 }
        if harsh > 0 || filter.isHarshOnly {
            chips.append(
                chip(
                    "\(HTML.icon(.harsh))Harsh events <b>\(harsh)</b>", filter.isHarshOnly,
                    filter.address(isHarshOnly: !filter.isHarshOnly)))
        }
        if vehicles.count > 1 || !filter.vehicle.isEmpty {
            chips += vehicles.map { vehicle, count in
                let isOn = filter.vehicle == vehicle
                return chip(
                    "\(HTML.icon(.car))\(names[vehicle] ?? vehicle) <b>\(count)</b>", isOn,
                    filter.address(vehicle: isOn ? "" : vehicle))
            }
        }
        chips += drivers.map { driver, count in
            let isOn = filter.driver == driver
            return chip(
                "\(HTML.icon(.person))\(caller.person(driver)) <b>\(count)</b>", isOn,
                filter.address(driver: isOn ? "" : driver))
        }
        return "<nav class=\"chips body\" aria-label=\"Only some\">\(chips.joined())</nav>"
    }

    /// Those with the most trips, and how many.
    private static func most(_ values: [String]) -> [(String, Int)] {
        let counts = values.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        return Array(
            counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }.prefix(chipsMax))
    }

    // MARK: Rows

    var shown: [TripRead] {
        TripListView.page(trips, filter)
    }

    static func page(_ trips: [TripRead], _ filter: TripFilter) -> [TripRead] {
        Array(trips.dropFirst((filter.page - 1) * TripFilter.rowsMax).prefix(TripFilter.rowsMax))
    }

    private var pager: HTML {
        let from = (filter.page - 1) * TripFilter.rowsMax, to = from + shown.count
        guard trips.count > TripFilter.rowsMax || filter.page > 1 else {
            return "<div class=\"pager\"><span>\(caller.words.count(trips.count, .trip))</span></div>"
        }
        let earlier: HTML? =
            filter.page > 1
            ? "<a class=\"btn small\" rel=\"prev\" href=\"\(filter.address(page: filter.page - 1))\">\(HTML.icon(.left))Earlier rows</a>"
            : nil
        let later: HTML? =
            to < trips.count
            ? "<a class=\"btn small\" rel=\"next\" href=\"\(filter.address(page: filter.page + 1))\">More rows\(HTML.icon(.right))</a>"
            : nil
        return """
            <div class="pager"><span>\(from + 1)–\(to) of \(GroupedNumber.text(trips.count))</span><span class="grow"></span>\(earlier)\(later)</div>
            """
    }

    private var empty: HTML {
        let last: HTML? = lastMs.map { ms in
            let day = CivilDate(ofMs: ms, zone: caller.clock.zone)
            return
                "<a class=\"btn\" href=\"\(filter.address(first: day, last: day))\">The last trip: \(caller.words.fullDate(day))</a>"
        }
        let isDay = filter.days == 1
        if filter.isFiltered, !all.isEmpty {
            let count = caller.words.count(all.count, .trip)
            return HTML.emptyState(
                .trip, t("No trip matches"),
                isDay
                    ? .t("\(count) began on this day, none of them as you chose.")
                    : .t("\(count) began on these days, none of them as you chose."),
                action:
                    "<a class=\"btn\" href=\"\(filter.address(vehicle: "", driver: "", isHarshOnly: false))\">Show all</a>"
            )
        }
        let add: HTML? = lastMs == nil ? " <a href=\"/vehicles\">Add a car</a>" : nil
        let how = HTML.t("A trip comes here by itself as soon as a car with a logger or the app drives.")
        return HTML.emptyState(
            .trip, isDay ? t("No trip began on this day") : t("No trip began on these days"), "\(how)\(add)",
            action: last ?? "")
    }
}
