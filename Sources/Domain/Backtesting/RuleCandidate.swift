package import Alerts
package import Fleet

/// One parameter of one model with other numbers than its rule has; what is nil stays as it is.
package struct RuleCandidate: Sendable {
    package let parameter: MachineParameter
    package let model: String
    /// The test and its limit.
    package var limit: (test: Threshold.Test, value: Int64)?
    package var critical, clear, holdMs, absentMs: Int64?

    package init(_ parameter: MachineParameter, of model: String) { (self.parameter, self.model) = (parameter, model) }

    /// The same sets with this rule, from the same times on. All other parameters are left out but contact, which takes
    /// the place of absences: no other rule looks at another one's. A machine with a rule of its own keeps it.
    package func timeline(_ timeline: RuleTimeline) -> RuleTimeline {
        RuleTimeline(
            timeline.entries.map { RuleTimeline.Entry(inForceMs: $0.inForceMs, rules: rules($0.rules)) })
    }

    private func rules(_ rules: RuleSet) -> RuleSet {
        func rule(of parameter: MachineParameter, _ thresholds: [Threshold]) -> Threshold? {
            thresholds.first { $0.field == .parameter(parameter) }
        }
        func ours(_ thresholds: [Threshold]) -> [Threshold] {
            let others: [MachineParameter] = parameter == .contact ? [] : [.contact]
            return ([parameter] + others).compactMap { rule(of: $0, thresholds) }
        }
        var models = rules.models.mapValues(ours)
        if let tried = self.rule(rule(of: parameter, rules.models[model] ?? [])) {
            models[model] = [tried] + models[model, default: []].filter { $0.field != tried.field }
        }
        return RuleSet(models, machines: rules.machines.mapValues(ours).filter { !$0.value.isEmpty })
    }

    /// The contradiction with one of these rule sets; nil: there is none.
    package func contradiction(over timeline: RuleTimeline) -> Threshold.Contradiction? {
        for entry in timeline.entries {
            let standing = entry.rules.models[model]?.first { $0.field == .parameter(parameter) }
            if let found = rule(standing)?.contradictions.first { return found }
        }
        return nil
    }

    /// Nil: there is no rule, and none is tried.
    package func rule(_ standing: Threshold?) -> Threshold? {
        var rule: Threshold
        if let standing {
            rule = standing
        } else {
            guard let limit else { return nil }
            rule = Threshold(
                field: .parameter(parameter), test: limit.test, unit: parameter.row.unit, type: .int, audience: .farmer,
                threshold: limit.value)
        }
        if let limit {
            // The other direction is another rule; a value on the wrong side of the limit proves nothing.
            let isOther = rule.test != limit.test
            func isBeyond(_ value: Int64, _ other: Int64) -> Bool {
                limit.test == .below ? value < other : value > other
            }
            if let critical = rule.critical, isOther || isBeyond(limit.value, critical) { rule.critical = nil }
            if let clear = rule.clear, isOther || isBeyond(clear, limit.value) { rule.clear = nil }
            rule.test = limit.test
            rule.threshold = limit.value
            // A service interval is the limit of what has run since the service.
            if rule.every != nil { (rule.every, rule.soon) = (limit.value, rule.soon.map { min($0, limit.value) }) }
        }
        if let critical { rule.critical = critical }
        if let clear { rule.clear = clear }
        if let holdMs { rule.holdMs = holdMs }
        if let absentMs { rule.absentMs = absentMs }
        return rule
    }
}

/// An alert that was raised beside the one that would have been.
package struct BacktestAlert: Sendable {
    package enum Verdict: String, Sendable, CaseIterable { case same, changed, added, removed }

    package let was: Episode?
    package let would: Episode?

    package var verdict: Verdict {
        guard let was else { return .added }
        guard let would else { return .removed }
        return BacktestAlert.isSame(was, would) ? .same : .changed
    }
    package var openedMs: Int64 { (would ?? was)!.openedMs }

    /// Compares everything that readings decide; properties of the rule itself aside.
    private static func isSame(_ a: Episode, _ b: Episode) -> Bool {
        a.sinceMs == b.sinceMs && a.openedMs == b.openedMs && a.resolvedMs == b.resolvedMs && a.test == b.test
            && a.severity == b.severity && a.state == b.state && a.openingValue == b.openingValue
            && a.worstValue == b.worstValue && a.worstMs == b.worstMs
    }

    /// Pairs alerts of one machine and parameter: those that opened at one time, then those that overlap.
    package static func pairs(was: [Episode], would: [Episode]) -> [BacktestAlert] {
        var (free, pairs): ([Episode], [BacktestAlert]) = (was, [])
        func remove(_ fits: (Episode) -> Bool) -> Episode? { free.firstIndex(where: fits).map { free.remove(at: $0) } }
        var waiting: [Episode] = []
        for episode in would {
            if let old = remove({ $0.openedMs == episode.openedMs }) {
                pairs.append(BacktestAlert(was: old, would: episode))
            } else {
                waiting.append(episode)
            }
        }
        for episode in waiting {
            let old = remove { old in
                old.openedMs < episode.resolvedMs ?? .max && episode.openedMs < old.resolvedMs ?? .max
            }
            pairs.append(BacktestAlert(was: old, would: episode))
        }
        return (pairs + free.map { BacktestAlert(was: $0, would: nil) }).sorted { $0.openedMs < $1.openedMs }
    }
}
