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
    /// Of the rows that are shown, by vehicle and start.
    let outlines: [TripOutlines.Key: TripOutlines.Way]
    /// The streets where they began and ended, as far as the map tells.
    let streets: [TripOutlines.Key: (from: String?, to: String?)]
    /// When the last trip began that may be seen: where there is none in the span.
    let lastMs: Int64?
    /// The span has more than can be read at once.
    let isCut: Bool
    let caller: PageCaller

    private var words: TripWords { TripWords(caller: caller) }

    var title: String {
        filter.days == 1
            ? "Trips, \(caller.words.fullDate(filter.first))"
            : "Trips, \(caller.words.date(filter.first)) to \(caller.words.date(filter.last)) \(filter.last.text.prefix(4))"
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
            days == 1 ? ("The day before", "The day after") : ("The \(days) days before", "The \(days) days after")
        return """
            <a class="btn icon" href="\(earlier)" aria-label="\(before)" title="\(before)">\(HTML.icon(.left))</a>\
            <a class="btn icon" href="\(later)" aria-label="\(after)" title="\(after)">\(HTML.icon(.right))</a>
            \(filter.columns.menu(standard: filter.address(columns: ""), style: "btn"))
            <a class="btn hide-phone" href="/trips/compare">\(HTML.icon(.compare))Compare</a>
            <details class="menu end hide-phone"><summary class="btn">\(HTML.icon(.download))Export</summary><div class="pop">
            <a href="\(filter.address(format: "csv"))">CSV of \(trips.count == 1 ? "this trip" : "these \(TripWords.count(trips.count, "trip"))")</a>
            <a href="/reports?report=trips&amp;\(reportSpan)&amp;of=\(encoded: filter.vehicle)">As a report</a></div></details>
            \(filter.columns.form("/trips", kept: filter.items(columns: "")))
            """
    }

    private var reportSpan: HTML {
        filter.days == 1
            ? "date=\(filter.first.text)" : "date=\(filter.first.text)&amp;until=\(filter.last.text)&amp;span=range"
    }

    var html: HTML {
        let cut: HTML =
            isCut
            ? "<p class=\"strip warning\">\(HTML.icon(.info))<span>More than \(TripWords.number(Double(TripRead.dayMax), 0)) trips: only the first are counted. Choose fewer days or one vehicle.</span></p>\n"
            : ""
        return """
            \(cut)\(sums)
            <section class="card"><h2 class="sr">List</h2>
            \(TripListView.bar(filter, chips: chips))
            \(trips.isEmpty ? empty : "\(TripRowsView(filter: filter, trips: shown, names: names, outlines: outlines, streets: streets, words: words).html)\(pager)")</section>
            """
    }

    /// Neither all trips nor none would answer the request.
    static func noVehicle(_ name: String, _ filter: TripFilter) -> HTML {
        """
        <p role="alert" class="strip critical">\(HTML.icon(.warn))<span>No vehicle \(String(name.prefix(64))): there is no car with this id that you may see. Type its id, which the list offers, or nothing for all cars.</span></p>
        <section class="card">\(bar(filter, chips: ""))</section>
        """
    }

    // MARK: Sums

    private var sums: HTML {
        let now = TripTotalsView(trips, caller.units), then = TripTotalsView(before, caller.units)
        let (some, were) = (
            Dictionary(uniqueKeysWithValues: now.figures.map { ($0.name, $0) }),
            Dictionary(uniqueKeysWithValues: then.figures.map { ($0.name, $0) })
        )
        func card(_ name: String, _ label: String? = nil, _ more: String?, isLessBetter: Bool? = nil) -> HTML {
            guard let figure = some[name] else { return "" }
            let parts = figure.text.split(separator: " ", maxSplits: 1).map(String.init)
            let isMoney = name == "Fuel cost" && figure.value != nil && parts.count > 1
            let number =
                figure.value == nil ? figure.text : isMoney ? TripWords.money(figure.value ?? 0, parts[1]) : parts[0]
            let unit: HTML? = parts.count > 1 && figure.value != nil && !isMoney ? "<small>\(parts[1])</small>" : nil
            let note: HTML? = more.map { "\($0) · " }
            return """
                <section class="card w3 kpi"><span class="label">\(label ?? name)</span><span class="fig">\(number)\(unit)</span>\
                <span class="chg">\(note)\(change(figure.value, were[name]?.value, isLessBetter))</span></section>
                """
        }
        let driving = some["Driving time"]?.text,
            idle = some["Idle share"].flatMap { $0.value == nil ? nil : "\($0.text) idle" }
        let consumption = some[words.isUS ? "Mileage" : "Consumption"].flatMap { $0.value == nil ? nil : $0.text }
        return """
            <div class="grid sums">
            \(card("Trips", nil, TripWords.count(now.vehicles, "vehicle")))
            \(card("Distance", nil, trips.isEmpty ? nil : [driving.map { "\($0) driving" }, idle].compactMap { $0 }.joined(separator: ", ")))
            \(card("Fuel", nil, consumption, isLessBetter: true))
            \(card("Fuel cost", "Cost", nil, isLessBetter: true))
            </div>
            """
    }

    private func change(_ now: Double?, _ then: Double?, _ isLessBetter: Bool?) -> HTML {
        let on = filter.days == 1 ? "the day before" : "the \(filter.days) days before"
        guard let now, let then, then > 0 else { return filter.days == 1 ? "none \(on)" : "none in \(on)" }
        let percent = (now / then - 1) * 100
        guard abs(percent) >= 0.5 else { return "<span class=\"flat\">= 0 %</span> on \(on)" }
        let text = "\(percent > 0 ? "↑" : "↓") \(TripWords.number(abs(percent), 0)) %"
        // Whether more trips are good is not ours to say.
        guard isLessBetter == true, percent < 0 else { return "<span class=\"flat\">\(text)</span> on \(on)" }
        return "<span class=\"up\">\(text)</span> on \(on)"
    }

    // MARK: What is chosen

    private static func bar(_ filter: TripFilter, chips: HTML) -> HTML {
        let harsh: HTML = filter.isHarshOnly ? FormView.hidden("harsh", "1") : ""
        let driver: HTML = [("driver", filter.driver), (ColumnChoice.parameter, filter.columns.text)].filter {
            !$0.1.isEmpty
        }
        .map(FormView.hidden).joined()
        return """
            <form class="asks" method="get" action="/trips">
            <label>From <input class="box" id="date" name="date" type="date" value="\(filter.first.text)" required></label>
            <label>To <input class="box" id="until" name="until" type="date" value="\(filter.last.text)"></label>
            <label>Vehicle <input class="box" id="vehicle" name="vehicle" type="text" maxlength="64" list="vehicles" autocomplete="off" placeholder="All, or an id" value="\(String(filter.vehicle.prefix(64)))"></label>\(VehicleNames.list(kind: .car))\(harsh)\(driver)
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
            return "<div class=\"pager\"><span>\(TripWords.count(trips.count, "trip"))</span></div>"
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
            <div class="pager"><span>\(from + 1)–\(to) of \(TripWords.number(Double(trips.count), 0))</span><span class="grow"></span>\(earlier)\(later)</div>
            """
    }

    private var empty: HTML {
        let when = filter.days == 1 ? "on this day" : "on these days"
        let last: HTML? = lastMs.map { ms in
            let day = CivilDate(ofMs: ms, zone: caller.clock.zone)
            return
                "<a class=\"btn\" href=\"\(filter.address(first: day, last: day))\">The last trip: \(caller.words.fullDate(day))</a>"
        }
        if filter.isFiltered, !all.isEmpty {
            return HTML.emptyState(
                .trip, "No trip matches",
                "\(TripWords.count(all.count, "trip")) began \(when), none of them as you chose.",
                action:
                    "<a class=\"btn\" href=\"\(filter.address(vehicle: "", driver: "", isHarshOnly: false))\">Show all</a>"
            )
        }
        return HTML.emptyState(
            .trip, "No trip began \(when)",
            "A trip comes here by itself as soon as a car with a logger or the app drives.\(lastMs == nil ? " <a href=\"/vehicles\">Add a car</a>" : "")",
            action: last ?? "")
    }
}
