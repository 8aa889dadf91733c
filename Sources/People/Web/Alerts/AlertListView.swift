internal import Alerts
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Telemetry

/// The page of alerts: those that are open, those that somebody takes care of, those that are over, and services that are due.
struct AlertListView {
    static let rowsMax = 200
    static let resolvedMax = 50

    let query: AlertQuery
    let caller: PageCaller
    let nowMs: Int64
    let counts: AlertCounts
    private let alerts: [TriagedAlert]
    /// Where the page after this one begins; nil: this is the last one.
    private let next: TriagedAlert.Place?
    private let unmonitored: [UnmonitoredVehicle]
    private let groups: [String]
    private let people: [AlertTale.Person]
    private let said: AlertForms.Said?
    private let sparks: AlertSparks

    init(_ request: Request, _ caller: PageCaller, _ queries: ReportQueries, on connection: Connection) throws {
        query = AlertQuery(request)
        nowMs = Clock.nowMs()
        counts = try AlertCounts(role: caller.audience, queries, on: connection)
        said = request.query["said"].flatMap(AlertForms.Said.init)
        unmonitored = try UnmonitoredVehicle.read(queries, on: connection)
        groups = try connection.query(queries["vehicle_groups"], [.int8(200)]).map { try $0.text("tag")! }
        let list: TriagedAlert.List? =
            switch query.tab {
            case .open: .open
            case .acknowledged: .acknowledged
            case .services: .services
            case .resolved: nil
            }
        if let list {
            alerts = try TriagedAlert.read(
                list, query.filter, role: caller.audience, account: caller.account, limit: Int64(AlertListView.rowsMax),
                queries, on: connection)
            next = nil
        } else {
            (alerts, next) = try TriagedAlert.resolved(
                query.filter, before: query.before ?? TriagedAlert.Place(ms: nowMs + 86_400_000, id: ""),
                role: caller.audience, account: caller.account, limit: AlertListView.resolvedMax, queries,
                on: connection)
        }
        self.caller = try caller.knowing(
            alerts.flatMap { [$0.assignedTo, $0.acknowledgedBy] }, queries, on: connection)
        sparks = try AlertSparks(query.tab == .services ? [] : alerts, queries, on: connection)
        people = alerts.contains { $0.mayAct } ? try AlertTale.Person.colleagues(queries, on: connection) : []
    }

    var heading: PageHeading {
        PageHeading(
            t("Alerts"),
            actions: caller.roles.isDisjoint(with: FleetRoutes.viewers)
                ? "" : "<a class=\"btn hide-phone\" href=\"/thresholds\">\(HTML.icon(.rule))Rules</a>")
    }

    var html: HTML {
        """
        <div id="tabs">\(tabs)</div>
        \(said.map(\.notice))
        <section class="card" aria-label="\(query.tab.list)">
        \(bar)
        \(mayAct ? bulk : "")
        <p class="sr" id="count" role="status">\(t("\(counts.open) open, \(counts.acknowledged) acknowledged, \(counts.services) services due."))</p>
        <div id="alerts">\(list)</div>
        </section>
        <div id="unmonitored">\(UnmonitoredView.sentence(unmonitored))</div>
        <p class="soft small"><span id="updated">Last updated \(caller.clock.second(nowMs)), times are \(caller.clock.zone).</span> <span id="live"></span></p>
        """
    }

    private var mayAct: Bool { alerts.contains { $0.mayAct } && query.tab != .resolved }

    // MARK: Above the list

    private var tabs: HTML {
        let counted: [(AlertQuery.Tab, Int)] = [
            (.open, counts.open), (.acknowledged, counts.acknowledged), (.resolved, counts.resolved),
            (.services, counts.services),
        ]
        let links: [HTML] = counted.map { tab, count in
            let isWorst = tab == .open && counts.critical > 0
            let number = count == AlertCounts.resolvedMax ? "\(count)+" : "\(count)"
            return """
                <a href="\(query.path { $0.tab = tab })"\(" aria-current=\"page\"", if: tab == query.tab)>\(tab.name) \
                <span class="count\(" critical", if: isWorst)">\(number)</span></a>
                """
        }
        return "<nav class=\"tabs\" aria-label=\"Alerts\">\(links.joined())</nav>"
    }

    private var bar: HTML {
        """
        <div class="albar">
        <form class="in" method="get" action="/alerts" role="search">\(HTML.icon(.find))\
        \(kept)<label class="sr" for="search">Vehicle, alert or person</label>\
        <input class="bare" id="search" name="search" type="search" maxlength="64" placeholder="Vehicle, alert, person" value="\(query.filter.search)"><button class="sr" tabindex="-1">Find</button></form>
        \(severities)\(groupChip)\(whomChip)\
        \(query.isFiltered ? "<a class=\"chip\" href=\"\(query.path { $0.filter = TriagedAlert.Filter() })\">\(HTML.icon(.close))Clear</a>" : "")\
        <span class="grow"></span>\(keys)
        </div>
        """
    }

    /// What is chosen otherwise stays so when somebody searches.
    private var kept: HTML {
        let items: [(String, String)] = [
            ("tab", query.tab == .open ? "" : query.tab.rawValue), ("severity", query.filter.severity?.rawValue ?? ""),
            ("group", query.filter.tag), ("with", query.filter.whom == .anybody ? "" : query.filter.whom.rawValue),
        ]
        return items.filter { !$0.1.isEmpty }.map(FormView.hidden).joined()
    }

    private var severities: HTML {
        guard query.tab != .services else { return "" }
        let all: [(Episode.Severity?, HTML)] = [
            (nil, .t("All")), (.critical, "<i class=\"dot critical\"></i>Critical"),
            (.warning, "<i class=\"dot warning\"></i>Warning"),
        ]
        let links: [HTML] = all.map { severity, name in
            "<a href=\"\(query.path { $0.filter.severity = severity })\"\(" aria-current=\"true\"", if: severity == query.filter.severity)>\(name)</a>"
        }
        return "<div class=\"seg\" role=\"group\" aria-label=\"Severity\">\(links.joined())</div>"
    }

    private var groupChip: HTML {
        guard !groups.isEmpty || !query.filter.tag.isEmpty else { return "" }
        let links = ([("", t("All groups"))] + groups.map { ($0, $0) }).map { tag, name in
            AlertListView.choice(name, query.path { $0.filter.tag = tag }, tag == query.filter.tag)
        }
        return AlertListView.chip(t("Group"), query.filter.tag.isEmpty ? t("all") : query.filter.tag, links)
    }

    private var whomChip: HTML {
        let names: [(TriagedAlert.Filter.Whom, String)] = [
            (.anybody, t("Anybody")), (.me, t("Me")), (.nobody, t("Nobody yet")),
        ]
        let links = names.map { whom, name in
            AlertListView.choice(name, query.path { $0.filter.whom = whom }, whom == query.filter.whom)
        }
        let chosen =
            switch query.filter.whom {
            case .anybody: t("anybody")
            case .me: t("me")
            case .nobody: t("nobody yet")
            }
        return AlertListView.chip(t("With"), chosen, links)
    }

    private static func choice(_ name: String, _ path: String, _ isChosen: Bool) -> HTML {
        "<a href=\"\(path)\"\(" aria-current=\"true\"", if: isChosen)>\(name)</a>"
    }

    private static func chip(_ name: String, _ chosen: String, _ links: [HTML]) -> HTML {
        """
        <details class="menu"><summary class="chip">\(name): <b>\(chosen)</b>\(HTML.icon(.open))</summary>\
        <div class="pop">\(links.joined())</div></details>
        """
    }

    private var keys: HTML {
        guard mayAct, query.tab == .open else { return "" }
        return
            "<span class=\"faint small hide-phone keys\" hidden><kbd>J</kbd> <kbd>K</kbd> move, <kbd>X</kbd> select, <kbd>A</kbd> acknowledge</span>"
    }

    /// The form that all check boxes and buttons of the list belong to.
    private var bulk: HTML {
        let people: HTML = people.filter { $0.account != caller.account }.map {
            "<option value=\"\($0.account)\">\($0.shown)</option>"
        }.joined()
        return """
            <form class="bulk" id="bulk" method="post" action="/alerts">\(FormView.hidden(CSRFGuard.field, caller.mark))\
            \(FormView.hidden("batch", AlertAction.newID()))\(FormView.hidden("next", query.path))
            <b id="selected">Selected alerts</b>
            \(query.tab == .acknowledged ? "" : "<button class=\"btn small primary\" name=\"do\" value=\"acknowledge\">Acknowledge</button>")
            <label for="to">Assign to</label><select class="box" id="to" name="all-to"><option value="me">Me</option>\(people)<option value="">Nobody</option></select>\
            <button class="btn small" name="do" value="assign">Assign</button>
            <label class="sr" for="until">How long</label><select class="box" id="until" name="all-until"><option value="hour">1 hour</option>\
            <option value="morning">Until tomorrow 07:00</option><option value="end">Until it is over</option></select>\
            <button class="btn small" name="do" value="mute">Mute</button>
            <span class="grow"></span><button class="btn small ghost" type="reset" hidden>Clear</button></form>
            """
    }

    // MARK: The list

    private var list: HTML {
        if alerts.isEmpty { return empty }
        if query.tab == .resolved { return resolved }
        let rows = alerts.map { AlertItemView($0, query.tab, caller, nowMs: nowMs, spark: sparks.html($0)).html }
        let more: HTML =
            alerts.count == AlertListView.rowsMax
            ? "<div class=\"pager\">The first \(alerts.count) are shown, the worst first. Filter to see others.</div>"
            : ""
        return "\(rows.joined(separator: "\n"))\(more)"
    }

    private var empty: HTML {
        if query.isFiltered {
            return HTML.emptyState(
                .find, t("No alert fits"), .t("Try another word, or all severities and groups."),
                action:
                    "<a class=\"btn\" href=\"\(query.path { $0.filter = TriagedAlert.Filter() })\">Clear filters</a>")
        }
        return switch query.tab {
        case .open:
            HTML.emptyState(
                .check,
                unmonitored.isEmpty
                    ? t("No alert is open") : t("No alert is open of the vehicles that are monitored"),
                counts.acknowledged == 0
                    ? .t("When a rule is broken, the alert stands here at once.")
                    : HTML(
                        t(
                            counts.acknowledged, one: "\(counts.acknowledged) is acknowledged and looked after.",
                            many: "\(counts.acknowledged) are acknowledged and looked after."))
            )
        case .acknowledged:
            HTML.emptyState(
                .checks, t("Nothing is acknowledged"), .t("What somebody has taken on stands here until it is over."))
        case .resolved:
            HTML.emptyState(
                .history, t("Nothing is resolved yet"), .t("Alerts that are over stand here, the latest first."))
        case .services:
            HTML.emptyState(
                .wrench, t("No service is due"), .t("Services that come soon stand here before they are late."))
        }
    }

    private var resolved: HTML {
        let rows: [HTML] = alerts.map { one in
            let alert = one.alert
            let lasted = alert.resolvedMs.map { caller.words.span($0 - alert.openedMs) }
            let by = (one.acknowledgedBy ?? one.assignedTo).map { AlertWords.person($0, caller) }
            return """
                <tr><td class="head"><span class="cell">\(AlertWords.severity(alert))<a class="name" href="/alerts/\(encoded: one.id)">\(alert.title)</a></span></td>\
                <td class="off">\(sparks.html(one))</td>\
                <td data-l="Vehicle"><a href="/vehicles/\(encoded: alert.vehicle)?kind=\(alert.kind.rawValue)">\(one.vehicleName ?? alert.vehicle)</a></td>\
                <td data-l="Opened">\(AlertWords.time(alert.openedMs, nowMs: nowMs, caller))</td><td class="num" data-l="Lasted">\(lasted ?? "–")</td>\
                <td data-l="Answered by">\(by ?? "–")</td><td data-l="Note">\(one.note ?? "–")</td></tr>
                """
        }
        let older: HTML =
            next.map { place in
                "<a class=\"btn small\" rel=\"next\" href=\"\(query.path { $0.before = place })\">Earlier</a>"
            } ?? ""
        let latest: HTML =
            query.before == nil ? "" : "<a class=\"btn small\" href=\"\(query.path { _ in })\">Latest</a>"
        return """
            <table class="table cards"><caption class="sr">Alerts that are over</caption><thead><tr><th scope="col">Alert</th><th scope="col">Value</th><th scope="col">Vehicle</th>\
            <th scope="col">Opened</th><th scope="col" class="num">Lasted</th><th scope="col">Answered by</th><th scope="col">Note</th></tr></thead>
            <tbody>\(rows.joined(separator: "\n"))</tbody></table>
            <div class="pager"><span>\(alerts.count) shown</span><span class="grow"></span>\(latest)\(older)</div>
            """
    }
}
