internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports

/// Services of machines: due, soon, done.
struct ServicesView {
    static let doneMax: Int64 = 100
    /// More make a page of a megabyte, which nobody reads to its end.
    private static let rowsMax = 200

    enum Show: String, CaseIterable { case all, due, soon, fine, done }

    let services: [ServiceRead]
    let recorded: [ServiceRead.Recorded]
    let tags: [String]
    let show: Show
    let search, tag: String
    /// A machine whose service was just recorded, and may not be stored yet.
    let justDone: String?
    let caller: PageCaller
    let nowMs: Int64

    private var mayRecord: Bool { !caller.roles.isDisjoint(with: FleetRoutes.keepers) }

    var html: HTML {
        """
        \(verdict)
        <div class="row wrap between bar">\(tabs)\(filter)</div>
        \(show == .done ? done : due)
        """
    }

    private func count(_ state: ServiceRead.State) -> Int { services.count { $0.state == state } }

    // MARK: The verdict

    private var verdict: HTML {
        if let justDone, let name = services.first(where: { $0.vehicle == justDone })?.shownName {
            return HTML.notice(.done("Service of \(name) recorded. The list follows in a moment."))
        }
        let (due, soon) = (count(.due), count(.soon))
        let soonWords = soon == 0 ? "" : " \(soon) more \(soon == 1 ? "is" : "are") due soon."
        guard due > 0, let first = services.first(where: { $0.state == .due }) else {
            guard soon > 0, let next = services.first(where: { $0.state == .soon }) else { return "" }
            let words = next.left.map { " It is due in \(FleetSums.grouped($0, 0)) engine hours." } ?? ""
            return
                "<p class=\"strip info\">\(HTML.icon(.wrench))<span><b>Next: \(next.shownName).</b>\(words)</span></p>"
        }
        let most =
            first.left.map { " \(first.shownName) is \(FleetSums.grouped(-$0, 0)) engine hours over." }
            ?? " \(first.shownName) has no service recorded yet."
        return """
            <p class="strip warning">\(HTML.icon(.wrench))<span><b>\(due) \(due == 1 ? "machine is" : "machines are") due for a service.</b>\(most)\(soonWords)</span></p>
            """
    }

    // MARK: What is shown

    private func address(_ show: Show) -> HTML {
        let pairs = [("show", show.rawValue), ("q", search), ("tag", tag)].filter { !$0.1.isEmpty }
        return
            "/services?\(pairs.map { name, value -> HTML in "\(name)=\(encoded: value)" }.joined(separator: "&amp;"))"
    }

    private var tabs: HTML {
        let all: [(Show, String, Int?)] = [
            (.all, "All", services.count), (.due, "Due", count(.due)), (.soon, "Soon", count(.soon)),
            (.fine, "Fine", count(.fine)),
            (.done, "Done", nil),
        ]
        let links: [HTML] = all.map { show, name, count in
            "<a href=\"\(address(show))\"\(" aria-current=\"true\"", if: show == self.show)>\(name)\(count.map { " \($0)" } ?? "")</a>"
        }
        return "<nav class=\"seg\" aria-label=\"Which services\">\(links.joined())</nav>"
    }

    private var filter: HTML {
        """
        <form class="row" method="get" action="/services" role="search">\(FormView.hidden("show", show.rawValue))
        <label class="sr" for="service-search">Name, id or model</label>\
        <input class="box" id="service-search" name="q" type="search" maxlength="64" placeholder="Name, id or model" value="\(search)">
        \(tags.isEmpty ? "" : "<label class=\"sr\" for=\"service-tag\">Group</label><select class=\"box\" id=\"service-tag\" name=\"tag\">\(HTML.options([("", "Group: all")] + tags.map { ($0, $0) }, tag))</select>")
        <button class="btn">Show</button></form>
        """
    }

    // MARK: Due

    private var due: HTML {
        let shown = show == .all ? services : services.filter { $0.state.rawValue == show.rawValue }
        guard !shown.isEmpty else { return "<section class=\"card\">\(nothing)</section>" }
        let heads: HTML = """
            <th scope="col">Machine</th><th scope="col">Next service</th><th scope="col" class="hide-phone">Since the last</th>\
            <th scope="col" class="num">Engine hours</th><th scope="col">Last service</th>\("<th scope=\"col\"><span class=\"sr\">Record</span></th>", if: mayRecord)
            """
        let rows = shown.prefix(ServicesView.rowsMax)
        let cut: HTML =
            rows.count < shown.count
            ? "<footer>The first \(rows.count) machines are shown. Search, or choose a group.</footer>"
            : services.count == Int(ServiceRead.machinesMax)
                ? "<footer>The first \(services.count) machines were looked at. Search, or choose a group.</footer>"
                : ""
        return """
            <section class="card"><header><h2 id="services-title">Machines</h2><span class="count">\(shown.count)</span></header>
            <div class="scroll" role="region" aria-labelledby="services-title" tabindex="0"><table class="table cards" data-sort>
            <thead><tr>\(heads)</tr></thead>
            <tbody>
            \(rows.map(row).joined(separator: "\n"))
            </tbody></table></div>\(cut)</section>
            """
    }

    private var nothing: HTML {
        if !search.isEmpty || !tag.isEmpty {
            return HTML.emptyState(
                .find, "No machine is like that", "Search for something else, or choose another group.")
        }
        return services.isEmpty
            ? HTML.emptyState(
                .wrench, "No machine yet", "Machines with an hour meter show here, with when their next service is due."
            )
            : HTML.emptyState(.check, "None", "No machine is in this state now.")
    }

    private func row(_ one: ServiceRead) -> HTML {
        let hours: HTML = one.engineHours.map { "\(FleetSums.grouped($0, 1))<span class=\"u\"> h</span>" } ?? "–"
        let last: HTML =
            one.last.map { done in
                "<time datetime=\"\(UTC.text(done.ms))\">\(caller.clock.minute(done.ms).prefix(10).description)</time><small>at \(FleetSums.grouped(done.hours, 1)) h, by \(caller.person(done.by))\(done.note.map { ". \($0)" } ?? "")</small>"
            } ?? "<span class=\"faint\">None recorded</span>"
        return """
            <tr id="\(one.vehicle)"><td class="head"><span class="cell"><span class="ic s">\(HTML.icon(.tractor))</span><span>\
            <a class="name" href="/vehicles/\(encoded: one.vehicle)?kind=machine">\(one.shownName)</a>\
            <small>\([one.name == nil ? nil : one.vehicle, one.model].compactMap { $0 }.joined(separator: ", "))</small></span></span></td>\
            <td data-l="Next">\(next(one))</td><td class="off">\(bar(one))</td><td class="num" data-l="Engine hours">\(hours)</td>\
            <td data-l="Last">\(last)</td>\("<td class=\"num\">\(record(one))</td>", if: mayRecord)</tr>
            """
    }

    private func next(_ one: ServiceRead) -> HTML {
        func link(_ pill: HTML) -> HTML { one.alert.map { "<a href=\"/alerts/\(encoded: $0)\">\(pill)</a>" } ?? pill }
        func words(_ text: String) -> HTML { "<small>\(text)</small>" }
        switch one.state {
        case .due:
            return link(HTML.pill("warning", "Due"))
                + words(one.left.map { "\(FleetSums.grouped(max(0, -$0), 0)) h over" } ?? "no service recorded")
        case .soon:
            return link(HTML.pill("info", "Soon")) + words(one.left.map { "in \(FleetSums.grouped($0, 0)) h" } ?? "")
        case .fine: return HTML.pill("ok", "Fine") + words(one.left.map { "in \(FleetSums.grouped($0, 0)) h" } ?? "")
        case .unplanned: return HTML.pill("plain", "No interval") + words("no rule says how often")
        }
    }

    /// How much of the interval has run.
    private func bar(_ one: ServiceRead) -> HTML {
        guard let run = one.run, let every = one.every, every > 0 else { return "" }
        let tone = one.state == .due ? "warning" : "accent"
        return HTML.shareBar(run / every, tone: tone)
            + "<small>\(FleetSums.grouped(run, 0)) of \(FleetSums.grouped(every, 0)) h</small>"
    }

    /// One click: a regular service, done now, at the hours that the machine has told. Other ones are told on its page.
    private func record(_ one: ServiceRead) -> HTML {
        let page: HTML = "/vehicles/\(encoded: one.vehicle)?kind=machine#service"
        guard
            let hours = one.engineHours.flatMap({ Decimal.scaled($0, decimals: 1) }).map({
                Decimal.text($0, decimals: 1)
            })
        else {
            return
                "<a class=\"btn small\" href=\"\(page)\">Record…<span class=\"sr\"> a service of \(one.shownName)</span></a>"
        }
        let now = caller.clock.minute(nowMs).replacing(" ", with: "T")
        return """
            <form class="row end" method="post" action="/vehicles/\(encoded: one.vehicle)/service">\(FormView.hidden(CSRFGuard.field, caller.mark))\
            \(FormView.hidden("id", AlertAction.newID()))\(FormView.hidden("service", MachineActionsView.services[0]))\(FormView.hidden("done", now))\
            \(FormView.hidden("hours", hours))<input type="hidden" name="next" value="\(address(show))&amp;recorded=\(encoded: one.vehicle)">\
            <a class="btn small ghost" href="\(page)">Other…<span class="sr"> service of \(one.shownName)</span></a>\
            <button class="btn small" title="A regular service, done now at \(hours) h">\(HTML.icon(.check))Record<span class="sr"> a regular service of \(one.shownName), now at \(hours) engine hours</span></button></form>
            """
    }

    // MARK: Done

    private var done: HTML {
        guard !recorded.isEmpty else {
            return
                "<section class=\"card\">\(HTML.emptyState(.wrench, "No service is recorded", "Each one shows here: when, at which engine hours, by whom."))</section>"
        }
        let rows: [HTML] = recorded.map { one in
            """
            <tr><td class="head"><a class="name" href="/vehicles/\(encoded: one.vehicle)?kind=machine">\(one.name ?? one.vehicle)</a></td>\
            <td data-l="Done">\(caller.clock.html(one.done.ms))</td><td class="num" data-l="Engine hours">\(FleetSums.grouped(one.done.hours, 1))<span class="u"> h</span></td>\
            <td data-l="By">\(caller.person(one.done.by))</td><td data-l="What">\(one.done.note ?? "–")</td></tr>
            """
        }
        return """
            <section class="card"><header><h2 id="done-title">Done</h2><span class="count">\(recorded.count)\(recorded.count == Int(ServicesView.doneMax) ? "+" : "")</span></header>
            <div class="scroll" role="region" aria-labelledby="done-title" tabindex="0"><table class="table cards" data-sort>
            <thead><tr><th scope="col">Machine</th><th scope="col">Done</th><th scope="col" class="num">Engine hours</th><th scope="col">By</th><th scope="col">What</th></tr></thead>
            <tbody>
            \(rows.joined(separator: "\n"))
            </tbody></table></div></section>
            """
    }
}

extension HTML {
    /// A share as a bar; what lies beyond the whole fills it. The words beside it say the same.
    /// - Parameter tone: a token's name: accent, warning, ok.
    static func shareBar(_ share: Double, tone: String = "accent", width: Int = 96) -> HTML {
        let filled = Int((min(1, max(0, share)) * Double(width)).rounded())
        return """
            <svg class="bar" width="\(width)" height="6" viewBox="0 0 \(width) 6" aria-hidden="true"><rect width="\(width)" height="6" rx="3" fill="var(--quiet-soft)"/>\
            <rect width="\(filled)" height="6" rx="3" fill="var(--\(tone))"/></svg>
            """
    }
}
