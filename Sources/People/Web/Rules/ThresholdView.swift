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
        let others = (query["with"] ?? "").split(separator: ",").prefix(namedMax).compactMap { VehicleID(String($0)) }
        guard !others.isEmpty else { return text(query["said"], of.shown) }
        let named = ([of.vehicle?.text ?? of.title] + others.map(\.text)).joined(separator: ", ")
        guard let more = query["more"].flatMap({ Int($0) }) else { return text(query["said"], t("machines \(named)")) }
        return text(query["said"], t("machines \(named) and \(more) more"))
    }

    /// What was done to a rule.
    private enum Said: String {
        case published, removed, back, same, waiting
    }

    private static func text(_ said: String?, _ whose: String) -> String? {
        switch said.flatMap(Said.init) {
        case .published: t("Rule saved for \(whose). It holds for readings from now on.")
        case .removed: t("Rule removed for \(whose), for readings from now on.")
        case .back: t("The model's rule holds again for \(whose), for readings from now on.")
        case .same: t("Nothing to change: that is the rule already.")
        case .waiting:
            t(
                "Rule saved. It is not in force yet: that follows by itself as soon as the server can reach its log and database."
            )
        case nil: nil
        }
    }

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
            caption: t("Rules of \(of.vehicle == nil ? of.title : whose)"),
            headers: [
                .word(t("Parameter")), .prose(t("Rule")), .text(t("Who sees it")), .text(t("Whose")),
            ],
            rows: ThresholdField.all.map { field in
                let mine = own.first { $0.field == field }
                let rule = mine ?? standard.first { $0.field == field }
                let words = RuleWords(field: field, rule: rule, units: caller.units)
                return [
                    mayEdit
                        ? "<a class=\"name\" href=\"\(of.address)/\(encoded: field.shownName)\">\(field.shownName)</a>"
                        : HTML(field.shownName),
                    rule == nil
                        ? (mayEdit ? "<span class=\"faint\">No rule</span>" : .t("No rule")) : words.sentence(whose),
                    .text((rule?.audience.rawValue).map(RuleChangeWords.audience)),
                    .text(
                        mine == nil
                            ? (rule == nil ? nil : t("its model's"))
                            : of.vehicle == nil ? t("the model's") : t("its own")),
                ]
            }, empty: "", narrow: .cards)
        let about: HTML =
            of.vehicle.map {
                "<p><a href=\"/vehicles/\(encoded: $0.text)?kind=machine\">Machine \($0.text)</a>, model \(model ?? t("not known"))</p>\n"
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
            "<p>These hold for machines of everybody: changing them is for developers and administrators. \(links.isEmpty ? "<span>A machine of your fleets can have rules of its own.</span>" : "<span>Yours can have rules of their own: \(links.joined(separator: ", ")).</span>")</p>"
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
