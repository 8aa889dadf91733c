internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports
internal import Trips

/// The tables of the overview: vehicle by vehicle, day by day, open alerts, silent vehicles.
extension OverviewView {
    private static let vehiclesShown = 200

    /// The trips of each day of the span.
    var days: [(date: CivilDate, reads: [TripRead])] {
        let count = OverviewView.days(first, span).now.count
        let byDate = Dictionary(grouping: now) { CivilDate(ofMs: $0.trip.startMs, zone: first.zone).text }
        return (0..<count).map { first.moved(by: $0) }.map { ($0, byDate[$0.text] ?? []) }
    }

    var vehicleTable: HTML {
        let all = Dictionary(grouping: now, by: \.vehicle).map {
            (vehicle: $0.key, reads: $0.value, sums: FleetSums($0.value))
        }
        .sorted { ($1.sums.distanceMm, $0.vehicle) < ($0.sums.distanceMm, $1.vehicle) }
        let rows = all.prefix(OverviewView.vehiclesShown)
        let names = Dictionary(
            map.vehicles.filter { $0.kind == .car }.map { ($0.vehicle, $0.name ?? $0.vehicle) },
            uniquingKeysWith: { one, _ in one })
        let units = caller.units
        let heads: [HTML] = FleetSums.Figure.allCases.map {
            "<th scope=\"col\" class=\"num\">\($0.name), \($0.unit(units))</th>"
        }
        let most = rows.first.map { Double($0.sums.distanceMm) } ?? 1
        let extremes = OverviewView.extremes(rows.map(\.sums), units)
        let lines: [HTML] = rows.map { one in
            let cells: [HTML] = FleetSums.Figure.allCases.map { figure in
                guard let value = one.sums.value(figure, units) else {
                    return "<td class=\"num\" data-l=\"\(figure.name)\">–</td>"
                }
                let mark: HTML =
                    extremes[figure].map {
                        value == $0.worst
                            ? "<span class=\"down\" title=\"The worst\">\(figure.text(value))<span class=\"sr\"> the worst</span></span>"
                            : value == $0.best
                                ? "<span class=\"up\" title=\"The best\">\(figure.text(value))<span class=\"sr\"> the best</span></span>"
                                : HTML(figure.text(value))
                    } ?? HTML(figure.text(value))
                return "<td class=\"num\" data-l=\"\(figure.name)\">\(mark)</td>"
            }
            return """
                <tr><td class="head"><span class="cell"><span class="ic s">\(HTML.icon(.car))</span><span>\
                <a class="name" href="/vehicles/\(encoded: one.vehicle)?kind=car">\(names[one.vehicle] ?? one.vehicle)</a></span></span></td>\
                <td class="off">\(picture(one.reads, most, one.sums))</td>\(cells.joined())<td class="num" data-l="\(t("Trips"))">\(one.sums.trips)</td></tr>
                """
        }
        let cut: HTML =
            all.count > rows.count ? "<footer>The \(rows.count) that drove furthest, of \(all.count).</footer>" : ""
        return """
            <section class="card"><header><h2 id="by-vehicle">Vehicle by vehicle</h2><span class="count">\(all.count)</span></header>
            <div class="scroll" role="region" aria-labelledby="by-vehicle" tabindex="0"><table class="table cards" data-sort>
            <thead><tr><th scope="col">Vehicle</th><th scope="col" class="hide-phone">\(span == .day ? t("Share") : t("Day by day"))</th>\(heads.joined())<th scope="col" class="num">Trips</th></tr></thead>
            <tbody>
            \(lines.joined(separator: "\n"))
            </tbody></table></div>\(cut)</section>
            """
    }

    /// Of a day the share of the longest way; of more days what was driven on each.
    private func picture(_ reads: [TripRead], _ most: Double, _ sums: FleetSums) -> HTML {
        guard span != .day else { return HTML.shareBar(Double(sums.distanceMm) / max(1, most)) }
        let byDate = Dictionary(grouping: reads) { CivilDate(ofMs: $0.trip.startMs, zone: first.zone).text }
        let count = OverviewView.days(first, span).now.count
        return HTML.bars(
            values: (0..<count).map { Double(FleetSums(byDate[first.moved(by: $0).text] ?? []).distanceMm) / 1e6 },
            width: 96, height: 24)
    }

    /// The best and worst of three or more vehicles, where they differ.
    private static func extremes(
        _ all: [FleetSums], _ units: DriverSettings.Units
    ) -> [FleetSums.Figure: (best: Double, worst: Double)] {
        var found: [FleetSums.Figure: (best: Double, worst: Double)] = [:]
        for figure in FleetSums.Figure.allCases {
            guard let isMoreBetter = figure.isMoreBetter(units) else { continue }
            let values = all.compactMap { $0.value(figure, units) }
            guard values.count > 2, let least = values.min(), let most = values.max(), least < most else { continue }
            found[figure] = isMoreBetter ? (most, least) : (least, most)
        }
        return found
    }

    var byDay: HTML {
        let names = TripTotalsView([], caller.units).figures.map(\.name)
        return HTML.table(
            caption: t("Day by day"), headers: [.word(t("Day"))] + names.map { .number($0) },
            rows: days.map { day in
                let sums = TripTotalsView(day.reads, caller.units)
                return ["<a href=\"/trips?date=\(day.date.text)\">\(caller.words.fullDate(day.date))</a>"]
                    + sums.figures.map { .text($0.text) }
            }, empty: "")
    }

    // MARK: Now

    var alerts: HTML {
        let open = map.vehicles.filter { $0.openAlerts > 0 }.sorted {
            ($0.severity == .critical ? 0 : 1, -$0.openAlerts) < ($1.severity == .critical ? 0 : 1, -$1.openAlerts)
        }
        let count = open.reduce(0) { $0 + $1.openAlerts }
        let items: [HTML] = open.prefix(8).map { vehicle in
            item(
                vehicle, .bell,
                t(
                    vehicle.openAlerts, one: "\(vehicle.openAlerts) open alert",
                    many: "\(vehicle.openAlerts) open alerts"),
                vehicle.severity.map { HTML.severity($0) } ?? "")
        }
        let none = HTML.emptyState(
            .check,
            map.vehicles.contains { $0.notMonitored != nil }
                ? t("No alert is open of the vehicles that are monitored") : t("No alert is open"),
            .t("Current alerts show here."))
        return """
            <section class="card w6" aria-labelledby="open-title"><header><h2 id="open-title">Open alerts now</h2>\("<span class=\"count\">\(count)</span>", if: count > 0)\
            <a class="more" href="/alerts">All alerts</a></header>
            \(items.isEmpty ? none : items.joined(separator: "\n"))\(UnmonitoredView.sentence(map))</section>
            """
    }

    var silent: HTML {
        let all = map.vehicles.filter { $0.state == .silent }
        let items: [HTML] = all.prefix(8).map { vehicle in
            item(
                vehicle, .silent,
                vehicle.lastMs.map { t("Last heard of \(caller.clock.minute($0))") } ?? t("Never heard of"),
                HTML.pill("silent", vehicle.lastMs.map { caller.words.span(nowMs - $0) } ?? t("Silent")))
        }
        let none = HTML.emptyState(
            .check, t("No vehicle is silent"), .t("Every vehicle was heard of in the last 24 hours."))
        return """
            <section class="card w6" aria-labelledby="silent-title"><header><h2 id="silent-title">Silent now</h2>\("<span class=\"count\">\(all.count)</span>", if: !all.isEmpty)\
            <a class="more" href="/map?state=silent">On the map</a></header>
            \(items.isEmpty ? none : items.joined(separator: "\n"))</section>
            """
    }

    private func item(_ vehicle: FleetMap.Vehicle, _ icon: IconName, _ words: String, _ pill: HTML) -> HTML {
        """
        <a class="item" href="/vehicles/\(encoded: vehicle.vehicle)?kind=\(vehicle.kind.rawValue)"><span class="ic">\(HTML.icon(icon))</span>\
        <span><b class="ell">\(vehicle.name ?? vehicle.vehicle)</b><small class="ell">\(words)</small></span>\(pill)</a>
        """
    }
}
