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
        let more = [alert.advice, told(open)].compactMap { $0 }.joined(separator: " ")
        return """
            <section class="strip \(tone)" id="now" aria-label="Needs you now" data-alert="\(open.id)">\(HTML.pill(tone, alert.severity == .critical ? "Critical" : "Warning"))
            <div class="grow"><a href="/alerts/\(encoded: open.id)"><b class="strong">\(name): \(alert.severity == .critical ? "stop now" : "look at it").</b></a> \
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
    private func told(_ open: OpenAlert) -> String? {
        guard let first = news.told.first else { return nil }
        let who = first.account == caller.account ? "You were" : "\(first.name) was"
        let more = news.told.count > 1 ? ", \(news.told.count - 1) more since" : ""
        return
            "\(who) told at \(caller.words.moment(first.ms, nowMs: nowMs, caller.clock))\(more); nobody has answered."
    }

    private func takenOn(_ open: OpenAlert) -> HTML {
        """
        <section class="strip" id="now" aria-label="Needs you now" role="status">\(HTML.pill("ok", "Acknowledged"))
        <div class="grow"><a href="/alerts/\(encoded: open.id)"><b>\(open.vehicleName ?? open.alert.vehicle)</b></a> is with you now. <span class="soft">\(open.alert.said(caller.units)).</span></div></section>
        """
    }

    private var calm: HTML {
        let isPartly = news.map.vehicles.contains { $0.notMonitored != nil }
        let words = isPartly ? "Of what is monitored, nothing needs you now." : "Nothing needs you now."
        return "<p class=\"quiet-line soft\" id=\"now\">\(HTML.icon(.check))<span>\(words)</span></p>"
    }

    // MARK: States

    private var chips: HTML {
        let vehicles = news.map.vehicles
        let states: [HTML] = VehicleState.allCases.map { state in
            let count = vehicles.count { $0.state == state }
            return
                "<a class=\"chip\" href=\"/map?state=\(state.rawValue)\"><i class=\"dot \(state.dot)\"></i><b>\(count)</b> \(state.rawValue)</a>"
        }
        let unmonitored = vehicles.count { $0.notMonitored != nil }
        let eye: HTML =
            unmonitored == 0
            ? "" : "<a class=\"chip\" href=\"/vehicles\">\(HTML.icon(.eye))<b>\(unmonitored)</b> not monitored</a>"
        let isCut = vehicles.count == Int(FleetMap.vehiclesMax)
        return """
            <div class="chips home-chips" id="chips" role="group" aria-label="Vehicles by state">\(states.joined())\(eye)<span class="grow"></span>\
            <span class="faint small nowrap hide-phone">\(isCut ? "The first " : "")\(vehicles.count) \(vehicles.count == 1 ? "vehicle" : "vehicles") · \
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
        let words =
            (5..<12).contains(hour) ? "Good morning" : (12..<18).contains(hour) ? "Good afternoon" : "Good evening"
        return caller.firstName.isEmpty ? words : "\(words), \(caller.firstName)"
    }
}

extension VehicleState {
    /// The class of its `.dot`.
    var dot: String {
        switch self {
        case .moving: "info"
        case .idling: "idle"
        case .parked: "quiet"
        case .silent: "silent"
        }
    }
}
