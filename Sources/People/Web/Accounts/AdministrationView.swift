internal import Alerts
internal import Fleet
internal import Presentation
internal import Storage

/// People with their roles, and fleets, for administrators.
enum AdministrationView {
    static let heading = PageHeading(
        "People",
        actions: """
            <a class="btn" href="/audit" aria-label="Audit log">\(HTML.icon(.history))<span class="hide-phone">Audit log</span></a>\
            <a class="btn" href="#fleets" aria-label="Fleets">\(HTML.icon(.truck))<span class="hide-phone">Fleets</span></a>\
            <a class="btn primary" href="/administration?invite=1">\(HTML.icon(.plus))Invite</a>
            """)

    /// - Parameters:
    ///   - top: above the people.
    ///   - asked: a part of a name, mail address, account or role; empty: everybody.
    static func html(
        _ accounts: [AdministrationStore.AccountRow], _ fleets: [AdministrationStore.FleetRow], _ asked: String,
        _ caller: PageCaller, nowMs: Int64, notice: FormView.Notice?, top: HTML = ""
    ) -> HTML {
        let mark = caller.mark
        let found = asked.isEmpty ? accounts : accounts.filter { isLike($0, asked.lowercased()) }
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
                ? HTML.emptyState(.people, "Nobody found", "No name, email or role has “\(asked)” in it.",
                    action: "<a class=\"btn small\" href=\"/administration?invite=1\">Invite somebody</a>")
                : found.map { account($0, caller, nowMs: nowMs) }.joined(separator: "\n"))
            </section>
            <section class="card" aria-labelledby="fleets"><header><h2 id="fleets">Fleets</h2><span class="count">\(fleets.count)</span></header>
            \(fleets.map { fleet($0, mark) }.joined(separator: "\n"))\(fold("New fleet", icon: .plus, fields(nil, mark)))
            </section>
            """)
    }

    private static func count(
        _ found: [AdministrationStore.AccountRow], of all: [AdministrationStore.AccountRow], _ caller: PageCaller
    ) -> String {
        found.count == all.count
            ? caller.words.count(all.count, .account) : "\(found.count) of \(caller.words.count(all.count, .account))"
    }

    private static func isLike(_ row: AdministrationStore.AccountRow, _ asked: String) -> Bool {
        ([row.account, row.mail ?? "", row.name] + row.roles.map(\.name)).contains { $0.lowercased().contains(asked) }
    }

    private static func account(_ row: AdministrationStore.AccountRow, _ caller: PageCaller, nowMs: Int64) -> HTML {
        // Erasing takes the roles, too; who was added without a mail address says it with the first password.
        let isErased = row.mail == nil && row.roles.isEmpty && row.state == .disabled
        let roles: [HTML] = Role.allCases.filter(row.roles.contains).map { "<span class=\"tag\">\($0.name)</span>" }
        let name = row.name.isEmpty ? row.account : row.name
        let summary: HTML = """
            <span class="ic s">\(HTML.icon(.person))</span><span class="grow"><b>\(name)</b>\
            <small>\(row.mail ?? (isErased ? "Erased" : "No email yet"))\(", \(row.account)", if: !row.name.isEmpty)</small></span>\
            <span class="row wrap hide-phone">\(roles.isEmpty ? "<span class=\"soft\">No roles</span>" : roles.joined())</span>\
            \(state(row))<span class="soft small nowrap">\(row.lastUsedMs.map { HTML.relativeTime($0, nowMs, caller.clock) } ?? "")</span>
            """
        return """
            <details class="fold"><summary class="item">\(summary)</summary>
            <div class="body">\(form(row, isErased: isErased, caller.mark))</div></details>
            """
    }

    private static func state(_ row: AdministrationStore.AccountRow) -> HTML {
        switch row.state {
        case .disabled: HTML.pill("quiet", "Off")
        case .notConfirmed: HTML.pill("warning", "Not confirmed")
        case .confirmed: ""
        }
    }

    private static func form(_ row: AdministrationStore.AccountRow, isErased: Bool, _ mark: String) -> HTML {
        FormView.form(
            "/administration/account",
            [
                .hidden(name: CSRFGuard.field, value: mark), .hidden(name: "account", value: row.account),
                .boxes(
                    name: "role", label: "Roles", of: Role.allCases.map { ($0.rawValue, $0.name) },
                    chosen: Set(row.roles.map(\.rawValue))),
                .boxes(
                    name: "enabled", label: "Log-in", of: [("1", "May log in")],
                    chosen: row.state == .disabled ? [] : ["1"]),
            ]
                + (isErased
                    ? []
                    : [
                        FormView.Field.optional(name: "erase", label: "Erase for good", value: "", autocomplete: "off")
                            .help("Type \(row.account) to erase this person’s data. There is no way back.")
                    ]),
            "Save \(row.account)", id: row.account)
    }

    private static func fleet(_ row: AdministrationStore.FleetRow, _ mark: String) -> HTML {
        let words = English()
        let people = row.members.count == 1 ? "1 person" : "\(row.members.count) people"
        let place = row.partOf.map { ", part of \($0)" } ?? ""
        return fold(
            row.name, "\(row.fleet)\(place): \(words.count(row.vehicles.count, .vehicle)), \(people)", icon: .truck,
            fields(row, mark))
    }

    private static func fields(_ row: AdministrationStore.FleetRow?, _ mark: String) -> HTML {
        func vehicles(_ kind: VehicleKind) -> String {
            let head = kind.rawValue + " "
            return (row?.vehicles ?? []).filter { $0.hasPrefix(head) }.map { String($0.dropFirst(head.count)) }
                .joined(separator: "\n")
        }
        return FormView.form(
            "/administration/fleet",
            [
                .hidden(name: CSRFGuard.field, value: mark),
                row.map { .hidden(name: "fleet", value: $0.fleet) }
                    ?? .input(name: "fleet", label: "Id", type: "text", value: "", autocomplete: "off"),
                .optional(name: "name", label: "Name", value: row?.name ?? "", autocomplete: "off"),
                FormView.Field.optional(
                    name: "part_of", label: "Part of", value: row?.partOf ?? "", autocomplete: "off"
                )
                .help("Id of the fleet above. Leave empty for none."),
                .lines(name: "machines", label: "Machines, one id a line", value: vehicles(.machine)),
                .lines(name: "cars", label: "Cars, one id a line", value: vehicles(.car)),
                .lines(
                    name: "members", label: "People, one account a line",
                    value: (row?.members ?? []).joined(separator: "\n")),
            ], row.map { "Save \($0.fleet)" } ?? "Create fleet", id: "fleet-" + (row?.fleet ?? ""))
    }

    private static func fold(_ name: String, _ about: String = "", icon: IconName, _ body: HTML) -> HTML {
        """
        <details class="fold"><summary class="item"><span class="ic s">\(HTML.icon(icon))</span>\
        <span class="grow"><b>\(name)</b><small>\(about)</small></span></summary>
        <div class="body">\(body)</div></details>

        """
    }
}
