internal import Alerts
internal import Basics
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage

/// The list of all rules, and the choice of a new one.
extension ThresholdRoutes {
    private static let editsMax: Int64 = 15

    func list(_ request: Request, _ caller: PageCaller, _ folder: RuleFolder, _ connection: Connection) throws
        -> Response
    {
        let rules = try thresholdFiles.load(folder)
        let counts = try counts(rules, caller, connection)
        let mayEditModels = !caller.roles.isDisjoint(with: ThresholdRoutes.modelEditors)
        // Who keeps machines is shown the rules that hold for them.
        let models = ThresholdFiles.models(folder).filter { mayEditModels || counts.machines[$0] != nil }
        let names = try RuleEditStore.names(of: Array(rules.machines.keys), on: connection)
        let edited = try RuleEditStore.edited(of: Array(names.keys), on: connection)
        var listed: [ListedRule] = models.flatMap { model in
            (rules.models[model] ?? []).map { rule in
                ListedRule(
                    of: .model(model), field: rule.field, rule: rule,
                    whose: ThresholdRoutes.whose(model: model), machines: counts.machines[model] ?? 0,
                    raised: counts.raised(rule.field, ofModel: model, rules), mayEdit: mayEditModels)
            }
        }
        listed += names.sorted { $0.key < $1.key }.flatMap { vehicle, name in
            (rules.machines[vehicle] ?? []).map { rule in
                ListedRule(
                    of: .machine(vehicle), field: rule.field, rule: rule, whose: name ?? vehicle.text,
                    machines: nil, raised: counts.raised(rule.field, of: vehicle), mayEdit: edited.contains(vehicle))
            }
        }
        let view = RuleListView(
            rules: listed, filter: .init(request.query),
            withoutRules: models.filter { model in rules.models[model]?.contains { $0.judged != nil } != true }
                .map { ($0, counts.machines[$0] ?? 0) },
            unmonitored: try UnmonitoredVehicle.read(queries, on: connection), caller: caller,
            mayEditModels: mayEditModels,
            history: try history(rules, caller, connection))
        return shown(t("Rules"), crumb: nil, actions: RuleListView.new, caller, view.html)
    }

    private func history(_ rules: RuleSet, _ caller: PageCaller, _ connection: Connection) throws -> HTML {
        let rows = try connection.query(queries["rule_versions"], [.int8(ThresholdRoutes.editsMax)])
        let caller = try caller.knowing(try rows.map { try $0.text("account") }, queries, on: connection)
        let table = HTML.table(
            caption: t("Rule history"),
            headers: [.word(t("When")), .text(t("By")), .prose(t("Change")), .word(t("Version"))],
            rows: try rows.map { row in
                let changes = try row.textArray("changes")?.compactMap(\.self)
                let version = try row.text("version") ?? ""
                return [
                    // The first set holds for all readings before it, too.
                    try row.timestampMs("at").map {
                        $0 <= UTC.plausible.lowerBound ? .t("From the beginning") : caller.clock.html($0)
                    },
                    .text(try row.text("account").map { AlertWords.person($0, caller) } ?? t("Files or commands")),
                    changes.map { said($0, rules, caller) } ?? .t("Published from the rule files"),
                    "<span class=\"mono\" title=\"\(version)\">\(String(version.prefix(8)))</span>",
                ]
            }, empty: t("Nothing was published yet."), narrow: .cards)
        return "\(table)<p class=\"soft small\"><a class=\"more\" href=\"/thresholds/tests\">Run the rule tests</a></p>"
    }

    /// Each change in words; one that is written in another way stands as it is.
    private func said(_ changes: [String], _ rules: RuleSet, _ caller: PageCaller) -> HTML {
        changes.map { change -> HTML in
            guard let words = RuleChangeWords(change) else { return HTML(change) }
            return HTML(
                words.text({ of, field in of.flatMap { ThresholdRoutes.rule($0, field, rules) } }, in: caller.units))
        }.joined(separator: "<br>")
    }

    /// What a new rule is of and looks at; both chosen, it goes to the form.
    func new(_ request: Request, _ caller: PageCaller, _ folder: RuleFolder, _ connection: Connection) throws
        -> Response
    {
        let chosen = request.query["of"] ?? ""
        let field = request.query["parameter"].flatMap { ThresholdField(name: $0) }
        let subjects = try subjects(caller, folder, connection)
        if let field, let (of, _) = subjects.first(where: { $0.of.key == chosen }) {
            return .seeOther(of.address + "/" + URLText.escaped(field.shownName))
        }
        guard !subjects.isEmpty else {
            return shown(
                t("New rule"), caller,
                """
                <section class="card">\(HTML.emptyState(
                    .tractor, t("No machines yet"), .t("Rules are for machines of your fleets."),
                    action: "<a class=\"btn\" href=\"/vehicles\">Vehicles</a>"))</section>
                """)
        }
        // Texts raise nothing, but a rule says who sees them: they stand last.
        let fields =
            ThresholdField.all.filter { RuleWords.isJudged($0) } + ThresholdField.all.filter { !RuleWords.isJudged($0) }
        return shown(
            t("New rule"), caller,
            """
            <form class="card" method="get" action="/thresholds/new"><div class="body form"><div class="sentence"><span>Tell me about</span>\
            <select class="box" name="parameter" aria-label="Value">\(HTML.options(fields.map { ($0.shownName, RuleWords.noun($0)) }, field?.shownName))</select>\
            <span>of</span><select class="box" name="of" aria-label="Machines">\(HTML.options(subjects.map { ($0.of.key, $0.name) }, chosen))</select>\
            <button class="btn primary">Next</button></div></div></form>
            """)
    }

    /// Models and machines whose rules are the reader's to change.
    private func subjects(
        _ caller: PageCaller, _ folder: RuleFolder, _ connection: Connection
    ) throws -> [(of: ThresholdFiles.Subject, name: String)] {
        let isEditor = !caller.roles.isDisjoint(with: ThresholdRoutes.modelEditors)
        let models: [(of: ThresholdFiles.Subject, name: String)] =
            isEditor ? ThresholdFiles.models(folder).map { (.model($0), t("all \($0) machines")) } : []
        let machines = try connection.query(
            queries["rule_own_machines"], [.int8(ThresholdRoutes.machinesMax)]
        ).compactMap { row -> (of: ThresholdFiles.Subject, name: String)? in
            guard let vehicle = try VehicleID(row.text("vehicle")!) else { return nil }
            return (.machine(vehicle), try row.text("name") ?? vehicle.text)
        }
        return models + machines
    }
}
