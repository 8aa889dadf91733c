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
    /// More are found by searching.
    private static let rulesMax = 300
    /// Models and machines to choose from; others are found by searching.
    private static let subjectsMax = 200

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

    // MARK: What is looked for

    private func path(of: String? = nil, level: String? = nil) -> String {
        let items = [("q", filter.text), ("of", of ?? filter.of), ("level", level ?? filter.level?.rawValue ?? "")]
        let query = items.filter { !$0.1.isEmpty }.map { "\($0)=\(URLText.escaped($1))" }
        return query.isEmpty ? "/thresholds" : "/thresholds?" + query.joined(separator: "&")
    }

    private var subjects: [(key: String, name: String)] {
        var seen: Set<String> = []
        return rules.filter { seen.insert($0.of.key).inserted }.map {
            ($0.of.key, $0.of.vehicle == nil ? $0.of.title : $0.whose)
        }
    }

    private var search: HTML {
        let levels = [
            ("", t("All that raise alerts")), ("critical", t("Critical")), ("warning", t("Warning")),
            ("service", t("Service")), ("shown", t("Shown only")),
        ]
        let kept = [("of", filter.of), ("level", filter.level?.rawValue ?? "")].filter { !$0.1.isEmpty }
        return """
            <div class="row wrap rulebar"><form class="in" method="get" action="/thresholds" role="search" aria-label="Rules">\(HTML.icon(.find))\
            \(kept.map(FormView.hidden).joined())<label class="sr" for="q">Search</label><input class="bare" id="q" name="q" type="search" maxlength="80" \
            value="\(filter.text)" placeholder="Coolant, tire, combine"><button class="sr" tabindex="-1">Show</button></form>\
            \(chip(t("Applies to"), [("", t("All"))] + subjects.prefix(RuleListView.subjectsMax), filter.of) { path(of: $0) })\
            \(chip(t("Severity"), levels, filter.level?.rawValue ?? "") { path(level: $0) })\
            \(filter.isEmpty ? "" : "<a class=\"chip\" href=\"/thresholds\">\(HTML.icon(.close))Clear</a>")</div>
            """
    }

    private func chip(
        _ name: String, _ values: [(String, String)], _ chosen: String, _ path: (String) -> String
    ) -> HTML {
        let links: [HTML] = values.map { value, text in
            "<a href=\"\(path(value))\"\(" aria-current=\"true\"", if: value == chosen)>\(text)</a>"
        }
        let shown = values.first { $0.0 == chosen }?.1 ?? chosen
        return """
            <details class="menu"><summary class="chip">\(name): <b>\(shown)</b>\(HTML.icon(.open))</summary>\
            <div class="pop">\(links.joined())</div></details>
            """
    }

    // MARK: The rules

    private var list: HTML {
        let shown = rules.map { ($0, RuleWords($0.rule, in: caller.units)) }.filter { filter.holds($0.0, $0.1) }
        guard !shown.isEmpty else {
            return """
                <section class="card">\(filter.isEmpty
                    ? HTML.emptyState(
                        .rule, t("No rules yet"), .t("A rule says when a value of a machine raises an alert."), action: RuleListView.new)
                    : HTML.emptyState(
                        .find, t("No rule fits"), .t("Try another word, or show all rules."),
                        action: "<a class=\"btn\" href=\"/thresholds\">Show all</a>"))</section>
                """
        }
        let first = shown.prefix(RuleListView.rulesMax)
        var groups: [[(ListedRule, RuleWords)]] = []
        for one in first {
            if groups.last?.first?.0.of == one.0.of {
                groups[groups.count - 1].append(one)
            } else {
                groups.append([one])
            }
        }
        let rest = shown.count - first.count
        return """
            \(groups.map(group).joined(separator: "\n"))
            \("<p class=\"soft\">And \(rest) more: search, or choose what they apply to.</p>", if: rest > 0)
            """
    }

    /// Of one model or machine, the worst first, and then what raises most.
    private func group(_ rules: [(ListedRule, RuleWords)]) -> HTML {
        let of = rules[0].0
        let order: [Level] = [.critical, .warning, .service, .shown]
        let sorted = rules.enumerated().sorted { one, other in
            func rank(_ each: (offset: Int, element: (ListedRule, RuleWords))) -> (Int, Int, Int) {
                (
                    order.firstIndex(of: RuleListView.level(each.element.1)) ?? 0, -each.element.0.raised, each.offset
                )
            }
            return rank(one) < rank(other)
        }
        let about = of.machines.map { caller.words.count($0, .machine) } ?? t("Its own rules, in place of its model's")
        return """
            <section class="card rules"><header><h2>\(of.of.vehicle == nil ? of.of.title : of.whose)</h2><span class="count">\(rules.count)</span>\
            <span class="faint small">\(about)</span><a class="more" href="\(of.of.address)">All values</a></header>
            \(sorted.map { item($0.element.0, $0.element.1) }.joined(separator: "\n"))</section>
            """
    }

    private func item(_ rule: ListedRule, _ words: RuleWords) -> HTML {
        let severity = words.severity
        let tone: HTML = words.isOn && !words.isService ? " \(severity.tone)" : ""
        let raised =
            words.isOn
            ? rule.raised == 0
                ? t("not raised in \(RuleListView.days) days")
                : t(
                    rule.raised, one: "raised once in \(RuleListView.days) days",
                    many: "raised \(rule.raised) times in \(RuleListView.days) days") : t("raises no alert")
        return """
            <a class="item rule" href="\(rule.address)"><span class="ic s\(tone)">\(HTML.icon(RuleWords.icon(rule.field)))</span>\
            <span><span class="say">\(words.brief)</span><small>\([words.beyond, raised].compactMap(\.self).joined(separator: " · "))</small></span>\
            \(HTML.pill(severity.tone, severity.words))</a>
            """
    }

    static var new: HTML {
        "<a class=\"btn primary\" href=\"/thresholds/new\">\(HTML.icon(.plus))<span>New rule</span></a>"
    }

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
                <small>\(machines == 0
                    ? t("No rule of this model raises an alert")
                    : t("No rule of this model raises an alert: \(caller.words.count(machines, .machine))"))</small></span>\(way)</div>
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
