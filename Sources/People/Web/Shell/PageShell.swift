internal import Alerts
internal import Basics
internal import Fleet
internal import HTTPServer
internal import Presentation

/// The frame of pages for people who are logged in: the skip link, the links that their roles allow, and their name.
struct PageShell {
    typealias Page = (path: String, name: String, roles: Set<Role>, about: HTML)
    private static let pages: [Page] = [
        ("/map", "Map", FleetRoutes.viewers, "where each vehicle is and what it does"),
        ("/vehicles", "Vehicles", FleetRoutes.viewers, "find a vehicle; what it says, its alerts and services"),
        ("/alerts", "Alerts", FleetRoutes.viewers, "what is wrong with which vehicle, why, and what to do"),
        ("/trips", "Trips", FleetRoutes.drivers, "the trips of a day, on the map and in figures"),
        ("/fleet", "Overview", FleetRoutes.drivers, "a day or week of the fleet beside the one before"),
        (
            "/reports", "Reports", ReportRoutes.readers,
            "what happened on a day, in a week, month or longer, to read or export"
        ),
        ("/thresholds", "Thresholds", ThresholdRoutes.editors, "from when on a machine's value is an alert"),
        ("/dispatch", "Dispatch", CampusPageRoutes.watchers, "vehicles, rides and waiting times of the campus"),
        ("/ride", "Ride", [.rider], "ask for a ride, see who comes and when"),
        ("/drive", "Drive", [.rideDriver], "your vehicle's stops in order"),
        ("/sightings", "Sightings", SightingRoutes.readers, "what was seen where and when; export it"),
        ("/surveys", "Surveys", SurveyRoutes.people, "enter a survey, see what became of yours, review and correct"),
        ("/tours", "Tours", TourRoutes.rangers, "make and publish trail tours; how often they were visited"),
        (
            "/notices", "Notices", NoticeRoutes.people,
            "what you are told of alerts, how and when, and what became of it"
        ),
        ("/queries", "Queries", QueryRoutes.readers, "questions that come with Drover, with their answers to export"),
        ("/query", "Ask", QuestionRoutes.readers, "a statement of your own over what you may see; export the answer"),
        ("/settings", "Settings", WebRoutes.fleetReaders, "limits and fuel price; units and time zone of pages"),
        ("/limits", "Limits", LimitsRoutes.people, "what is an alert of a car that nobody drives or owns"),
        ("/dealers", "Dealers", DealerRoutes.roles, "which dealer sees which machine"),
        ("/administration", "Administration", [.administrator], "accounts, roles and fleets"),
    ]

    let caller: PageCaller
    let assets: AssetFiles

    /// - Parameters:
    ///   - path: of this page in the links.
    ///   - styles, scripts: names of assets, in the order in which they are loaded.
    ///   - main: what stands in `main`, with the page's `h1`.
    func page(
        _ title: String, at path: String, styles: [String] = [], scripts: [String] = [], main: HTML
    ) -> Response {
        let links: [HTML] = (styles + ["pages.css"]).map { "<link rel=\"stylesheet\" href=\"\(assets.address($0))\">" }
        // In this order, after the page is parsed.
        let loads: [HTML] = scripts.map { "<script defer src=\"\(assets.address($0))\"></script>" }
        let body: HTML = """
            <a class="skip" href="#main">To the content</a>
            <header class="site"><a class="name" href="/">Drover</a>
            <nav aria-label="Pages"><ul>\(items(path))</ul></nav>
            </header>
            <main id="main" tabindex="-1">
            \(main)
            </main>
            \(PublicShell.footer)
            """
        return .page(
            HTML.page(title: "Drover: \(title)", head: "\n\((links + loads).joined(separator: "\n"))", body: body),
            hasScripts: !scripts.isEmpty)
    }

    private var mine: [Page] { PageShell.pages(for: caller.roles) }

    static func pages(for roles: Set<Role>) -> [Page] {
        pages.filter { !$0.roles.isDisjoint(with: roles) }
    }

    private func items(_ path: String) -> HTML {
        (mine.map { ($0.path, $0.name) } + [("/account", "Account: \(caller.account)")]).map { link, name in
            "<li><a href=\"\(link)\"\(link == path ? " aria-current=\"page\"" : "")>\(name)</a></li>"
        }.joined()
    }
}

extension PageCaller {
    /// The audience for parameters of machines (spec of the thresholds: farmer, dealer, developer).
    var audience: Audience {
        if !roles.isDisjoint(with: [.developer, .operator, .administrator]) { return .developer }
        return roles.contains(.dealer) ? .dealer : .farmer
    }

    /// Times of this account.
    var clock: ZoneClock { ZoneClock(zone: zone) }
}

/// Times as an account reads them.
struct ZoneClock {
    private let day: ZonedDay
    /// The zone's name, `UTC` where the account's is not known.
    let zone: String

    init(zone: String) {
        // Any day will do: its calendar tells all times of the zone.
        let day = ZonedDay(date: "2026-01-01", zone: zone) ?? ZonedDay(date: "2026-01-01", zone: "UTC")!
        self.day = day
        self.zone = day.zone
    }

    /// `2026-11-22 09:15`
    func minute(_ ms: Int64) -> String { day.minute(ms) }

    /// `09:15:27`
    func second(_ ms: Int64) -> String { day.clock(ms) }

    /// For programs, and for people: an element `time`.
    func html(_ ms: Int64) -> HTML { "<time datetime=\"\(UTC.text(ms))\">\(minute(ms))</time>" }
}
