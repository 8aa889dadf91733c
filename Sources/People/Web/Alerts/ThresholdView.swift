internal import Alerts
internal import Backtesting
internal import Basics
internal import Codecs
internal import Fleet
internal import Presentation
internal import Reports

/// The parts of threshold pages beside the form.
enum ThresholdView {
    /// `above 85 °C, critical 95`; in the file's own unit, which is never converted.
    static func rule(_ threshold: Threshold) -> String {
        let unit = threshold.unit.allSatisfy(\.isWhitespace) ? "" : " \(threshold.unit)"
        func number(_ value: Int64) -> String { Decimal.text(value, decimals: 3) + unit }
        var parts: [String] = []
        if threshold.test == .shown {
            parts.append("only shown")
        } else if let limit = threshold.threshold {
            parts.append(
                "\(threshold.test.rawValue) \(threshold.type == .bool ? Decimal.text(limit, decimals: 3) : number(limit))"
            )
        }
        if let critical = threshold.critical { parts.append("critical beyond \(number(critical))") }
        if let clear = threshold.clear { parts.append("resolved at \(number(clear))") }
        if threshold.holdMs > 0 { parts.append("for longer than \(Decimal.text(threshold.holdMs, decimals: 3)) s") }
        if let absent = threshold.absentMs {
            parts.append("or no information for \(Decimal.text(absent, decimals: 3)) s")
        }
        if let every = threshold.every { parts.append("service every \(number(every))") }
        if let recommended = threshold.recommended { parts.append("recommended \(number(recommended))") }
        return parts.joined(separator: ", ")
    }

    /// The number of machines changed at once that are named.
    static let namedMax = 20

    /// Behind a change, for whom it was.
    static func address(_ of: ThresholdFiles.Subject, said: String, with others: [VehicleID]) -> String {
        let named = others.prefix(namedMax).map(\.text).joined(separator: ",")
        let more = others.count > namedMax ? "&more=\(others.count - namedMax)" : ""
        return of.address + "?said=" + said + (others.isEmpty ? "" : "&with=\(URLText.escaped(named))\(more)")
    }

    /// The notice for such an address; nil: none.
    static func said(_ query: [String: String], of: ThresholdFiles.Subject) -> String? {
        guard let text = query["said"].flatMap({ texts[$0] }) else { return nil }
        let others = (query["with"] ?? "").split(separator: ",").prefix(namedMax).compactMap { VehicleID(String($0)) }
        guard !others.isEmpty else { return text.replacing("…", with: of.title) }
        let named = ([of.vehicle?.text ?? of.title] + others.map(\.text)).joined(separator: ", ")
        let more = query["more"].flatMap { Int($0) }.map { " and \($0) more" } ?? ""
        return text.replacing("…", with: "machines \(named)\(more)")
    }

    private static let texts = [
        "published": "Saved and published for …: it is in force for readings from now on.",
        "removed": "Removed and published for …: it holds for readings from now on.",
        "back": "The model's rule holds again for …, for readings from now on.",
        "same": "That is what the files say already. It is in force.",
        "waiting":
            "Saved in the file. It could not be published right now: drover serve does so by itself as soon as the broker and the database are there.",
    ]

    /// All parameters of a model, or those that a machine has of its own beside its model's.
    /// - Parameter own: of a model, the machines that are the reader's.
    static func parameters(
        _ of: ThresholdFiles.Subject, _ rules: RuleSet, model: String?, mayEdit: Bool, own machines: [VehicleID],
        said: String?
    ) throws -> HTML {
        let own = of.vehicle.map { rules.machines[$0] ?? [] } ?? rules.models[of.model!] ?? []
        let standard = of.vehicle == nil ? [] : model.flatMap { rules.models[$0] } ?? []
        let notice: HTML? = said.map { "<p role=\"status\" class=\"soon\">\($0)</p>" }
        let table = HTML.table(
            caption: "Parameters",
            headers: [.word("Parameter"), .prose("Rule"), .text("Who sees it"), .text("Whose")],
            rows: ThresholdField.all.map { field in
                let mine = own.first { $0.field == field }
                let rule = mine ?? standard.first { $0.field == field }
                let name = field.shownName
                return [
                    mayEdit ? "<a href=\"\(of.address)/\(encoded: field.shownName)\">\(name)</a>" : HTML(name),
                    .text(rule.map(ThresholdView.rule) ?? "no rule"), .text(rule?.audience.rawValue),
                    .text(
                        mine == nil
                            ? (rule == nil ? nil : "its model's") : of.vehicle == nil ? "the model's" : "its own"),
                ]
            }, empty: "")
        let about: HTML =
            of.vehicle.map {
                "<p><a href=\"/vehicles/\(encoded: $0.text)?kind=machine\">Machine \($0.text)</a>, model \(model ?? "not known")</p>\n"
            } ?? ""
        let how: HTML =
            mayEdit
            ? "<p>Choose a parameter to try another threshold and to change it.</p>"
            : whoChanges(of, machines)
        return "<p><a href=\"/thresholds\">All thresholds</a></p>\n\(notice)\(about)\(how)\n\(table)"
    }

    private static func whoChanges(_ of: ThresholdFiles.Subject, _ machines: [VehicleID]) -> HTML {
        guard of.vehicle == nil else {
            return "<p>Changing these is for who keeps the machine, developers and administrators.</p>"
        }
        let links: [HTML] = machines.map { "<a href=\"\(ThresholdFiles.Subject.machine($0).address)\">\($0.text)</a>" }
        return
            "<p>These hold for machines of everybody: changing them is for developers and administrators. \(links.isEmpty ? "A machine of your fleets can have rules of its own." : "Yours can have rules of their own: \(links.joined(separator: ", ")).")</p>"
    }

    static func tests(_ run: RuleTestRun) -> HTML {
        let texts: [HTML] = (run.faults + run.failures).map {
            "<pre class=\"scroll\" tabindex=\"0\">\($0)</pre>"
        }
        return
            "<p role=\"status\" class=\"\(run.isRight ? "recommended" : "critical")\">\(run.summary).</p>\n\(texts.prefix(20).joined(separator: "\n"))\("\n<p>And \(texts.count - 20) more.</p>", if: texts.count > 20)"
    }

    static func faults(_ title: String, _ lines: [String]) -> HTML {
        "<div role=\"alert\" class=\"critical\"><p>\(title)</p>\n<ul>\(lines.map { "<li>\($0)</li>" }.joined())</ul></div>"
    }

    /// The alerts that it would have raised, beside those that were.
    static func trial(_ outcome: RuleBacktest.Outcome, days: Int, unit: String, _ caller: PageCaller) -> HTML {
        let counts = BacktestAlert.Verdict.allCases.map {
            "\(outcome.count($0)) \($0 == .same ? "the same" : $0.rawValue)"
        }
        let left: HTML =
            outcome.left > 0
            ? "<p class=\"warning\">\(outcome.left) machines were left out: so many readings are not judged at once. `drover rules try` judges all.</p>"
            : ""
        func told(_ episode: Episode?) -> HTML? {
            guard let episode else { return nil }
            let worst =
                episode.worstValue.map {
                    ", worst \(ShownValue(Double($0) / 1_000, unit: unit, in: caller.units).text)"
                } ?? ""
            let until: HTML = episode.resolvedMs.map { " to \(caller.clock.html($0))" } ?? ", open"
            return
                "<span class=\"\(episode.severity.rawValue)\">\(episode.severity.rawValue)</span> \(caller.clock.html(episode.openedMs))\(until)\(worst)"
        }
        let most = 100
        return """
            <h2>What it would have raised</h2>
            <p role="status">In the last \(days) days, \(outcome.machines) \(outcome.machines == 1 ? "machine" : "machines") and \(outcome.readings) readings: alerts \(counts.joined(separator: ", ")). Nothing was changed by trying it.</p>
            \(left)
            \(HTML.table(
                caption: "Alerts", headers: [.word("Machine"), .text("Verdict"), .prose("Was raised"), .prose("Would be raised")],
                rows: outcome.alerts.prefix(most).map { alert in
                    let vehicle = (alert.was ?? alert.would)!.vehicle
                    return [
                        "<a href=\"/vehicles/\(encoded: vehicle.text)?kind=machine\">\(vehicle.text)</a>",
                        .text(alert.verdict.rawValue), told(alert.was), told(alert.would),
                    ]
                }, empty: "None, neither before nor with it."))
            \(outcome.alerts.count > most ? "<p>And \(outcome.alerts.count - most) more.</p>" : "")
            """
    }
}
