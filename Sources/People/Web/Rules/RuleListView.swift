internal import Alerts
internal import Fleet
internal import HTTPServer
internal import Presentation
internal import Reports

/// A model's or machine's rule of one parameter, as lists show it.
struct ListedRule {
    let of: ThresholdFiles.Subject
    let field: ThresholdField
    let rule: Threshold
    /// `any S690 Combine`, or the machine's name.
    let whose: String
    /// Of a model.
    let machines: Int?
    /// Alerts of the last days.
    let raised: Int
    let mayEdit: Bool

    var address: String { mayEdit ? of.address + "/" + URLText.escaped(field.shownName) : of.address }
}

/// All rules of the reader's machines, one sentence each.
struct RuleListView {
    static let days: Int64 = 30

    enum Level: String, CaseIterable { case critical, warning, service, shown }

    /// What is looked for, as the address has it.
    struct Filter {
        let text: String
        /// A model or a machine; empty: all.
        let of: String
        let level: Level?

        init(_ query: [String: String]) {
            text = String((query["q"] ?? "").prefix(80))
            of = query["of"] ?? ""
            level = query["level"].flatMap(Level.init)
        }

        var isEmpty: Bool { text.isEmpty && of.isEmpty && level == nil }

        func holds(_ rule: ListedRule, _ words: RuleWords) -> Bool {
            let level = RuleListView.level(words)
            guard of.isEmpty || rule.of.key == of, self.level.map({ $0 == level }) ?? (level != .shown) else {
                return false
            }
            let all = "\(rule.field.shownName) \(RuleWords.noun(rule.field)) \(rule.whose) \(words.short)".lowercased()
            return text.lowercased().split(separator: " ").allSatisfy { all.contains($0) }
        }
    }

    let rules: [ListedRule]
    let filter: Filter
    /// Models whose machines no rule judges, with how many there are.
    let withoutRules: [(model: String, machines: Int)]
    let unmonitored: [UnmonitoredVehicle]
    let caller: PageCaller
    let mayEditModels: Bool
    let history: HTML

    private static func level(_ words: RuleWords) -> Level {
        guard words.isOn else { return .shown }
        return words.isService ? .service : words.rule?.critical == nil ? .warning : .critical
    }

    var html: HTML {
        """
        \(search)
        <div class="stack">
        \(list)
        \(lacking)
        \(history)
        </div>
        """
    }

    private var subjects: [(String, String)] {
        var seen: Set<String> = []
        return rules.filter { seen.insert($0.of.key).inserted }.map {
            ($0.of.key, $0.of.vehicle == nil ? $0.of.title : $0.whose)
        }
    }

    private var search: HTML {
        let levels = [
            ("", "All that raise alerts"), ("critical", "Critical"), ("warning", "Warning"), ("service", "Service"),
            ("shown", "Shown only"),
        ]
        return """
            <form class="filter" method="get" action="/thresholds" role="search" aria-label="Rules">
            <div><label for="q">Search</label><input id="q" name="q" type="search" maxlength="80" value="\(filter.text)" \
            placeholder="coolant, tire, combine"></div>
            <div><label for="of">Applies to</label><select id="of" name="of"><option value="">All</option>\
            \(HTML.options(subjects, filter.of))</select></div>
            <div><label for="level">Severity</label><select id="level" name="level">\
            \(HTML.options(levels, filter.level?.rawValue ?? ""))</select></div>
            <button class="btn">Show</button>
            \(filter.isEmpty ? "" : "<a class=\"btn ghost\" href=\"/thresholds\">Clear</a>")
            </form>
            """
    }

    private var list: HTML {
        let shown = rules.map { ($0, RuleWords($0.rule, in: caller.units)) }.filter { filter.holds($0.0, $0.1) }
        guard !shown.isEmpty else {
            return """
                <section class="card">\(filter.isEmpty
                    ? HTML.emptyState(
                        .rule, "No rules yet", "A rule says when a value of a machine raises an alert.", action: RuleListView.new)
                    : HTML.emptyState(
                        .find, "No rule fits", "Try another word, or show all rules.",
                        action: "<a class=\"btn\" href=\"/thresholds\">Show all</a>"))</section>
                """
        }
        let rows: [HTML] = shown.map(row)
        return """
            <section class="card"><header><h2 id="rules">Rules</h2><span class="count">\(shown.count)</span>\
            <a class="more" href="/thresholds/tests">Run the rule tests</a></header>
            <div class="scroll" role="region" aria-labelledby="rules" tabindex="0">
            <table class="table cards rules"><thead><tr><th scope="col">Rule</th><th scope="col">Severity</th>\
            <th scope="col">Applies to</th><th scope="col" class="num">Raised in \(RuleListView.days) days</th></tr></thead>
            <tbody>\(rows.joined(separator: "\n"))</tbody></table></div></section>
            """
    }

    private func row(_ rule: ListedRule, _ words: RuleWords) -> HTML {
        let severity = words.severity
        let tone: HTML = words.isOn && !words.isService ? " \(severity.tone)" : ""
        let critical: HTML =
            rule.rule.critical.map { "<small>Critical \(rule.rule.test.rawValue) \(words.unit.full($0))</small>" } ?? ""
        let machines: HTML = rule.machines.map { "<small>\(caller.words.count($0, .machine))</small>" } ?? ""
        return """
            <tr><td class="head"><div class="cell"><span class="ic s\(tone)">\(HTML.icon(RuleWords.icon(rule.field)))</span>\
            <a class="sentence" href="\(rule.address)">\(words.sentence(rule.whose))\(critical)</a></div></td>\
            <td>\(HTML.pill(severity.tone, severity.words))</td>\
            <td data-l="Applies to">\(rule.of.vehicle == nil ? "Model \(rule.of.title)" : "\(rule.whose)")\(machines)</td>\
            <td class="num" data-l="Raised in \(RuleListView.days) days">\(words.isOn ? "\(rule.raised)" : "–")</td></tr>
            """
    }

    static let new: HTML =
        "<a class=\"btn primary\" href=\"/thresholds/new\">\(HTML.icon(.plus))<span>New rule</span></a>"

    // MARK: What no rule judges

    private static let namedMax = 20

    private var lacking: HTML {
        let models: [HTML] = withoutRules.map { model, machines in
            let of = ThresholdFiles.Subject.model(model)
            let way: HTML =
                mayEditModels
                ? "<a class=\"btn small\" href=\"/thresholds/new?of=\(encoded: of.key)\">Add a rule</a>" : ""
            return """
                <div class="item"><span class="ic s warning">\(HTML.icon(.rule))</span><span><b>\(model)</b>\
                <small>No rule of this model raises an alert\(machines == 0 ? "" : HTML(": \(caller.words.count(machines, .machine))"))\
                </small></span>\(way)</div>
                """
        }
        let vehicles: [HTML] = unmonitored.prefix(RuleListView.namedMax).map(item)
        guard !(models.isEmpty && vehicles.isEmpty) else { return "" }
        let rest = unmonitored.count - vehicles.count
        return """
            <section class="card" id="not-monitored"><header><h2>Not monitored</h2><span class="count">\(models.count + unmonitored.count)</span>\
            <span class="faint small">No rule can raise an alert for these</span></header>
            \((models + vehicles).joined(separator: "\n"))
            \("<footer>And \(rest) more: <a class=\"more\" href=\"/vehicles\">all vehicles</a></footer>", if: rest > 0)</section>
            """
    }

    private func item(_ vehicle: UnmonitoredVehicle) -> HTML {
        let address: HTML = "/vehicles/\(encoded: vehicle.vehicle)?kind=\(vehicle.kind.rawValue)"
        let way: HTML =
            switch vehicle.reason {
            case .nobody: "<a class=\"btn small\" href=\"\(address)\">Assign an owner</a>"
            case .noModel: "<a class=\"btn small\" href=\"\(address)\">Set its model</a>"
            case .noRules:
                VehicleID(vehicle.vehicle).map { id in
                    "<a class=\"btn small\" href=\"/thresholds/new?of=\(encoded: ThresholdFiles.Subject.machine(id).key)\">Add a rule</a>"
                } ?? ""
            case .alertsOff: "<a class=\"btn small\" href=\"/settings\">Alert settings</a>"
            }
        return """
            <div class="item"><span class="ic s warning">\(HTML.icon(vehicle.kind == .car ? .car : .tractor))</span>\
            <span><a href="\(address)"><b>\(vehicle.name ?? vehicle.vehicle)</b></a><small>\(vehicle.reason.why)</small></span>\(way)</div>
            """
    }
}
