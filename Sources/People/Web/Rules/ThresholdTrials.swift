internal import Alerts
internal import Backtesting
internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

/// What a rule would have raised, on the readings that the reader sees. Nothing is written, and nothing is locked.
extension ThresholdRoutes {
    /// What one trial may cost: while somebody drags a slider, and when they press a button.
    enum Effort {
        case live, thorough

        var readingsMax: Int { self == .live ? 80_000 : 200_000 }
        var ms: Int64 { self == .live ? 1_500 : 8_000 }
    }

    /// For the script of the form: the same fields as the form sends, in the address.
    func tried(
        _ request: Request, _ caller: PageCaller, _ folder: RuleFolder, _ connection: Connection
    ) throws -> Response {
        guard let of = try of(request, folder, connection), let field = ThresholdRoutes.field(request) else {
            return ThresholdRoutes.unknown
        }
        guard try of.isEdited(on: connection) else { return ThresholdRoutes.notYours }
        var form = try form(of, field, folder, caller, connection)
        guard form.fill(from: request) else { return ThresholdRoutes.notYours }
        let rules: RuleSet
        switch edited(form, folder, isRemoval: false) {
        case .success(let edited): rules = edited.rules
        case .failure(let refused):
            let errors = refused.errors.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.text($0.value)) }
            let answer = JSONValue.object([
                ("errors", .object(errors)), ("rest", .list(refused.rest.map { .text($0) })),
            ])
            return .json(answer.rendered(), status: 422)
        }
        guard let found = try turns.taking(for: caller.account, { try self.trial(form, rules, .live, connection) })
        else {
            return .problem(429, type: "busy", detail: "Others are trying rules right now. Ask again in a moment.")
                .with("Retry-After", "1")
        }
        return .json(found?.json.rendered() ?? "{\"count\":0,\"html\":\"\"}")
    }

    /// Nil: it raises nothing, be it because it is only shown.
    func trial(
        _ form: ThresholdForm, _ rules: RuleSet, _ effort: Effort, _ connection: Connection
    ) throws -> RuleTrialView? {
        guard case .parameter(let parameter) = form.field, let rule = ThresholdRoutes.rule(form.of, form.field, rules),
            rule.judged != nil
        else { return nil }
        let nowMs = Clock.nowMs()
        let daysMs = ThresholdRoutes.days(form.days, nowMs, form.caller.zone)
        let others = ThresholdRoutes.others(rule, RuleUnit(rule.unit, in: form.caller.units), parameter)
        let base = ThresholdRoutes.narrowed(rules, to: parameter)
        let candidates =
            [base] + others.map { ThresholdRoutes.replacing(form.targets, ThresholdForm.moved(rule, to: $0), in: base) }
        try SchemaConnection.findTablesInTransaction(on: connection)
        // No single statement holds the thread for longer either.
        try connection.execute("SET LOCAL statement_timeout = '\(effort.ms * 2)ms'")
        let trial = RuleTrial(
            parameter: parameter, daysMs: daysMs, candidates: candidates, threshold: rule,
            bounds: .init(readingsMax: effort.readingsMax, isOver: { Clock.nowMs() - nowMs > effort.ms }),
            clock: { try RuleEditStore.clockMs(ofMachines: $0, on: connection) })
        let outcome = try trial.run(of: form.targets.compactMap(\.vehicle), model: form.of.model, on: connection)
        let vehicles = Set(outcome.latest.map(\.vehicle) + outcome.alerts.map { ($0.would ?? $0.was)!.vehicle })
        return RuleTrialView(
            form: form, outcome: outcome, daysMs: daysMs, others: others, rule: rule,
            names: try RuleEditStore.names(of: Array(vehicles), on: connection))
    }

    static func rule(_ of: ThresholdFiles.Subject, _ field: ThresholdField, _ rules: RuleSet) -> Threshold? {
        switch of {
        case .model(let name): rules.models[name]?.first { $0.field == field }
        case .machine(let vehicle): rules.machines[vehicle]?.first { $0.field == field }
        }
    }

    /// The first moments of the last days as the reader's calendar has them, and now.
    static func days(_ count: Int, _ nowMs: Int64, _ zone: String) -> [Int64] {
        let today = CivilDate(ofMs: nowMs, zone: ZoneClock(zone: zone).zone)
        return (0..<count).map { today.moved(by: Int64($0 - count + 1)).startMs } + [nowMs + 1]
    }

    /// Two limits on each side; none of what is yes or no, or a service.
    private static func others(_ rule: Threshold, _ unit: RuleUnit, _ parameter: MachineParameter) -> [Int64] {
        guard let limit = rule.threshold, rule.every == nil, rule.test != .shown, parameter.row.kind != .flag,
            let shown = Decimal.scaled(unit.text(limit).utf8, decimals: 3)
        else { return [] }
        return RuleSteps.others(shown).filter { $0 != shown && $0 >= 0 }.compactMap { unit.stored(Double($0) / 1_000) }
    }

    /// The parameter's rules, and contact's, which takes the place of absences: no other rule looks at another one's.
    private static func narrowed(_ rules: RuleSet, to parameter: MachineParameter) -> RuleSet {
        func ours(_ thresholds: [Threshold]) -> [Threshold] {
            thresholds.filter { $0.field == .parameter(parameter) || $0.field == .parameter(.contact) }
        }
        return RuleSet(
            rules.models.mapValues(ours), machines: rules.machines.mapValues(ours).filter { !$0.value.isEmpty })
    }

    private static func replacing(_ targets: [ThresholdFiles.Subject], _ rule: Threshold, in rules: RuleSet) -> RuleSet
    {
        var (models, machines) = (rules.models, rules.machines)
        for of in targets {
            switch of {
            case .model(let name): models[name] = [rule] + models[name, default: []].filter { $0.field != rule.field }
            case .machine(let vehicle):
                machines[vehicle] = [rule] + machines[vehicle, default: []].filter { $0.field != rule.field }
            }
        }
        return RuleSet(models, machines: machines)
    }
}
