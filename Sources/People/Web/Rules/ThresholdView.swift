internal import Alerts
internal import Backtesting
internal import Basics
internal import Codecs
internal import Fleet
internal import Presentation
internal import Reports

/// The parts of threshold pages beside the form.
enum ThresholdView {
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
        "published": "Rule saved for …. It holds for readings from now on.",
        "removed": "Rule removed for …, for readings from now on.",
        "back": "The model's rule holds again for …, for readings from now on.",
        "same": "Nothing to change: that is the rule already.",
        "waiting":
            "Rule saved. It is not in force yet: that follows by itself as soon as the server can reach its log and database.",
    ]

    /// All parameters of a model, or those that a machine has of its own beside its model's.
    /// - Parameter own: of a model, the machines that are the reader's.
    static func parameters(
        _ of: ThresholdFiles.Subject, _ rules: RuleSet, model: String?, whose: String, _ caller: PageCaller,
        mayEdit: Bool,
        own machines: [VehicleID], said: String?
    ) throws -> HTML {
        let own = of.vehicle.map { rules.machines[$0] ?? [] } ?? rules.models[of.model!] ?? []
        let standard = of.vehicle == nil ? [] : model.flatMap { rules.models[$0] } ?? []
        let notice: HTML? = said.map { HTML.notice(.done($0)) }
        let table = HTML.table(
            caption: "Rules of \(of.vehicle == nil ? of.title : whose)",
            headers: [.word("Parameter"), .prose("Rule"), .text("Who sees it"), .text("Whose")],
            rows: ThresholdField.all.map { field in
                let mine = own.first { $0.field == field }
                let rule = mine ?? standard.first { $0.field == field }
                let words = RuleWords(field: field, rule: rule, units: caller.units)
                return [
                    mayEdit
                        ? "<a class=\"name\" href=\"\(of.address)/\(encoded: field.shownName)\">\(field.shownName)</a>"
                        : HTML(field.shownName),
                    rule == nil
                        ? (mayEdit ? "<span class=\"faint\">No rule</span>" : "No rule") : words.sentence(whose),
                    .text(rule?.audience.rawValue),
                    .text(
                        mine == nil
                            ? (rule == nil ? nil : "its model's") : of.vehicle == nil ? "the model's" : "its own"),
                ]
            }, empty: "", narrow: .cards)
        let about: HTML =
            of.vehicle.map {
                "<p><a href=\"/vehicles/\(encoded: $0.text)?kind=machine\">Machine \($0.text)</a>, model \(model ?? "not known")</p>\n"
            } ?? ""
        let how: HTML =
            mayEdit
            ? "<p class=\"soft\">Choose a parameter to change its rule or to see what another limit would have raised.</p>"
            : whoChanges(of, machines)
        return "\(notice)\(about)\(how)\n\(table)"
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
            "<p role=\"status\" class=\"strip \(run.isRight ? "ok" : "warning")\">\(HTML.icon(run.isRight ? .check : .warn))<span>\(run.summary).</span></p>\n\(texts.prefix(20).joined(separator: "\n"))\("\n<p>And \(texts.count - 20) more.</p>", if: texts.count > 20)"
    }

    static func faults(_ title: String, _ lines: [String]) -> HTML {
        let list: HTML = lines.isEmpty ? "" : "<ul>\(lines.map { "<li>\($0)</li>" }.joined())</ul>"
        return
            "<div role=\"alert\" class=\"strip critical\">\(HTML.icon(.warn))<div class=\"grow\"><b>\(title)</b>\(list)</div></div>"
    }
}
