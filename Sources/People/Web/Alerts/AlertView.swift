internal import Alerts
internal import Basics
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports

/// One alert as a story: the value and its limit, what happened, who was told, and what to do.
struct AlertView {
    let story: AlertDetail
    let tale: AlertTale
    let caller: PageCaller
    /// To whom it can be given.
    let people: [AlertTale.Person]
    let mayAct: Bool
    /// Nil: it is not the reader's to change.
    let ruleAddress: String?
    /// What a form has said, which waits to be committed.
    let said: AlertForms.Said?
    /// The machine's latest values.
    let latest: [MachineDetail.Value]
    let chart: AlertChart
    let base: BaseMap
    let nowMs: Int64

    var alert: AlertRow { story.alert }
    var name: String { story.vehicleName ?? story.vehicle }
    var isOpen: Bool { alert.resolvedMs == nil && story.state != .withdrawn }
    var address: String { "/alerts/\(URLText.escaped(story.id))" }

    var heading: PageHeading {
        PageHeading(
            alert.title, crumb: (t("Alerts"), "/alerts"), status: "<span id=\"alert-status\">\(status)</span>",
            actions: "<div class=\"row hide-phone\" id=\"alert-acts\">\(AlertActionsView(view: self).html)</div>")
    }

    var html: HTML {
        let side: HTML = [
            AlertAdviceView(view: self).html, whereabouts, limit,
        ].joined(separator: "\n")
        return """
            \(mayAct ? "<div class=\"acts\" id=\"alert-acts-phone\">\(AlertActionsView(view: self).phone)</div>" : "")
            \(said.map(\.notice))
            <div class="split alert"><div class="stack">
            <section class="card"><div id="story">\(card)</div>\(chart.html)</section>
            <div class="grid">
            <section class="card w6"><header><h2>What happened</h2></header>
            <div class="body" id="happened">\(AlertTaleView(view: self).happened)</div>\(AlertActionsView(view: self).comment)</section>
            <section class="card w6" id="told"><header><h2>Who was told</h2></header>\(AlertTaleView(view: self).told)</section>
            </div>
            \(details)
            </div><aside class="stack" aria-label="What to do">
            \(side)
            </aside></div>
            <p class="soft small"><span id="updated">Last updated \(caller.clock.second(nowMs)), times are \(caller.clock.zone).</span> <span id="live"></span></p>
            """
    }

    // MARK: What it is

    private var status: HTML {
        if story.state == .withdrawn { return HTML.pill("quiet", t("Taken back")) }
        if let resolvedMs = alert.resolvedMs {
            return HTML.pill("ok", t("Resolved after \(caller.words.span(resolvedMs - alert.openedMs))"))
        }
        let tone = alert.isService ? "service" : story.severity.rawValue
        let word = alert.isService ? alert.title : caller.words.severity(story.severity)
        return "\(HTML.pill(tone, t("\(word), open \(caller.words.span(nowMs - alert.openedMs))")))\(with)"
    }

    private var with: HTML {
        guard let account = story.assignedTo ?? story.acknowledgement?.by else { return "" }
        let name = AlertWords.person(account, caller)
        return story.acknowledgement == nil
            ? " <span class=\"pill quiet\">With \(name)</span>"
            : " <span class=\"pill ok\">Acknowledged by \(name)</span>"
    }

    private var card: HTML {
        let tone = alert.isService ? "" : story.severity.rawValue
        return """
            <header><span class="ic \(tone)">\(HTML.icon(alert.kind.icon))</span><span class="grow">\
            <a href="/vehicles/\(encoded: story.vehicle)?kind=\(alert.kind.rawValue)"><b>\(name)</b></a><br>\
            <small class="soft">\([story.vehicleName == nil ? nil : story.vehicle, story.model.isEmpty ? nil : story.model].compactMap { $0 }.joined(separator: " · "))</small></span><span class="only-phone">\(status)</span></header>
            <div class="now">\(figure)<div class="facts">\(facts)</div></div>
            """
    }

    private var now: MachineDetail.Value? { latest.first { $0.name == story.parameter } }

    /// The value as it is now, else the one furthest beyond the limit.
    private var figure: HTML {
        let tone: StaticString = isOpen && story.severity == .critical ? "fig xl down" : "fig xl"
        let label = AlertWords.sentence(story.parameter)
        if isOpen, !alert.isService, let now, let value = number(now.value), alert.worst(caller.units) != nil {
            let shown = ShownValue(value, unit: now.unit, in: caller.units)
            return """
                <div><span class="eyebrow">\(label) now</span><br>\(HTML.figure(shown.number, shown.unit, size: tone))<br>\
                <small class="faint">read \(caller.words.age(now.readMs, nowMs: nowMs))</small></div>
                """
        }
        guard let worst = alert.worst(caller.units) else { return "" }
        return
            "<div><span class=\"eyebrow\">\(alert.isService ? HTML.t("Since the last service") : .t("\(label), worst"))</span><br>\(HTML.figure(worst.number, worst.unit, size: tone))</div>"
    }

    private func number(_ value: FieldValue) -> Double? {
        switch value {
        case .number(let value): value
        case .integer(let value): Double(value)
        case .null, .text, .bool, .timestampMs, .texts: nil
        }
    }

    private var facts: HTML {
        let worst = alert.worst(caller.units)
        let limit = alert.threshold.flatMap { Double($0) }.map { ShownValue($0, unit: alert.unit, in: caller.units) }
        // Of what is shown, so that who subtracts gets the same.
        let beyond: String? =
            if let worst, let limit, !alert.isService, let high = Decimal.scaled(worst.value, decimals: 1),
                let low = Decimal.scaled(limit.value, decimals: 1)
            {
                [Decimal.text(abs(high - low), decimals: 1), worst.unit].filter { !$0.isEmpty }.joined(separator: " ")
            } else { nil }
        let facts: [(String, HTML?)] = [
            (
                alert.isService ? t("Service") : t("Rule"),
                .text(alert.isService ? alert.limitWords(caller.units) : alert.ruleWords(caller.units))
            ),
            (t("Beyond the limit by"), .text(beyond)),
            (
                alert.test == .below ? t("Lowest") : t("Highest"),
                alert.isService
                    ? nil
                    : worst.map {
                        "<b>\($0.text)</b> <span class=\"faint\">\(AlertWords.time(alert.worstAtMs, nowMs: nowMs, caller))</span>"
                    }
            ),
            (t("Since"), AlertWords.time(alert.sinceMs, nowMs: nowMs, caller)),
            (t("Resolved"), alert.resolvedMs.map { AlertWords.time($0, nowMs: nowMs, caller) }),
            (t("In the 30 days before"), story.repeats == 0 ? nil : HTML.t("\(story.repeats) of these")),
            (
                t("Muted"),
                AlertWords.muted(
                    untilMs: story.silencedUntilMs, isToItsEnd: story.isMutedToItsEnd, nowMs: nowMs, caller)
            ),
        ]
        return facts.compactMap { name, value in value.map { "<span><small>\(name)</small><b>\($0)</b></span>" } }
            .joined()
    }

    // MARK: Beside it

    /// The place of its latest reading.
    var place: (latitude: Double, longitude: Double)? {
        guard let latitude = latest.first(where: { $0.name == "Latitude" }).flatMap({ number($0.value) }),
            let longitude = latest.first(where: { $0.name == "Longitude" }).flatMap({ number($0.value) })
        else { return nil }
        return (latitude, longitude)
    }

    private var whereabouts: HTML {
        let open: HTML = "<a class=\"more\" href=\"/map?search=\(encoded: story.vehicle)\">Open map</a>"
        guard let place else {
            return "<section class=\"card\"><header><h2>Where</h2>\(open)</header></section>"
        }
        let severity = isOpen && !alert.isService ? story.severity.rawValue : ""
        return """
            <section class="card"><header><h2>Where</h2>\(open)</header>\
            <div class="map small" id="where" role="region" aria-label="\(t("\(name) on the map"))" \(base.attributes) data-vehicle="\(story.vehicle)" data-name="\(name)" \
            data-icon="\(alert.kind.icon.rawValue)" data-sev="\(severity)" data-at="\("\(place.longitude),\(place.latitude)")"></div></section>
            """
    }

    /// The way to try another limit with the value that is judged filled in.
    private var limit: HTML {
        guard let ruleAddress else { return "" }
        guard let limit = alert.threshold.flatMap({ Double($0) }), alert.test != .absent, !alert.isService,
            alert.worst(caller.units) != nil
        else {
            return
                "<section class=\"card\"><header><h2>Is the rule right?</h2><a class=\"more\" href=\"\(ruleAddress)\">Change this rule</a></header></section>"
        }
        let shown = ShownValue(limit, unit: alert.unit, in: caller.units)
        let word = alert.test == .above ? t("Warning above") : t("Warning below")
        return """
            <section class="card"><header><h2>Is the limit right?</h2><a class="more" href="\(ruleAddress)">Change this rule</a></header>
            <form class="body row" method="get" action="\(ruleAddress)">\(FormView.hidden("from", "alert"))\(FormView.hidden("alert", story.id))\
            <label for="limit" class="soft grow">\(word)</label><span class="in try">\
            <input class="bare" id="limit" name="limit" type="text" inputmode="decimal" maxlength="12" autocomplete="off" value="\(shown.number)"><span class="unit">\(shown.unit)</span></span>\
            <button class="btn">Try it</button></form></section>
            """
    }

    private var details: HTML {
        let whose =
            story.ruleSource == nil
            ? t("its rule set is not on record")
            : story.isOwnRule ? t("of this machine") : t("of model \(story.model)")
        let facts: [(String, HTML?)] = [
            (t("Rule"), HTML.t("\(alert.ruleWords(caller.units)), \(whose), version \(story.rulesVersion)")),
            (t("Recommended"), .text(alert.shown(alert.recommended, caller.units))),
            (t("Ends with"), .text(story.ending(in: caller.units))),
            (t("Opened"), caller.clock.html(alert.openedMs)),
            (
                t("Corrected"),
                story.revision == 0
                    ? nil
                    : HTML(
                        t(
                            story.revision, one: "by late data, once",
                            many: "by late data, \(story.revision) times"))
            ),
            (t("Alert"), .text(story.id)),
        ]
        let lines: [HTML] = facts.compactMap { name, text in text.map { "<dt>\(name)</dt><dd>\($0)</dd>" } }
        let table = HTML.table(
            caption: t("Readings behind it"),
            headers: [
                .text(t("Reading")), .word(t("Time")), .number(t("Value")), .word(t("Id")), .number(t("Offset")),
            ],
            rows: story.readings.map { reading in
                [
                    .text(reading.what), caller.clock.html(reading.readMs),
                    .text(alert.shown(reading.value, caller.units) ?? reading.value), .text(reading.id),
                    reading.offset.map { "\($0)" },
                ]
            }, empty: t("No reading is behind it: silence is."))
        return """
            <details class="card" id="details"><summary class="body"><b>Details</b> <span class="soft">Rule, readings behind it</span></summary>
            <div class="body"><dl class="kv">\(lines.joined())</dl>\(table)</div></details>
            """
    }
}
