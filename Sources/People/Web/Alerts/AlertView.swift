internal import Fleet
internal import Alerts
internal import Basics
internal import Presentation
internal import Reports

/// One alert: what happened, by which rule, the readings behind it, and what people say of it.
struct AlertView {
    private static let aroundMs: Int64 = 12 * 3_600_000
    private static let points: Int64 = 300
    private static let silences: [(hours: Int, text: String)] = [
        (1, "1 hour"), (8, "8 hours"), (24, "1 day"), (168, "7 days"),
    ]

    let story: AlertDetail
    let caller: PageCaller
    let mayAct: Bool
    /// Nil: it is not the reader's to change.
    let ruleAddress: String?
    /// The form's action, which waits to be committed.
    let waiting: Waiting?
    let nowMs: Int64

    enum Waiting: String { case acknowledgement, silence, end }

    func html(series: [MachineDetail.Series], span: Range<Int64>) -> HTML {
        """
        <p><a href="/alerts">All open alerts</a></p>
        <h1>\(story.parameter): \(story.vehicleName ?? story.vehicle)</h1>
        <p class="soft"><span id="updated">Last updated \(caller.clock.second(nowMs)), times are \(caller.clock.zone).</span> <span id="live"></span></p>
        <div id="story">
        \(said)
        <dl>\(facts)</dl>
        \(chart(series, span))
        \(readings)
        </div>
        \(mayAct && isOpen ? forms : "")
        """
    }

    private var isOpen: Bool { story.alert.resolvedMs == nil && story.state != .withdrawn }

    /// The pending action, not yet in the database.
    private var said: HTML {
        switch waiting {
        case .acknowledgement where story.acknowledgement == nil:
            "<p role=\"status\" class=\"soon\">Your acknowledgement is on its way. It shows here as soon as it counts.</p>"
        case .silence where story.silencedUntilMs == nil:
            "<p role=\"status\" class=\"soon\">Your silence is on its way. It shows here as soon as it counts.</p>"
        case .end where story.silencedUntilMs != nil:
            "<p role=\"status\" class=\"soon\">The end of the silence is on its way. If it stays, somebody has silenced more than this parameter of this machine: <code>drover alert silence --help</code> says how that is ended.</p>"
        case nil, .acknowledgement, .silence, .end: ""
        }
    }

    private var facts: HTML {
        let alert = story.alert
        let severity =
            story.state == .dueSoon ? ("soon", "due soon") : (story.severity.rawValue, story.severity.rawValue)
        let state: HTML =
            "<span class=\"\(severity.0)\">\(severity.1)</span>, \(story.state.rawValue.replacing("_", with: " "))"
        let worst: HTML? = alert.shown(alert.worstValue, caller.units).map {
            "\($0), \(caller.clock.html(alert.worstAtMs))"
        }
        let recommended = alert.shown(alert.recommended, caller.units)
        let seen: HTML? = story.acknowledgement.map { seen in
            "by \(seen.by), \(caller.clock.html(seen.ms))\(seen.note.map { ": \($0)" })"
        }
        let pairs: [(String, HTML?)] = [
            ("State", "\(state)\(", corrected by late data \(story.revision) times", if: story.revision > 0)"),
            (
                "Vehicle",
                "<a href=\"/vehicles/\(encoded: story.vehicle)?kind=\(alert.kind.rawValue)\">\(story.vehicle)</a>\(", \(story.model)", if: !story.model.isEmpty)"
            ),
            ("Since", caller.clock.html(alert.sinceMs)), ("Opened", caller.clock.html(alert.openedMs)),
            ("Resolved", alert.resolvedMs.map(caller.clock.html)), ("Worst", worst),
            (
                "Rule",
                """
                \(alert.shownRule(caller.units)), \(story.ruleSource ?? "its rule set is not on record"), \
                version \(story.rulesVersion)\(ruleAddress.map { ". <a href=\"\($0)\">Change this rule</a>" })
                """
            ),
            ("Recommended", .text(recommended)), ("Ends with", .text(story.ending)),
            ("What to do", .text(story.advice)),
            (
                "Before it",
                story.repeats == 0 ? nil : "\(story.repeats) of this parameter in the 30 days before"
            ), ("Seen", seen ?? "not yet"), ("Silenced until", story.silencedUntilMs.map(caller.clock.html)),
        ]
        let lines: [HTML] = pairs.compactMap { name, text in text.map { "<dt>\(name)</dt><dd>\($0)</dd>" } }
        return lines.joined(separator: "\n")
    }

    /// The time span of the chart.
    static func span(_ story: AlertDetail, nowMs: Int64) -> Range<Int64> {
        let endMs = max(story.alert.resolvedMs ?? nowMs, story.alert.worstAtMs)
        let (from, until) = (
            min(story.alert.sinceMs, story.alert.openedMs), min(endMs, story.alert.worstAtMs + 7 * UTC.msPerDay)
        )
        // As much as its length: a short one would be a line at the edge of half a day.
        let around = min(max(until - from, 3_600_000), aroundMs)
        // Not into the future; an alert that opens now has some width, too.
        return from - around..<max(min(until + around, nowMs), from)
    }

    static func pieceS(_ span: Range<Int64>) -> Int64 {
        max(1, (span.upperBound - span.lowerBound) / 1_000 / points)
    }

    private func chart(_ series: [MachineDetail.Series], _ span: Range<Int64>) -> HTML {
        guard let series = series.first(where: { $0.name == story.parameter }) else { return "" }
        let unit = ShownValue(0, unit: series.unit, in: caller.units).unit
        func shown(_ value: Double) -> Double { ShownValue(value, unit: series.unit, in: caller.units).value }
        let chart = LineChart(
            title: "\(series.name), \(unit)",
            points: series.points.map { LineChart.Point(ms: $0.ms, least: shown($0.least), most: shown($0.most)) },
            limits: story.limits.map { LineChart.Limit(shown($0.value), $0.kind) }, span: span,
            gapMs: max(3 * 3_600_000, 3_000 * AlertView.pieceS(span)), clock: caller.clock.minute)
        guard let svg = chart.svg else { return "" }
        return
            "<div class=\"charts one\"><figure><figcaption>\(chart.title)</figcaption>\(svg)</figure></div>"
    }

    private var readings: HTML {
        HTML.table(
            caption: "Readings behind it",
            headers: [.text("Reading"), .word("Time"), .number("Value"), .word("Id"), .number("Offset")],
            rows: story.readings.map { reading in
                [
                    .text(reading.what), caller.clock.html(reading.readMs),
                    .text(story.alert.shown(reading.value, caller.units) ?? reading.value), .text(reading.id),
                    reading.offset.map { "\($0)" },
                ]
            }, empty: "No reading is behind it: silence is.")
    }

    /// Each is a record of its own: sent twice, it counts once.
    private var forms: HTML {
        let id = AlertAction.newID()
        let hidden: HTML = "\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("id", id))"
        let options: HTML = AlertView.silences.map { "<option value=\"\($0.hours)\">\($0.text)</option>" }.joined()
        let address = "/alerts/\(URLText.escaped(story.id))"
        let silenceHidden: HTML = "\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("id", "s\(id)"))"
        let seen: HTML =
            story.acknowledgement != nil || waiting == .acknowledgement
            ? ""
            : """
            <form class="fields" method="post" action="\(address)/acknowledge"><h2>I have seen it</h2>\(hidden)
            <label for="seen-note">Note, if you like</label><input id="seen-note" name="note" type="text" maxlength="500" autocomplete="off">
            <button>Acknowledge</button></form>
            """
        let isOnItsWay =
            waiting == .silence ? story.silencedUntilMs == nil : waiting == .end && story.silencedUntilMs != nil
        let silence: HTML =
            isOnItsWay
            ? "<p><a href=\"\(address)\">Look again</a></p>"
            : story.silencedUntilMs.map { until in
                """
                <form class="fields" method="post" action="\(address)/silence"><h2>It is silenced until \(caller.clock.html(until))</h2>\(silenceHidden)
                <input type="hidden" name="hours" value="0">
                <button>End the silence</button></form>
                """
            } ?? """
                <form class="fields" method="post" action="\(address)/silence"><h2>Tell nobody for a while</h2>\(silenceHidden)
                <label for="hours">For</label><select id="hours" name="hours">\(options)</select>
                <label for="silence-note">Why</label><input id="silence-note" name="note" type="text" maxlength="500" autocomplete="off">
                <button>Silence this parameter of this machine</button></form>
                """
        return "<div class=\"beside\">\n\(seen)\n\(silence)\n</div>"
    }
}
