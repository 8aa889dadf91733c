internal import Alerts
internal import Basics
internal import Codecs
internal import Fleet
internal import Presentation
internal import Reports

/// One vehicle: a verdict, what it is, and tabs with what it says now and said before. Each tab is an address of its own.
struct VehicleView {
    enum Tab: String, CaseIterable { case live, trips, alerts, charts, services, codes, details }

    static let spans = [1, 7, 30]
    /// A vehicle that was heard of within this is live.
    static let freshMs: Int64 = 120_000

    let about: About
    let caller: PageCaller
    let nowMs: Int64
    let tab: Tab
    let back: Back
    let alerts: [OpenAlert]
    let story: Story
    /// The worst of them is the reader's to take on.
    let mayAcknowledge: Bool
    /// Forms and facts of the chosen tab that other files make.
    var parts = Parts()
    /// Meanings of trouble codes; nil: not available.
    var meanings: TroubleCodeMeanings?
    /// Older data belongs to the previous owner alone; nil: all is shown.
    var seenSinceMs: Int64?

    struct Parts {
        /// What a form has done, above all.
        var notice: HTML = ""
        /// Of the time that charts show.
        var picker: HTML = ""
        /// Asks its box now.
        var connect: HTML = ""
        /// Entries of the menu *More*.
        var menu: HTML = ""
        var services: HTML = ""
        var details: HTML = ""
        /// Of maps: `BaseMap.attributes`.
        var base: HTML = ""
        /// A way out for a vehicle that nothing watches.
        var unmonitored: HTML = ""
    }

    var address: String { "/vehicles/\(URLText.escaped(about.vehicle))" }

    /// - Parameter tab: nil: the first.
    func link(_ tab: Tab?) -> HTML {
        "\(address)?kind=\(about.kind.rawValue)\(tab.map { $0 == .live ? "" : "&amp;tab=\($0.rawValue)" })"
    }

    // MARK: The bar on top

    var heading: PageHeading {
        PageHeading(
            about.name ?? about.vehicle, crumb: (t("Vehicles"), "/vehicles"),
            status: "<span id=\"state\">\(state)</span>",
            actions: """
                \(parts.connect)<details class="menu end"><summary class="btn icon" aria-label="More">\(HTML.icon(.more))</summary>
                <div class="pop">\(parts.menu)</div></details>
                """, range: tab == .charts ? parts.picker : "")
    }

    private var state: HTML {
        if about.isDisabled { return HTML.pill("quiet", t("Disabled")) }
        guard let lastMs = story.lastMs else { return HTML.pill("silent", t("Nothing heard yet")) }
        let age = caller.words.age(lastMs, nowMs: nowMs)
        let pill: HTML =
            if nowMs - lastMs < VehicleView.freshMs {
                HTML.pill("ok", t("Live, \(age)"))
            } else if nowMs - lastMs < VehicleState.silentMs {
                HTML.pill("quiet", t("Heard \(age)"))
            } else {
                HTML.pill("silent", t("Silent, heard \(age)"))
            }
        return
            "<time datetime=\"\(UTC.text(lastMs))\" title=\"\(caller.clock.minute(lastMs)) \(caller.clock.zone)\">\(pill)</time>"
    }

    // MARK: The page

    var html: HTML {
        """
        \(parts.notice)
        <section class="card hero" id="verdict">\(VehicleVerdict(self).html)</section>
        \(past)
        <nav class="tabs near" aria-label="Of this vehicle">\(tabs)</nav>
        \(pane)
        """
    }

    private var past: HTML {
        guard let seenSinceMs else { return "" }
        return """
            <p class="strip">You see what it said since \(caller.clock.html(seenSinceMs)), when you were confirmed. \
            Its owner did not share what was before, nor the alerts that were open then.</p>
            """
    }

    private var tabs: HTML {
        let worst = alerts.contains { $0.alert.severity == .critical } ? "count critical" : "count"
        let count: HTML = alerts.isEmpty ? "" : " <span class=\"\(worst)\">\(alerts.count)</span>"
        var links: [HTML] = VehicleView.tabs(of: about.kind).map { tab, name in
            "<a href=\"\(link(tab))\"\(" aria-current=\"page\"", if: tab == self.tab)>\(name)\(tab == .alerts ? count : "")</a>"
        }
        // A page of its own, which not everybody who sees a car may see.
        if about.kind == .car, !caller.roles.isDisjoint(with: FleetRoutes.drivers) {
            links.insert("<a href=\"/cars/\(encoded: about.vehicle)/live\">Live drive</a>", at: 1)
        }
        return links.joined()
    }

    static func tabs(of kind: VehicleKind) -> [(Tab, String)] {
        switch kind {
        case .machine:
            [
                (.live, t("Live")), (.alerts, t("Alerts")), (.charts, t("Charts")), (.services, t("Services")),
                (.details, t("Details")),
            ]
        case .car:
            [
                (.live, t("Live")), (.trips, t("Trips")), (.alerts, t("Alerts")), (.charts, t("Charts")),
                (.codes, t("Trouble codes")), (.details, t("Details")),
            ]
        }
    }

    private var pane: HTML {
        switch tab {
        case .live: live
        case .trips: trips
        case .alerts: alertsPane
        case .charts: chartsPane
        case .services: parts.services
        case .codes: codes
        case .details: parts.details
        }
    }
}
