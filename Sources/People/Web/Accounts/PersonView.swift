internal import Fleet
internal import Presentation
internal import Storage

/// One person, for administrators.
struct PersonView {
    static let activityMax = 10

    let row: AdministrationStore.AccountRow
    let fleets: [AdministrationStore.FleetRow]
    /// Of everybody, by account.
    let names: [String: String]
    /// What they did and what was done to them, the newest first.
    let activity: [AuditPageQueries.Line]
    let lastLogInMs: Int64?
    let caller: PageCaller
    let nowMs: Int64

    var html: HTML {
        """
        <div class="grid">
        <section class="card w6"><header><h2>Roles</h2></header><div class="body">\(roles)</div></section>
        <div class="w6 stack">
        <section class="card"><header><h2>Log-in</h2></header><div class="body">\(logIn)</div></section>
        \(fleetsCard)
        </div>
        <section class="card w12"><header><h2>Recently</h2><a class="more" href="/audit?account=\(encoded: row.account)">All in the audit log</a></header>
        \(recent)</section>
        \(row.isErased ? "" : erasing)
        </div>
        """
    }

    private var roles: HTML {
        let boxes: [HTML] = Role.allCases.map { role in
            """
            <label><span class="row"><input class="check" type="checkbox" name="role" value="\(role.rawValue)"\(" checked", if: row.roles.contains(role))> <b>\(role.title)</b></span><small class="soft">\(role.about)</small></label>
            """
        }
        let shown = Role.allCases.filter(row.roles.contains).map(\.rawValue).joined(separator: " ")
        return """
            <form class="form" method="post" action="/administration/account">\(caller.hidden([("account", row.account), ("shown", shown)]))
            <fieldset class="bare"><legend class="sr">Roles</legend><div class="pick">\(boxes.joined(separator: "\n"))</div></fieldset>
            <div class="row"><button class="btn primary">Save roles</button></div></form>
            """
    }

    private var logIn: HTML {
        let isOff = row.state == .disabled
        let seen: HTML = row.lastUsedMs.map { HTML.relativeTime($0, nowMs, caller.clock) } ?? .t("Not lately")
        let last: HTML = lastLogInMs.map { HTML.relativeTime($0, nowMs, caller.clock) } ?? .t("Never")
        let why =
            isOff
            ? t("May not log in. Apps and streams have ended, too.")
            : t("Without it they are logged out at once, and their apps end.")
        let button: HTML =
            row.isErased
            ? ""
            : """
            <form class="form" method="post" action="/administration/account">\(caller.hidden([("account", row.account), ("enabled", isOff ? "1" : "0")]))
            <p class="soft small">\(why)</p>
            <div class="row"><button class="btn\(" danger", if: !isOff)">\(isOff ? t("Let them log in") : t("Stop log-in"))</button></div></form>
            """
        return """
            <dl>
            <dt>Email</dt><dd>\(row.mail ?? (row.isErased ? t("Erased") : t("No email yet")))</dd>
            <dt>Account</dt><dd>\(row.account)</dd>
            <dt>Last log-in</dt><dd>\(last)</dd>
            <dt>Last active</dt><dd>\(seen)</dd>
            </dl>
            \(button)
            """
    }

    private var fleetsCard: HTML {
        let (own, others) = (
            fleets.filter { $0.members.contains(row.account) }, fleets.filter { !$0.members.contains(row.account) }
        )
        let action: HTML = "/administration/people/\(encoded: row.account)/fleets"
        let items: [HTML] = own.map { fleet in
            """
            <div class="item"><span class="ic s">\(HTML.icon(.truck))</span>\
            <span><a class="name" href="/administration/fleets/\(encoded: fleet.fleet)">\(fleet.name)</a>\
            <small>\(caller.words.count(fleet.vehicles.count, .vehicle))</small></span>\
            <form method="post" action="\(action)">\(caller.hidden([("leave", fleet.fleet)]))\
            <button class="btn small">Remove<span class="sr"> from \(fleet.name)</span></button></form></div>
            """
        }
        let none: HTML = "<p class=\"empty\">In no fleet: they see only vehicles of their own.</p>"
        let adding: HTML =
            others.isEmpty || row.isErased
            ? ""
            : """
            <form class="bar" method="post" action="\(action)">\(caller.hidden())
            <label class="sr" for="join">Fleet</label><span class="grow"><select id="join" name="join">\(HTML.options(others.map { ($0.fleet, $0.name) }, nil))</select></span>\
            <button class="btn">Add to fleet</button></form>
            """
        return """
            <section class="card"><header><h2>Fleets</h2><span class="count">\(own.count)</span></header>
            \(items.isEmpty ? none : items.joined(separator: "\n"))
            \(adding)</section>
            """
    }

    private var recent: HTML {
        guard !activity.isEmpty else { return "<p class=\"empty\">Nothing yet.</p>" }
        return activity.map { line in
            """
            <div class="item"><span class="ic s">\(HTML.icon(AuditWords.icon(line)))</span>\
            <span class="says">\(AuditWords(line, names: names).sentence)</span>\
            <span class="soft small nowrap">\(HTML.relativeTime(line.atMs, nowMs, caller.clock))</span></div>
            """
        }.joined(separator: "\n")
    }

    private var erasing: HTML {
        """
        <section class="card w12"><details class="fold"><summary class="item"><span class="ic s">\(HTML.icon(.trash))</span>\
        <span class="grow"><b>Erase for good</b><small>Name, email and log-in go. What they did stays, under the id.</small></span></summary>
        <div class="body"><form class="form narrow-form" method="post" action="/administration/account">\(caller.hidden([("account", row.account)]))
        <div class="fld"><label for="erase">Type \(row.account) to erase this person’s data</label>\
        <input id="erase" name="erase" type="text" required maxlength="254" autocomplete="off"><span class="help">There is no way back.</span></div>
        <div class="row"><button class="btn danger">Erase</button></div></form></div></details></section>
        """
    }
}
