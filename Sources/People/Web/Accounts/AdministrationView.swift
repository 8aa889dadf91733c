internal import Alerts
internal import Fleet
internal import Presentation
internal import Storage

/// People with their roles, and fleets, for administrators: each has a page of its own.
enum AdministrationView {
    static var heading: PageHeading {
        PageHeading(
            t("People"),
            actions: """
                <a class="btn" href="/audit" aria-label="Audit log">\(HTML.icon(.history))<span class="hide-phone">Audit log</span></a>\
                <a class="btn" href="#fleets" aria-label="Fleets">\(HTML.icon(.truck))<span class="hide-phone">Fleets</span></a>\
                <a class="btn primary" href="/administration?invite=1">\(HTML.icon(.plus))Invite</a>
                """)
    }

    /// - Parameters:
    ///   - top: above the people.
    ///   - asked: a part of a name, mail address, account or role; empty: everybody.
    static func html(
        _ accounts: [AdministrationStore.AccountRow], _ fleets: [AdministrationStore.FleetRow], _ asked: String,
        _ caller: PageCaller, nowMs: Int64, notice: FormView.Notice?, top: HTML = ""
    ) -> HTML {
        let found = asked.isEmpty ? accounts : accounts.filter { isLike($0, asked.lowercased()) }
        let names = Dictionary(fleets.map { ($0.fleet, $0.name) }) { first, _ in first }
        return FormView.said(
            notice,
            """
            \(top)
            <form class="filter" method="get" action="/administration" role="search">
            <div><label for="q">Name, email or role</label><input id="q" name="q" type="search" maxlength="100" value="\(asked)"></div>
            <button class="btn">Find</button>\("<a class=\"btn ghost\" href=\"/administration\">Show all</a>", if: !asked.isEmpty)
            </form>
            <section class="card" aria-labelledby="people"><header><h2 id="people">People</h2>\
            <span class="soft" role="status">\(count(found, of: accounts, caller))</span></header>
            \(found.isEmpty
                ? HTML.emptyState(.people, t("Nobody found"), .t("No name, email or role has “\(asked)” in it."),
                    action: "<a class=\"btn small\" href=\"/administration?invite=1\">Invite somebody</a>")
                : found.map { account($0, caller, nowMs: nowMs) }.joined(separator: "\n"))
            </section>
            <section class="card" aria-labelledby="fleets"><header><h2 id="fleets">Fleets</h2><span class="count">\(fleets.count)</span></header>
            \(fleets.map { fleet($0, names, caller) }.joined(separator: "\n"))
            <details class="fold"><summary class="item"><span class="ic s">\(HTML.icon(.plus))</span><span class="grow"><b>New fleet</b></span></summary>
            <div class="body">\(FleetView.form(nil, fleets, caller.mark))</div></details>
            </section>
            """)
    }

    private static func count(
        _ found: [AdministrationStore.AccountRow], of all: [AdministrationStore.AccountRow], _ caller: PageCaller
    ) -> String {
        let total = caller.words.count(all.count, .account)
        return found.count == all.count ? total : t("\(found.count) of \(total)")
    }

    private static func isLike(_ row: AdministrationStore.AccountRow, _ asked: String) -> Bool {
        ([row.account, row.mail ?? "", row.name] + row.roles.flatMap { [$0.name, $0.title] })
            .contains { $0.lowercased().contains(asked) }
    }

    private static func account(_ row: AdministrationStore.AccountRow, _ caller: PageCaller, nowMs: Int64) -> HTML {
        let roles: [HTML] = Role.allCases.filter(row.roles.contains).map { "<span class=\"tag\">\($0.title)</span>" }
        return """
            <a class="item" href="/administration/people/\(encoded: row.account)"><span class="ic s">\(HTML.icon(.person))</span>\
            <span><b>\(row.called)</b><small>\(row.mail ?? (row.isErased ? t("Erased") : t("No email yet")))\(", \(row.account)", if: !row.name.isEmpty)</small></span>\
            <span class="row wrap end"><span class="row wrap hide-phone">\(roles.isEmpty ? "<span class=\"soft\">No roles</span>" : roles.joined())</span>\
            \(state(row))<span class="soft small nowrap">\(row.lastUsedMs.map { HTML.relativeTime($0, nowMs, caller.clock) } ?? "")</span></span></a>
            """
    }

    static func state(_ row: AdministrationStore.AccountRow) -> HTML {
        switch row.state {
        case .disabled: HTML.pill("quiet", t("Off"))
        case .notConfirmed: HTML.pill("warning", t("Not confirmed"))
        case .confirmed: ""
        }
    }

    private static func fleet(
        _ row: AdministrationStore.FleetRow, _ names: [String: String], _ caller: PageCaller
    ) -> HTML {
        let people = t(row.members.count, one: "\(row.members.count) person", many: "\(row.members.count) people")
        let above = row.partOf.map { t("part of \(names[$0] ?? $0)") }
        let about = [above, caller.words.count(row.vehicles.count, .vehicle), people].compactMap { $0 }
        return """
            <a class="item" href="/administration/fleets/\(encoded: row.fleet)"><span class="ic s">\(HTML.icon(.truck))</span>\
            <span><b>\(row.name)</b><small>\(about.joined(separator: ", "))</small></span>\(HTML.icon(.right))</a>
            """
    }
}

extension AdministrationStore.AccountRow {
    /// What people call them: by their name, or else their id.
    var called: String { name.isEmpty ? account : name }

    /// Erasing takes the roles, too; who was added without a mail address says it with the first password.
    var isErased: Bool { mail == nil && roles.isEmpty && state == .disabled }
}
