internal import Alerts
internal import Fleet
internal import HTTP
internal import Reports

/// What pages of people who are logged in have around them: the way past the links, the links that their roles allow, and who
/// is logged in.
struct PageShell {
    private static let pages: [(path: String, name: String, roles: Set<Role>)] = [
        ("/map", "Map", FleetSite.viewers), ("/vehicles", "Vehicles", FleetSite.viewers),
        ("/alerts", "Alerts", FleetSite.viewers),
        ("/trips", "Trips", FleetSite.drivers), ("/fleet", "Overview", FleetSite.drivers),
        ("/thresholds", "Thresholds", ThresholdSite.editors),
        ("/sightings", "Sightings", SightingSite.readers), ("/surveys", "Surveys", SurveyPages.people),
        ("/tours", "Tours", TourPanel.rangers), ("/settings", "Settings", Site.fleetReaders),
        ("/dealers", "Dealers", DealerSite.roles), ("/administration", "Administration", [.administrator]),
    ]

    let caller: PageCaller
    let assets: AssetFiles

    /// - Parameters:
    ///   - path: of this page in the links.
    ///   - styles, scripts: names of assets, in the order in which they are loaded.
    ///   - main: what stands in `main`, HTML already, with the page's `h1`.
    func page(
        _ title: String, at path: String, styles: [String] = [], scripts: [String] = [], main: String
    ) -> Response {
        let links = (styles + ["pages.css"]).map { "<link rel=\"stylesheet\" href=\"\(assets.address($0))\">" }
        // In the order in which they stand here, when the page is there.
        let loads = scripts.map { "<script defer src=\"\(assets.address($0))\"></script>" }
        let head = "\n" + (links + loads).joined(separator: "\n")
        let body = """
            <a class="skip" href="#main">To the content</a>
            <header class="site"><a class="name" href="\(home)">Drover</a>
            <nav aria-label="Pages"><ul>\(items(path))</ul></nav>
            </header>
            <main id="main" tabindex="-1">
            \(main)
            </main>
            \(PublicShell.footer)
            """
        return .page(
            HTMLText.page(title: "Drover: \(title)", head: head, body: body), hasScripts: !scripts.isEmpty)
    }

    private var mine: [(path: String, name: String, roles: Set<Role>)] { PageShell.pages(for: caller.roles) }

    static func pages(for roles: Set<Role>) -> [(path: String, name: String, roles: Set<Role>)] {
        pages.filter { !$0.roles.isDisjoint(with: roles) }
    }

    /// The first page is for who has vehicles.
    private var home: String {
        caller.roles.isDisjoint(with: Site.fleetReaders) ? mine.first?.path ?? "/account" : "/"
    }

    private func items(_ path: String) -> String {
        (mine.map { ($0.path, $0.name) } + [("/account", "Account: \(caller.account)")]).map { link, name in
            "<li><a href=\"\(link)\"\(link == path ? " aria-current=\"page\"" : "")>\(HTMLText.escaped(name))</a></li>"
        }.joined()
    }
}

extension PageCaller {
    /// Who sees which parameters of machines (spec of the thresholds: farmer, dealer, developer).
    var audience: Audience {
        if !roles.isDisjoint(with: [.developer, .operator, .administrator]) { return .developer }
        return roles.contains(.dealer) ? .dealer : .farmer
    }

    var shownUnits: DriverSettings.Units { units == "us" ? .us : .metric }

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
        (self.day, self.zone) = (day, day.zone)
    }

    /// `2026-11-22 09:15`
    func minute(_ ms: Int64) -> String { day.minute(ms) }

    /// `09:15:27`
    func second(_ ms: Int64) -> String { day.clock(ms) }

    /// For programs, and for people: an element `time`.
    func html(_ ms: Int64) -> String { "<time datetime=\"\(UTC.text(ms))\">\(minute(ms))</time>" }
}
