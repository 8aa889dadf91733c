internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports

/// What needs somebody, the worst first: faults, silent vehicles, services, and vehicles that nothing judges.
struct HomeAttention {
    static let itemsMax = 7

    let news: HomeNews
    let caller: PageCaller
    let nowMs: Int64

    private struct Item {
        let icon: IconName
        /// A class of `.ic`: critical, warning, or none.
        var tone = ""
        let name: String
        let words: String
        let pill: HTML
        let address: HTML
    }

    var html: HTML {
        let kinds = [faults, silent, services, unmonitored]
        let count = kinds.reduce(0) { $0 + $1.count }
        let items: [HTML] = HomeAttention.chosen(kinds).map { item in
            """
            <a class="item" href="\(item.address)"><span class="ic \(item.tone)">\(HTML.icon(item.icon))</span>\
            <span><b class="ell">\(item.name)</b><small class="ell">\(item.words)</small></span>\(item.pill)</a>
            """
        }
        let footer = footerWords
        return """
            <section class="card w4 first-on-phone" id="attention" aria-labelledby="attention-title"><header><h2 id="attention-title">Needs attention</h2>\
            \("<span class=\"count\">\(count)\(news.isCut ? "+" : "")</span>", if: count > 0)<a class="more" href="/alerts">All alerts</a></header>
            \(items.isEmpty ? calm : items.joined(separator: "\n"))
            \("<footer class=\"small\">\(HTML.icon(.checks))<span>\(footer)</span></footer>", if: !footer.isEmpty)</section>
            """
    }

    /// Each kind has a place before another has its second half: fifty silent vehicles do not hide a service.
    private static func chosen(_ kinds: [[Item]]) -> [Item] {
        var counts = kinds.map { min($0.count, 1) }
        for (place, kind) in kinds.enumerated() {
            let left = itemsMax - counts.reduce(0, +)
            counts[place] += min(left, kind.count - counts[place])
        }
        return zip(kinds, counts).flatMap { $0.prefix($1) }
    }

    private var calm: HTML {
        HTML.emptyState(.check, t("All quiet"), .t("Alerts, silent vehicles and services come here."))
    }

    private var footerWords: String {
        let handled = news.handled.isEmpty ? nil : t("\(news.handled.count) acknowledged or muted")
        // A dealer must not take what is withheld for health.
        let withheld =
            caller.seesAsDealer && news.faults.isEmpty && news.services.isEmpty
            ? t("Without a machine’s past, alerts from before you were confirmed stay with its owner") : nil
        return [handled, news.figures.resolvedWords, withheld].compactMap { $0 }.joined(separator: " · ")
    }

    // MARK: Items

    private var faults: [Item] {
        news.faults.map { open in
            let alert = open.alert
            return Item(
                icon: alert.icon, tone: alert.severity.rawValue, name: open.vehicleName ?? alert.vehicle,
                words: alert.said(caller.units),
                pill: .pill(alert.severity.rawValue, caller.words.span(nowMs - alert.sinceMs)),
                address: "/alerts/\(encoded: open.id)")
        }
    }

    private var silent: [Item] {
        let told = Set(news.faults.filter { $0.alert.test == .absent }.map(\.alert.vehicle))
        return news.map.vehicles.filter { $0.state == .silent && !told.contains($0.vehicle) }.map { vehicle in
            Item(
                icon: .silent, tone: "warning", name: vehicle.name ?? vehicle.vehicle,
                words: vehicle.lastMs.map {
                    t("No signal since \(caller.words.moment($0, nowMs: nowMs, caller.clock))")
                }
                    ?? t("Never heard of"),
                pill: .pill("silent", vehicle.lastMs.map { caller.words.span(nowMs - $0) } ?? t("Silent")),
                address: HomeAttention.address(vehicle))
        }
    }

    private var services: [Item] {
        news.services.map { open in
            Item(
                icon: .wrench, name: open.vehicleName ?? open.alert.vehicle, words: ServiceWords.due(open.alert),
                pill: .pill("service", open.alert.state == .dueSoon ? t("Service soon") : t("Service due")),
                address: "/services?show=due#\(encoded: open.alert.vehicle)")
        }
    }

    private var unmonitored: [Item] {
        news.map.vehicles.compactMap { vehicle in
            vehicle.notMonitored.map { reason in
                Item(
                    icon: .eye, name: vehicle.name ?? vehicle.vehicle, words: t("Not monitored: \(reason.short)"),
                    pill: .pill("plain", t("Set up")), address: HomeAttention.address(vehicle))
            }
        }
    }

    private static func address(_ vehicle: FleetMap.Vehicle) -> HTML {
        "/vehicles/\(encoded: vehicle.vehicle)?kind=\(vehicle.kind.rawValue)"
    }
}

/// A service that is due, in words.
enum ServiceWords {
    /// By its alert: the hours since the last service, against those between two.
    static func due(_ alert: AlertRow) -> String {
        if alert.isWithoutService { return t("No service recorded yet") }
        guard let every = alert.threshold.flatMap({ Double($0) }), let run = alert.worstValue.flatMap({ Double($0) })
        else {
            return alert.state == .dueSoon ? t("Service due soon") : t("Service due")
        }
        return left(every - run)
    }

    /// - Parameter hours: until the next one; negative: it is over.
    static func left(_ hours: Double) -> String {
        let text = GroupedNumber.short(abs(hours), abs(hours) < 10 ? 1 : 0)
        return hours > 0 ? t("Service due in \(text) engine hours") : t("Service \(text) engine hours over")
    }
}
