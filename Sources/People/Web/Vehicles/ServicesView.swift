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
    /// A record is stored in seconds; for so long the page counts it as done by itself.
    private static let settlingMs: Int64 = 10 * 60_000

    enum Show: String, CaseIterable { case all, due, soon, fine, done }

    let services: [ServiceRead]
    let recorded: [ServiceRead.Recorded]
    let tags: [String]
    let show: Show
    let search, tag: String
    /// A machine whose service was recorded here, and when the form was made: it may not be stored yet.
    let justDone: (vehicle: String, formMs: Int64)?
    let caller: PageCaller
    let nowMs: Int64

    private var mayRecord: Bool { !caller.roles.isDisjoint(with: FleetRoutes.keepers) }

    var html: HTML {
        """
        \(said)\(verdict)
        <div class="row wrap between bar">\(tabs)\(filter)</div>
        \(show == .done ? done : due)
        """
    }

    private func count(_ state: ServiceRead.State) -> Int { services.count { self.state($0) == state } }

    /// What was recorded a moment ago is done, whatever is stored by now.
    private func isSettling(_ one: ServiceRead) -> Bool {
        guard let justDone, one.vehicle == justDone.vehicle else { return false }
        return (0..<ServicesView.settlingMs).contains(nowMs - justDone.formMs)
            && (one.last?.ms ?? 0) < justDone.formMs - UTC.msPerMinute
    }

    private func state(_ one: ServiceRead) -> ServiceRead.State { isSettling(one) ? .fine : one.state }

    // MARK: The verdict

    private var said: HTML {
        guard let justDone, let one = services.first(where: { $0.vehicle == justDone.vehicle }) else { return "" }
        return """
            <p role="status" class="strip ok">\(HTML.icon(.check))<span>Service of \(one.shownName) recorded. It stays on record: \
            <a class="link" href="\(page(one))">record it again</a> to correct it, the latest counts.</span></p>
            """
    }

    private var verdict: HTML {
        let (due, soon) = (count(.due), count(.soon))
        guard due > 0, let first = services.first(where: { state($0) == .due }) else {
            guard soon > 0, let next = services.first(where: { state($0) == .soon }) else { return "" }
            let words = next.left.map { t("It is due in \(GroupedNumber.short($0, 0)) engine hours.") } ?? ""
            return
                "<p class=\"strip info\">\(HTML.icon(.wrench))<span><b>Next: \(next.shownName).</b> \(words)</span></p>"
        }
        let title = t(due, one: "\(due) machine is due for a service.", many: "\(due) machines are due for a service.")
        let most =
            first.left.map { t("\(first.shownName) is \(GroupedNumber.short(-$0, 0)) engine hours over.") }
            ?? t("\(first.shownName) has no service recorded yet.")
        let rest = soon == 0 ? "" : t(soon, one: "\(soon) more is due soon.", many: "\(soon) more are due soon.")
        return """
            <p class="strip warning">\(HTML.icon(.wrench))<span><b>\(title)</b> \(most) \(rest)</span></p>
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
            (.all, t("All"), services.count), (.due, t("Due"), count(.due)), (.soon, t("Soon"), count(.soon)),
            (.fine, t("Fine"), count(.fine)), (.done, t("Done"), nil),
        ]
        let links: [HTML] = all.map { show, name, count in
            "<a href=\"\(address(show))\"\(" aria-current=\"true\"", if: show == self.show)>\(name)\(count.map { " \($0)" } ?? "")</a>"
        }
        return "<nav class=\"seg\" aria-label=\"Which services\">\(links.joined())</nav>"
    }

    private var filter: HTML {
        let groups: HTML =
            tags.isEmpty
            ? ""
            : """
            <label class="sr" for="service-tag">Group</label><select class="box" id="service-tag" name="tag">\
            \(HTML.options([("", t("Group: all"))] + tags.map { ($0, $0) }, tag))</select>
            """
        return """
            <form class="row wrap" method="get" action="/services" role="search">\(FormView.hidden("show", show.rawValue))
            <label class="sr" for="service-search">Name, id or model</label>\
            <input class="box" id="service-search" name="q" type="search" maxlength="64" placeholder="Name, id or model" value="\(search)">
            \(groups)
            <button class="btn">Show</button></form>
            """
    }

    // MARK: Due

    private var due: HTML {
        let shown = show == .all ? services : services.filter { state($0).rawValue == show.rawValue }
        guard !shown.isEmpty else { return "<section class=\"card\">\(nothing)</section>" }
        let heads: HTML = """
            <th scope="col">Machine</th><th scope="col">Next service</th><th scope="col">Since the last</th>\
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
                .find, t("No machine is like that"), .t("Search for something else, or choose another group."))
        }
        return services.isEmpty
            ? HTML.emptyState(
                .wrench, t("No machine yet"),
                .t("Machines with an hour meter show here, with when their next service is due."))
            : HTML.emptyState(.check, t("None"), .t("No machine is in this state now."))
    }

    private func page(_ one: ServiceRead) -> HTML {
        "/vehicles/\(encoded: one.vehicle)?kind=machine&amp;tab=services#record"
    }

    private func row(_ one: ServiceRead) -> HTML {
        let hours: HTML = one.engineHours.map { "\(GroupedNumber.short($0, 1))<span class=\"u\"> h</span>" } ?? "–"
        let last: HTML =
            one.last.map { done in
                """
                <time datetime="\(UTC.text(done.ms))">\(String(caller.clock.minute(done.ms).prefix(10)))</time>\
                <small>at \(GroupedNumber.short(done.hours, 1)) h, by \(caller.person(done.by))\(done.note.map { ". \($0)" as HTML })</small>
                """
            } ?? "<span class=\"faint\">None recorded</span>"
        return """
            <tr id="\(one.vehicle)"><td class="head"><span class="cell"><span class="ic s">\(HTML.icon(.tractor))</span><span>\
            <a class="name" href="/vehicles/\(encoded: one.vehicle)?kind=machine">\(one.shownName)</a>\
            <small>\([one.name == nil ? nil : one.vehicle, one.model].compactMap { $0 }.joined(separator: ", "))</small></span></span></td>\
            <td data-l="\(t("Next"))">\(next(one))</td><td data-l="\(t("Since the last"))">\(bar(one))</td>\
            <td class="num" data-l="\(t("Engine hours"))">\(hours)</td>\
            <td data-l="\(t("Last"))">\(last)</td>\("<td class=\"num\">\(record(one))</td>", if: mayRecord)</tr>
            """
    }

    private func next(_ one: ServiceRead) -> HTML {
        func link(_ pill: HTML) -> HTML { one.alert.map { "<a href=\"/alerts/\(encoded: $0)\">\(pill)</a>" } ?? pill }
        func words(_ text: String) -> HTML { "<small>\(text)</small>" }
        if isSettling(one) { return HTML.pill("ok", t("Recorded")) + words(t("just now")) }
        let left = one.left.map { t("in \(GroupedNumber.short($0, 0)) h") } ?? ""
        switch one.state {
        case .due:
            return link(HTML.pill("warning", t("Due")))
                + words(one.left.map { t("\(GroupedNumber.short(max(0, -$0), 0)) h over") } ?? t("no service recorded"))
        case .soon: return link(HTML.pill("info", t("Soon"))) + words(left)
        case .fine: return HTML.pill("ok", t("Fine")) + words(left)
        case .unplanned: return HTML.pill("plain", t("No interval")) + words(t("no rule says how often"))
        }
    }

    /// How much of the interval has run.
    private func bar(_ one: ServiceRead) -> HTML {
        guard !isSettling(one), let run = one.run, let every = one.every, every > 0 else { return "–" }
        let tone = one.state == .due ? "warning" : "accent"
        return """
            \(HTML.shareBar(run / every, tone: tone))\
            <small>\(GroupedNumber.short(run, 0)) of \(GroupedNumber.short(every, 0)) h</small>
            """
    }

    /// A regular service, done now, at the hours that the machine has told; asked once more, since it stays. Other ones are told on its page.
    private func record(_ one: ServiceRead) -> HTML {
        guard !isSettling(one) else { return "" }
        guard
            let hours = one.engineHours.flatMap({ Decimal.scaled($0, decimals: 1) }).map({
                Decimal.text($0, decimals: 1)
            })
        else {
            return
                "<a class=\"btn small\" href=\"\(page(one))\">Record…<span class=\"sr\"> a service of \(one.shownName)</span></a>"
        }
        let now = caller.clock.minute(nowMs).replacing(" ", with: "T")
        return """
            <details class="ask"><summary class="btn small">\(HTML.icon(.check))Record<span class="sr"> a regular service of \(one.shownName)</span></summary>
            <form method="post" action="/vehicles/\(encoded: one.vehicle)/service">\(FormView.hidden(CSRFGuard.field, caller.mark))\
            \(FormView.hidden("id", AlertAction.newID()))\(FormView.hidden("service", MachineActionsView.services[0]))\(FormView.hidden("done", now))\
            \(FormView.hidden("hours", hours))<input type="hidden" name="next" value="\(address(show))&amp;recorded=\(encoded: one.vehicle)&amp;at=\(nowMs)">\
            <p>A regular service, done now at \(hours) h?</p>
            <span class="row"><a class="btn small ghost" href="\(page(one))">Other…<span class="sr"> service of \(one.shownName)</span></a>\
            <button class="btn small primary">Yes, record it<span class="sr">: \(one.shownName)</span></button></span></form></details>
            """
    }

    // MARK: Done

    private var done: HTML {
        guard !recorded.isEmpty else {
            let empty = HTML.emptyState(
                .wrench, t("No service is recorded"), .t("Each one shows here: when, at which engine hours, by whom."))
            return "<section class=\"card\">\(empty)</section>"
        }
        let rows: [HTML] = recorded.map { one in
            """
            <tr><td class="head"><a class="name" href="/vehicles/\(encoded: one.vehicle)?kind=machine">\(one.name ?? one.vehicle)</a></td>\
            <td data-l="\(t("Done"))">\(caller.clock.html(one.done.ms))</td><td class="num" data-l="\(t("Engine hours"))">\(GroupedNumber.short(one.done.hours, 1))<span class="u"> h</span></td>\
            <td data-l="\(t("By"))">\(caller.person(one.done.by))</td><td data-l="\(t("What"))">\(one.done.note ?? "–")</td></tr>
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
