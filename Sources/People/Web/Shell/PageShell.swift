internal import Alerts
internal import Basics
internal import Fleet
internal import HTTPServer
internal import Presentation

/// The frame of pages for people who are logged in: the menu that their roles allow, search, and who they are.
struct PageShell {
    let caller: PageCaller
    let assets: AssetFiles

    /// - Parameters:
    ///   - title: of the browser's tab.
    ///   - path: of the entry of the menu that this page belongs to.
    ///   - heading: nil: `main` has the `h1`.
    ///   - styles, scripts: names of assets, in the order in which they are loaded.
    ///   - isFull: `main` fills the window without a margin, as maps do.
    func page(
        _ title: String, at path: String, heading: PageHeading? = nil, styles: [String] = [], scripts: [String] = [],
        isFull: Bool = false, main: HTML
    ) -> Response {
        let body: HTML = """
            <a class="skip" href="#main">Skip to content</a>
            \(rail(path))
            \(top(heading))
            <main id="main" class="main\(" full", if: isFull)" tabindex="-1">
            \(main)
            </main>
            \(bottom(path))
            """
        return .page(
            HTML.document(
                title: "\(PageShell.sentence(title)) · Drover", head: PageShell.head(assets, styles, scripts),
                body: body,
                bodyClass: "app"),
            hasScripts: true, hasMap: BaseMap.isLoaded(by: scripts))
    }

    /// Styles first; the one script that runs before the page is drawn sets the theme that was chosen.
    static func head(_ assets: AssetFiles, _ styles: [String], _ scripts: [String]) -> HTML {
        let links: [HTML] = (["tokens.css", "pages.css"] + styles).map {
            "<link rel=\"stylesheet\" href=\"\(assets.address($0))\">"
        }
        // In this order, after the page is parsed: words first, which all others say.
        let addresses = [assets.address("words.js"), assets.languages.scriptAddress].compactMap { $0 }
        let loads = (addresses + (["shell.js"] + scripts).map(assets.address)).map { address -> HTML in
            "<script defer src=\"\(address)\"></script>"
        }
        return """
            <link rel="icon" href="\(assets.address("mark.svg"))">
            \(links.joined(separator: "\n"))
            <script src="\(assets.address("theme.js"))"></script>
            \(loads.joined(separator: "\n"))
            """
    }

    static func sentence(_ title: String) -> String { title.prefix(1).uppercased() + title.dropFirst() }

    static let mark: HTML = """
        <svg class="mark" viewBox="0 0 28 28" aria-hidden="true"><rect width="28" height="28" rx="8"/>\
        <path d="M8 6.5v4.2a4 4 0 0 0 1.2 2.8L14 18m6-11.5v4.2a4 4 0 0 1-1.2 2.8L14 18m0-11.5V22"/><circle cx="14" cy="22" r="2.1"/></svg>
        """

    // MARK: Parts

    private func rail(_ path: String) -> HTML {
        let groups: [HTML] = Navigation.groups(for: caller.roles).map { group in
            let links = group.entries.map { link($0, path) }.joined()
            return "<h2>\(group.name)</h2>\(links)"
        }
        return """
            <aside class="rail" aria-label="Menu" data-account="\(caller.account)">
            <a class="brand" href="/" aria-label="Drover, home">\(PageShell.mark)<span class="lbl">Drover</span></a>
            <nav aria-label="Main">\(groups.joined())</nav>
            <div class="foot">\(own)<button class="btn ghost icon small" type="button" data-slim hidden \
            aria-label="Collapse the menu" title="Collapse the menu">\(HTML.icon(.side))</button></div>
            </aside>
            """
    }

    private func link(_ entry: Navigation.Entry, _ path: String) -> HTML {
        """
        <a href="\(entry.path)" title="\(entry.name)"\(" aria-current=\"page\"", if: entry.path == path)>\
        \(HTML.icon(entry.icon))<span class="lbl">\(entry.name)</span></a>
        """
    }

    /// The account's menu: a disclosure, so that it opens without script.
    private var own: HTML {
        """
        <details class="menu above"><summary><span class="ava" aria-hidden="true">\(initials)</span>\
        <span class="lbl ell">\(caller.person(caller.account))</span></summary>
        <div class="pop">
        <div class="themes" hidden><div class="eyebrow">Theme</div>\
        <button type="button" data-theme-choice="system">\(HTML.icon(.cog))System</button>\
        <button type="button" data-theme-choice="light">\(HTML.icon(.sun))Light</button>\
        <button type="button" data-theme-choice="dark">\(HTML.icon(.moon))Dark</button><hr></div>
        <a href="/account">\(HTML.icon(.person))Account</a>
        <a href="/about">\(HTML.icon(.info))About Drover</a>
        <form method="post" action="/logout">\(FormView.hidden(CSRFGuard.field, caller.mark))\
        <button>\(HTML.icon(.out))Log out</button></form>
        </div></details>
        """
    }

    private var initials: String {
        let name = caller.person(caller.account)
        let words = name.split { !$0.isLetter && !$0.isNumber }
        let letters = words.count > 1 ? words.prefix(2).map { $0.prefix(1) } : [name.prefix(2)]
        return letters.joined().uppercased()
    }

    private func top(_ heading: PageHeading?) -> HTML {
        let crumb: HTML? = (heading?.crumb).map { crumb in
            "<a class=\"crumb\" href=\"\(crumb.path)\"><span>\(crumb.name)</span>\(HTML.icon(.right))</a>"
        }
        let title: HTML? = heading.map { "<h1>\($0.title)</h1><div class=\"slot status\">\($0.status)</div>" }
        return """
            <header class="top">\(crumb)\(title)<span class="sp"></span>
            <form class="find" action="/search" role="search"><label class="sr" for="find-text">Search</label>\(HTML.icon(.find))\
            <input id="find-text" name="q" type="search" placeholder="Search" autocomplete="off" maxlength="100"><kbd>/</kbd>\
            <button class="sr" tabindex="-1">Find</button></form>
            \(heading?.range)<div class="slot">\(heading?.actions)</div>
            </header>
            """
    }

    private func bottom(_ path: String) -> HTML {
        let links = Navigation.phoneEntries(for: caller.roles).map { link($0, path) }.joined()
        let all: [HTML] = Navigation.groups(for: caller.roles).map { group in
            "<div class=\"eyebrow\">\(group.name)</div><div class=\"pairs\">\(group.entries.map { link($0, path) }.joined())</div>"
        }
        return """
            <nav class="bottom" aria-label="Main, on phones">\(links)
            <details class="menu above"><summary>\(HTML.icon(.menu))<span class="lbl">More</span></summary>
            <div class="pop">\(all.joined())<hr><a href="/account">\(HTML.icon(.person))Account</a></div></details></nav>
            """
    }
}

extension PageCaller {
    /// The audience for parameters of machines (spec of the thresholds: farmer, dealer, developer).
    var audience: Audience { Audience(of: roles) }

    /// Times of this account.
    var clock: ZoneClock { ZoneClock(zone: zone) }
}

extension Audience {
    init(of roles: Set<Role>) {
        if !roles.isDisjoint(with: [.developer, .operator, .administrator]) {
            self = .developer
        } else {
            self = roles.contains(.dealer) ? .dealer : .farmer
        }
    }
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

    /// `2026-11-22T07:15:27Z`
    func machine(_ ms: Int64) -> String { UTC.text(ms) }

    /// For programs, and for people: an element `time`.
    func html(_ ms: Int64) -> HTML { "<time datetime=\"\(UTC.text(ms))\">\(minute(ms))</time>" }
}
