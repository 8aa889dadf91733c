internal import Alerts
internal import Backtesting
internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Presentation
internal import Reports

/// What a rule that is not saved would have raised: how often, when, and what other limits would have.
struct RuleTrialView {
    private static let alertsMax = 50
    private static let machinesMax = 12

    let form: ThresholdForm
    let outcome: RuleTrial.Outcome
    /// The first moments of the days, and now.
    let daysMs: [Int64]
    /// The limits that were counted beside the one tried, in the order of `outcome.counts` after the first.
    let others: [Int64]
    let rule: Threshold
    let names: [VehicleID: String?]

    private var words: RuleWords { RuleWords(rule, in: form.caller.units) }
    private var clock: ZoneClock { form.caller.clock }
    private var isDrawn: Bool { !words.isFlag && rule.every == nil && outcome.extremes.contains { $0 != nil } }

    /// Of the alerts that would be, those that opened within the days.
    private var opened: [Episode] { outcome.alerts.compactMap(\.would).filter { $0.openedMs >= daysMs[0] } }
    private var raised: Int { outcome.alerts.compactMap(\.was).count { $0.openedMs >= daysMs[0] } }

    var json: JSONValue {
        .object([
            ("count", isUnknown ? .null : .integer(Int64(outcome.counts[0]))), ("raised", .integer(Int64(raised))),
            ("critical", .integer(Int64(opened.count { $0.severity == .critical }))),
            ("machines", .integer(Int64(outcome.machines))), ("machines_left", .integer(Int64(outcome.left))),
            ("readings", .integer(Int64(outcome.readings))), ("from", .text(UTC.text(daysMs[0]))),
            ("days", .integer(Int64(form.days))),
            (
                "others",
                .list(
                    zip(others, outcome.counts.dropFirst()).map { limit, count in
                        .object([("limit", .number(words.unit.text(limit))), ("count", .integer(Int64(count)))])
                    })
            ), ("html", .text(html.markup)),
        ])
    }

    /// Nothing could be judged within the bounds: a count of nothing would say that all is well.
    private var isUnknown: Bool { outcome.machines == 0 && outcome.left > 0 }

    var html: HTML {
        guard !isUnknown else { return left }
        return """
            <div class="ansr" data-said="\(headline)"><span class="fig">\(outcome.counts[0])</span><span class="soft" role="status">\(answer)</span></div>
            \(left)
            \(chart)
            \(choices)
            \(hits)
            \(machines)
            """
    }

    // MARK: In words

    private var span: String {
        t(form.days, one: "the last day", many: "the last \(form.days) days")
    }

    /// All of it in one line, for the top of the page.
    private var headline: String {
        let count = outcome.counts[0]
        let critical = opened.count { $0.severity == .critical }
        guard critical > 0 else {
            return t(
                count, one: "Would have raised \(count) alert in \(span)",
                many: "Would have raised \(count) alerts in \(span)")
        }
        return t(
            count, one: "Would have raised \(count) alert in \(span), \(critical) critical",
            many: "Would have raised \(count) alerts in \(span), \(critical) critical")
    }

    private var answer: HTML {
        let count = outcome.counts[0]
        let machines = form.caller.words.count(Set(opened.map(\.vehicle)).count, .machine)
        let critical = opened.count { $0.severity == .critical }
        let what =
            count == 0
            ? t("alerts in \(span).")
            : critical == 0
                ? t(count, one: "alert on \(machines) in \(span).", many: "alerts on \(machines) in \(span).")
                : t(
                    count, one: "alert on \(machines) in \(span), \(critical) critical.",
                    many: "alerts on \(machines) in \(span), \(critical) critical.")
        // What was raised, by the rules that were in force.
        let beside =
            count == raised
            ? count == 0 ? t("In fact there were none either.") : t("In fact there were just as many.")
            : raised == 0
                ? t("In fact there were none.")
                : t(raised, one: "In fact there was \(raised).", many: "In fact there were \(raised).")
        return """
            \(what) <b title="\(t("Raised by the rules that were in force then"))">\(beside)</b> \
            <span class="faint small nowrap">\(form.caller.words.count(outcome.machines, .machine)), \(form.caller.words.count(outcome.readings, .reading))</span>
            """
    }

    private var left: HTML {
        guard outcome.left > 0 else { return "" }
        return """
            <p class="strip warning">\(HTML.icon(.info))<span>\(form.caller.words.count(outcome.left, .machine)) of \(outcome.left + outcome.machines) \
            left out: too many readings for this many days. Choose fewer days, or press <b>Try it</b>, which looks at more.</span></p>
            """
    }

    /// Other limits, each a link.
    private var choices: HTML {
        guard !others.isEmpty else { return "" }
        let all = zip(others, outcome.counts.dropFirst()).map { ($0, $1) } + [(rule.threshold ?? 0, outcome.counts[0])]
        let chips: [HTML] = all.sorted { $0.0 < $1.0 }.map { limit, count in
            let isThis = limit == rule.threshold
            let from: HTML = form.alert.map { "&amp;from=alert&amp;alert=\(encoded: $0)" } ?? ""
            return """
                <a class="chip" href="\(form.address)?limit=\(encoded: words.unit.text(limit))&amp;days=\(form.days)\(from)" \
                data-limit="\(words.unit.text(limit))"\(" aria-current=\"true\"", if: isThis)>\(words.unit.full(limit)) <b>\(count)</b></a>
                """
        }
        return
            "<div class=\"chips body tight\" role=\"group\" aria-label=\"Other limits and how often they would have raised\"><span class=\"soft small\">Other limits</span>\(chips.joined())</div>"
    }

    private var hits: HTML {
        let alerts = outcome.alerts.prefix(RuleTrialView.alertsMax)
        guard !alerts.isEmpty else { return "" }
        let rows: [HTML] = alerts.map { alert in
            let episode = (alert.would ?? alert.was)!
            let (tone, word) = RuleTrialView.verdict(alert)
            return """
                <tr\(" class=\"faint\"", if: alert.would == nil)><td data-l="When" class="nowrap">\(clock.html(episode.openedMs))</td>\
                <td class="head"><a class="name" href="/vehicles/\(encoded: episode.vehicle.text)?kind=machine">\(name(episode.vehicle))</a></td>\
                <td data-l="Worst" class="num">\(worst(episode))</td><td data-l="Lasted" class="num">\(lasted(episode))</td>\
                <td><span class="pill \(tone)">\(word)</span></td></tr>
                """
        }
        let rest = outcome.alerts.count - alerts.count
        return """
            <div class="scroll" role="region" aria-label="Alerts" tabindex="0"><table class="table cards"><thead><tr><th scope="col">When</th>\
            <th scope="col">Machine</th><th scope="col" class="num">Worst</th><th scope="col" class="num">Lasted</th>\
            <th scope="col">With this rule</th></tr></thead><tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
            \("<p class=\"pager\">And \(rest) more.</p>", if: rest > 0)
            """
    }

    private static func verdict(_ alert: BacktestAlert) -> (tone: String, word: String) {
        switch alert.verdict {
        case .same: ("quiet", t("The same"))
        case .changed:
            alert.would?.severity != alert.was?.severity
                ? ("info", alert.would?.severity == .critical ? t("Now critical") : t("Now a warning"))
                : ("info", t("Changed"))
        case .added: (alert.would!.severity.rawValue, t("New"))
        case .removed: ("quiet", t("Gone"))
        }
    }

    private func name(_ vehicle: VehicleID) -> String { (names[vehicle] ?? nil) ?? vehicle.text }

    private func worst(_ episode: Episode) -> String {
        guard !words.isFlag, let value = episode.worstValue else { return "–" }
        return words.unit.full(value)
    }

    private func lasted(_ episode: Episode) -> String {
        guard let resolvedMs = episode.resolvedMs else { return t("open") }
        return form.caller.words.span(resolvedMs - episode.openedMs)
    }

    // MARK: As a picture

    /// Of whole days: the worst value, and whether an alert opened.
    private var chart: HTML {
        let limits = [rule.threshold, rule.critical].compactMap(\.self)
        let values = outcome.extremes.compactMap(\.self)
        guard isDrawn, let least = (values + limits).min(), let most = (values + limits).max() else { return "" }
        let pad = max(1, (most - least) / 8)
        let scale = RuleChart(least: least - pad, most: most + pad, days: outcome.extremes.count)
        let open = Set(opened.compactMap { episode in daysMs.lastIndex { $0 <= episode.openedMs } })
        let bars: [HTML] = outcome.extremes.enumerated().map { day, value in
            guard let value else { return "" }
            let isOpen = open.contains(day)
            let title =
                isOpen
                ? t("\(date(day)): \(words.unit.full(value)), raises an alert")
                : "\(date(day)): \(words.unit.full(value))"
            return scale.bar(day, value, isOpen: isOpen, title)
        }
        let isBelow = rule.test == .below
        let edge = isBelow ? scale.least : scale.most
        let bands: HTML =
            rule.test == .shown
            ? ""
            : (rule.threshold.map { scale.band($0, rule.critical ?? edge, "warning") } ?? "")
                + (rule.critical.map { scale.band($0, edge, "critical") } ?? "")
        let lines: HTML =
            rule.test == .shown
            ? "" : limits.enumerated().map { scale.line($1, $0 == 0 ? "warning" : "critical") }.joined()
        return """
            <figure class="trial"><figcaption class="legend"><span><i class="sq b"></i>\(isBelow ? HTML.t("Lowest of each day") : .t("Highest of each day"))</span>\
            <span><i class="sq hit"></i>a day that raises an alert</span>\(legend(limits))</figcaption>
            <div class="plot"><div class="ax" aria-hidden="true"><span>\(words.unit.full(scale.most))</span><span>\(words.unit.full(scale.least))</span></div>
            <svg viewBox="0 0 \(scale.width) \(RuleChart.height)" preserveAspectRatio="none" role="img" aria-label="\(spoken(values, open.count))">\
            \(bands)\(bars.joined())\(lines)</svg></div>
            <div class="ax days" aria-hidden="true"><span>\(date(0))</span><span>\(date(outcome.extremes.count / 2))</span><span>today</span></div></figure>
            """
    }

    private func legend(_ limits: [Int64]) -> HTML {
        guard rule.test != .shown else { return "" }
        return limits.enumerated().map { index, limit -> HTML in
            "<span class=\"\(index == 0 ? "w" : "c")\"><i class=\"\(index == 0 ? "w" : "c")\"></i>\(levelWords(index == 0, words.unit.full(limit)))</span>"
        }.joined()
    }

    private func levelWords(_ isWarning: Bool, _ limit: String) -> String {
        switch (isWarning, rule.test == .below) {
        case (true, false): t("Warning above \(limit)")
        case (true, true): t("Warning below \(limit)")
        case (false, false): t("Critical above \(limit)")
        case (false, true): t("Critical below \(limit)")
        }
    }

    private func spoken(_ values: [Int64], _ days: Int) -> String {
        let (least, most) = (values.min().map(words.unit.full) ?? "", values.max().map(words.unit.full) ?? "")
        let (all, alerts) = (form.caller.words.count(outcome.extremes.count, .day), form.caller.words.count(days, .day))
        return rule.test == .below
            ? t("Lowest value of each of \(all), from \(least) to \(most); \(alerts) with an alert")
            : t("Highest value of each of \(all), from \(least) to \(most); \(alerts) with an alert")
    }

    private func date(_ day: Int) -> String {
        form.caller.words.date(CivilDate(ofMs: daysMs[day], zone: form.caller.clock.zone))
    }

    // MARK: Now

    private var machines: HTML {
        let known = outcome.latest.filter { $0.value != nil }.sorted { ($0.value ?? 0) > ($1.value ?? 0) }
        guard isDrawn, !known.isEmpty, rule.test != .shown, let limit = rule.threshold else { return "" }
        let values = known.compactMap(\.value) + [limit, rule.critical ?? limit]
        let (least, most) = (values.min()!, values.max()!)
        let items: [HTML] = known.prefix(RuleTrialView.machinesMax).map { machine in
            let value = machine.value!
            func isBeyond(_ limit: Int64?) -> Bool {
                limit.map { rule.test == .below ? value < $0 : value > $0 } ?? false
            }
            let tone = isBeyond(rule.critical) ? "critical" : isBeyond(limit) ? "warning" : "ok"
            let share = most == least ? 100 : 8 + (value - least) * 92 / (most - least)
            return """
                <a href="/vehicles/\(encoded: machine.vehicle.text)?kind=machine"><span class="row between"><span class="ell">\(name(machine.vehicle))</span>\
                <b class="nowrap">\(words.unit.full(value))</b></span><svg class="bar \(tone)" viewBox="0 0 100 6" preserveAspectRatio="none" \
                aria-hidden="true"><rect class="z" width="100" height="6"/><rect width="\(share)" height="6"/></svg></a>
                """
        }
        return
            "<h3 class=\"body tight\">Last value of \(form.caller.words.count(known.count, .machine))</h3><div class=\"mach\">\(items.joined())</div>"
    }
}

/// Bars by day in a drawing that is stretched to its place. Values are thousandths.
struct RuleChart {
    static let height = 200

    let least, most: Int64
    let days: Int

    var width: Int { days * 20 }

    private func y(_ value: Int64) -> Int {
        let share = Double(min(max(value, least), most) - least) / Double(max(1, most - least))
        return Int((Double(RuleChart.height) * (1 - share)).rounded())
    }

    func bar(_ day: Int, _ value: Int64, isOpen: Bool, _ title: String) -> HTML {
        let top = min(y(value), RuleChart.height - 2)
        return """
            <rect class="b\(" hit", if: isOpen)" x="\(day * 20 + 3)" y="\(top)" width="14" height="\(RuleChart.height - top)"><title>\(title)</title></rect>
            """
    }

    func band(_ from: Int64, _ to: Int64, _ tone: String) -> HTML {
        let (top, bottom) = (min(y(from), y(to)), max(y(from), y(to)))
        return "<rect class=\"band \(tone)\" x=\"0\" y=\"\(top)\" width=\"\(width)\" height=\"\(bottom - top)\"/>"
    }

    func line(_ at: Int64, _ tone: String) -> HTML {
        "<line class=\"lim \(tone)\" x1=\"0\" x2=\"\(width)\" y1=\"\(y(at))\" y2=\"\(y(at))\"/>"
    }
}
