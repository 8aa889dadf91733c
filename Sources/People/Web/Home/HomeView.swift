internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports
internal import Tiles

/// Home: what needs the reader now, where everyone is, and how it goes. It shows no more than the reader's other pages.
struct HomeView {
    let news: HomeNews
    let caller: PageCaller
    let nowMs: Int64
    /// An alert that the reader has just acknowledged.
    let seen: String?
    /// Nil: the map tells no names.
    let streets: StreetNames?

    func html(_ map: HTML) -> HTML {
        let isDriver = !caller.roles.isDisjoint(with: FleetRoutes.drivers)
        return """
            \(now)
            \(chips)
            \(HomeCars(news: news, caller: caller, nowMs: nowMs, streets: streets).html)
            <div class="grid">
            \(map)
            \(HomeAttention(news: news, caller: caller, nowMs: nowMs).html)
            </div>
            <div id="figures">\(figures)</div>
            \(isDriver ? HomeTripsView(news: news, caller: caller, streets: TripOutlines.streets(news.ways, streets)).html : "")
            """
    }

    // MARK: What needs the reader

    private var now: HTML {
        if let seen, let open = news.handled.first(where: { $0.id == seen }) { return takenOn(open) }
        return news.faults.first.map(strip) ?? calm
    }

    private func strip(_ open: OpenAlert) -> HTML {
        let alert = open.alert
        let tone = alert.severity == .critical ? "critical" : "warning"
        let name = open.vehicleName ?? alert.vehicle
        let more = [alert.advice, told].compactMap { $0 }.joined(separator: " ")
        return """
            <section class="strip \(tone)" id="now" aria-label="Needs you now" data-alert="\(open.id)">\(HTML.pill(tone, caller.words.severity(alert.severity)))
            <div class="grow"><a href="/alerts/\(encoded: open.id)"><b class="strong">\(alert.severity == .critical ? t("\(name): stop now.") : t("\(name): look at it."))</b></a> \
            \(said(alert)), for \(caller.words.span(nowMs - alert.sinceMs)). <span class="soft">\(more)</span></div>
            <div class="row"><a class="btn small" href="/alerts/\(encoded: open.id)">Open</a>\(news.mayAct ? HomeView.acknowledge(open, name, caller) : "")</div></section>
            """
    }

    private func said(_ alert: AlertRow) -> HTML {
        guard let worst = alert.worst(caller.units) else { return HTML(alert.said(caller.units)) }
        return "\(alert.subject) <b>\(worst.text)</b>\(alert.limitWords(caller.units).map { ", \($0)" } ?? "")"
    }

    static func acknowledge(_ open: OpenAlert, _ name: String, _ caller: PageCaller) -> HTML {
        AlertForms.acknowledge(
            open.id, about: "\(name), \(open.alert.subject)", caller,
            next: Landing.home(caller.roles) + "?seen=" + open.id,
            style: "btn small primary")
    }

    /// Whom the reader may know of.
    private var told: String? {
        guard let first = news.told.first else { return nil }
        let (at, more) = (caller.words.moment(first.ms, nowMs: nowMs, caller.clock), news.told.count - 1)
        if first.account == caller.account {
            return more == 0
                ? t("You were told at \(at); nobody has answered.")
                : t("You were told at \(at), \(more) more since; nobody has answered.")
        }
        return more == 0
            ? t("\(first.name) was told at \(at); nobody has answered.")
            : t("\(first.name) was told at \(at), \(more) more since; nobody has answered.")
    }

    private func takenOn(_ open: OpenAlert) -> HTML {
        """
        <section class="strip" id="now" aria-label="Needs you now" role="status">\(HTML.pill("ok", t("Acknowledged")))
        <div class="grow"><a href="/alerts/\(encoded: open.id)"><b>\(open.vehicleName ?? open.alert.vehicle)</b></a> is with you now. <span class="soft">\(open.alert.said(caller.units)).</span></div></section>
        """
    }

    private var calm: HTML {
        let isPartly = news.map.vehicles.contains { $0.notMonitored != nil }
        let words = isPartly ? t("Of what is monitored, nothing needs you now.") : t("Nothing needs you now.")
        return "<p class=\"quiet-line soft\" id=\"now\">\(HTML.icon(.check))<span>\(words)</span></p>"
    }

    // MARK: States

    private var chips: HTML {
        let vehicles = news.map.vehicles
        let states: [HTML] = VehicleState.allCases.map { state in
            let count = vehicles.count { $0.state == state }
            return
                "<a class=\"chip\" href=\"/map?state=\(state.rawValue)\"><i class=\"dot \(state.dot)\"></i><b>\(count)</b> \(state.inLine)</a>"
        }
        let unmonitored = vehicles.count { $0.notMonitored != nil }
        let eye: HTML =
            unmonitored == 0
            ? "" : "<a class=\"chip\" href=\"/vehicles\">\(HTML.icon(.eye))<b>\(unmonitored)</b> not monitored</a>"
        let isCut = vehicles.count == Int(FleetMap.vehiclesMax)
        let counted = caller.words.count(vehicles.count, .vehicle)
        return """
            <div class="chips home-chips" id="chips" role="group" aria-label="Vehicles by state">\(states.joined())\(eye)<span class="grow"></span>\
            <span class="faint small nowrap hide-phone">\(isCut ? t("The first \(counted)") : counted) · \
            updated <time datetime="\(UTC.text(nowMs))">\(caller.clock.second(nowMs))</time> <span id="live"></span></span></div>
            """
    }

    private var figures: HTML {
        let tiles = news.figures.tiles
        return tiles.isEmpty
            ? "" : "<section class=\"tiles4\" aria-label=\"Figures\">\(tiles.joined(separator: "\n"))</section>"
    }

    /// `Good afternoon, Mia`
    static func greeting(_ caller: PageCaller, nowMs: Int64) -> String {
        let hour = Int(caller.clock.second(nowMs).prefix(2)) ?? 12
        let name = caller.firstName
        if (5..<12).contains(hour) { return name.isEmpty ? t("Good morning") : t("Good morning, \(name)") }
        if (12..<18).contains(hour) { return name.isEmpty ? t("Good afternoon") : t("Good afternoon, \(name)") }
        return name.isEmpty ? t("Good evening") : t("Good evening, \(name)")
    }
}
