internal import Alerts
internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Ingest
internal import Postgres
internal import Presentation
internal import Reports
internal import Telemetry
internal import Trips

extension FleetRoutes {
    /// Whoever has one job that is done elsewhere goes there.
    func land(_ request: Request) -> Response {
        access.page(request, for: nil) { caller, connection in
            if let job = Landing.job(caller.roles) { return .seeOther(job) }
            return try home(request, caller, connection)
        }
    }

    func home(_ request: Request) -> Response {
        access.page(request, for: nil) { caller, connection in try home(request, caller, connection) }
    }

    private func home(_ request: Request, _ caller: PageCaller, _ connection: Connection) throws -> Response {
        let (nowMs, path) = (Clock.nowMs(), Landing.home(caller.roles))
        let invite: HTML = "<a class=\"btn\" href=\"/administration?invite=1\">\(HTML.icon(.plus))Invite</a>"
        let heading = PageHeading(
            HomeView.greeting(caller, nowMs: nowMs), actions: caller.roles.contains(.administrator) ? invite : "")
        if !caller.roles.isDisjoint(with: FleetRoutes.viewers) {
            let seen = request.query["seen"].map { String($0.prefix(128)) }
            let news = try HomeNews(
                caller, seen: seen, tripGapMs: rules.tripGapMs, price: price, nowMs: nowMs, queries, on: connection)
            if !news.map.vehicles.isEmpty {
                let caller = try caller.knowing(news.trips.map(\.driver), queries, on: connection)
                let page = HomeView(news: news, caller: caller, nowMs: nowMs, seen: seen, streets: base.streets)
                return shell(caller).page(
                    t("Home"), at: path, heading: heading, styles: BaseMap.styles,
                    scripts: BaseMap.scripts + ["live.js", AlertForms.script, "home.js"], main: page.html(map))
            }
        }
        if let jobs = try HomeJobs(caller, nowMs: nowMs, queries, on: connection).html {
            return shell(caller).page(t("Home"), at: path, heading: heading, main: jobs)
        }
        let steps = try FirstSteps(caller, on: connection).html
        return shell(caller).page(
            t("Home"), at: path, heading: PageHeading(t("First steps"), actions: heading.actions),
            main: steps
                ?? HTML.emptyState(
                    .key, t("Your account has no role yet"),
                    .t(
                        "So there is little to see. Ask an administrator for a role: farmer, driver, rider, surveyor or another."
                    ),
                    action: "<a class=\"btn\" href=\"/account\">Your account</a>"))
    }

    /// The script draws the places; the list of them is the page of the map.
    private var map: HTML {
        """
        <section class="card w8" aria-labelledby="where-title"><header><h2 id="where-title">Where everyone is</h2>\
        <a class="more" href="/map">Open map</a></header>
        <div class="map grow" id="home-map" role="region" aria-label="Map of all vehicles" data-vehicles-from="/map/vehicles" \(base.attributes)>\
        <noscript><p class="empty">The map needs script. <a href="/map">The list of all vehicles</a> says the same.</p></noscript></div></section>
        """
    }
}
