public import Fleet

/// The alerts of one machine, as its readings come in the order of their times.
///
/// Judged by the times of the readings alone: a reading that comes two hours late has lasted no longer for it. A
/// condition with `<for>` opens at the first reading at which it has held longer than that since the reading it began
/// with. A missing value says nothing, unless the rule has `<absent>`: then it counts from the last reading that had
/// it, and the alert opens at that deadline. An open alert of a parameter that has no rule any more (the model or the
/// rules changed) resolves at the next reading.
///
/// An alert that opens without a further reading (Deadline.swift) opens when the clock or a later reading passes the deadline. The clock
/// never changes the state: such alerts are `overdue`, derived anew from the state after the last reading. A later recorded service does
/// not change it either: the alerts that it closes are `served`.
public struct AlertFold: Equatable, Sendable {
    /// The state of one parameter.
    enum ParameterState: Equatable, Sendable {
        case normal
        case pending(sinceMs: Int64, isMissing: Bool)
        case open(Episode)
    }

    /// The part of the last reading that deadlines need.
    struct Last: Equatable, Sendable {
        var ts: Int64
        var model: String
        var isReporting: Bool
    }

    var watches: [MachineParameter: ParameterState] = [:]
    /// When parameters with an absence rule were last there.
    var lastPresentMs: [MachineParameter: Int64] = [:]
    /// The last value of parameters that are times and whose age has a limit.
    var lastTimeMs: [MachineParameter: Int64] = [:]
    var last: Last?

    public init() {}

    /// The time of the last reading.
    public var lastMs: Int64? { last?.ts }
    public var lastModel: String? { last?.model }

    public var open: [Episode] {
        watches.values.compactMap { if case .open(let episode) = $0 { episode } else { nil } }.sorted { $0.id < $1.id }
    }

    /// Episodes that this reading opened, made worse or resolved; of two with one id the later one stands.
    /// Precondition: `reading` is later than every reading before it.
    public mutating func observe(
        _ reading: MachineReading, rules: RuleTimeline, services: ServiceLog = .none
    ) -> [Episode] {
        var changes = expire(before: reading, rules)
        for episode in served(services, rules: rules, before: reading.ts) {
            watches[episode.parameter] = nil
            changes.append(episode)
        }
        if reading.values[.contact] != nil { return changes + observe(contact: reading, rules) }
        let inForce = rules.inForce(at: reading.ts)
        let judged = inForce.judged(reading.model, reading.vehicle)
        for (parameter, threshold) in judged {
            let judgement = Judgement(threshold, parameter, reading, services)
            changes += step(parameter, threshold, judgement, reading, inForce.version)
            if threshold.ageLimitMs != nil, let value = reading.values[parameter] { lastTimeMs[parameter] = value }
        }
        let ruled = Set(judged.map(\.parameter))
        // Remembered parameters as well: absence does not count from before a time without a rule.
        let known = Set(watches.keys).union(lastPresentMs.keys).union(lastTimeMs.keys)
        for parameter in known.subtracting(ruled).sorted(by: { $0.rawValue < $1.rawValue }) {
            if case .open(let episode)? = watches[parameter] { changes.append(AlertFold.resolved(episode, reading.ts)) }
            watches[parameter] = nil
            lastPresentMs[parameter] = nil
            lastTimeMs[parameter] = nil
        }
        last = Last(ts: reading.ts, model: reading.model, isReporting: reading.isReporting)
        return changes
    }

    /// A gateway's report about a box, not about the machine: it cannot be reached, can be again, or (without `isReporting`) is no longer
    /// polled. Where a rule judges contact, that alert replaces the absences, which then stop counting. It does not alarm when the engine
    /// was off: a parked machine's box sleeps.
    private mutating func observe(contact reading: MachineReading, _ rules: RuleTimeline) -> [Episode] {
        var changes: [Episode] = []
        let (model, isExpected) = (last?.model ?? reading.model, last?.isReporting ?? false)
        let inForce = rules.inForce(at: reading.ts)
        let rule = inForce.judged(model, reading.vehicle).first { $0.parameter == .contact }
        if let (parameter, threshold) = rule, isExpected || watches[parameter] != nil {
            var reading = reading
            reading.model = model
            let judgement = Judgement(threshold, parameter, reading, .none)
            changes = step(parameter, threshold, judgement, reading, inForce.version)
        }
        let isLost = reading.values[.contact] == 0
        if isLost && rule != nil {
            for parameter in lastPresentMs.keys {
                if case .open? = watches[parameter] { continue }
                lastPresentMs[parameter] = nil
            }
        }
        let goesOn = isLost ? rule == nil : reading.isReporting
        last = Last(ts: reading.ts, model: model, isReporting: isExpected && goesOn)
        return changes
    }

    /// Opens what was due between the last reading and this one, unless this one says that it was not so.
    private mutating func expire(before reading: MachineReading, _ rules: RuleTimeline) -> [Episode] {
        deadlines(rules, reading.vehicle).compactMap { deadline in
            guard deadline.openedMs < reading.ts, !deadline.isExplained(by: reading) else { return nil }
            let episode = deadline.episode(reading.vehicle, rules)
            watches[deadline.parameter] = .open(episode)
            return episode
        }
    }

    private mutating func step(
        _ parameter: MachineParameter, _ threshold: Threshold, _ judgement: Judgement, _ reading: MachineReading,
        _ version: String
    ) -> [Episode] {
        let bad = badness(parameter, threshold, judgement, reading)
        let watch = watches[parameter] ?? .normal
        let beforeMs = last?.ts ?? .min
        let (next, change) = AlertFold.next(watch, bad, judgement, threshold, reading) { sinceMs, isMissing in
            // Not before the previous reading: its model and rules are not known further back.
            let openedMs = isMissing ? max(sinceMs + (threshold.absentMs ?? 0), beforeMs) : reading.ts
            return Episode(
                vehicle: reading.vehicle, model: reading.model, parameter: parameter, threshold: threshold,
                isMissing: isMissing, sinceMs: sinceMs, openedMs: openedMs, value: judgement.value,
                isCritical: judgement.isCritical, isSoon: judgement.isSoon, advice: judgement.advice,
                rulesVersion: version)
        }
        watches[parameter] = next == .normal ? nil : next
        return change.map { [$0] } ?? []
    }

    /// Since when the parameter is bad, or nil. A missing value is bad only where absence is judged.
    private mutating func badness(
        _ parameter: MachineParameter, _ threshold: Threshold, _ judgement: Judgement, _ reading: MachineReading
    ) -> (sinceMs: Int64, isMissing: Bool)? {
        guard judgement.isPresent else {
            guard threshold.absentMs != nil, !reading.isPartial else { return nil }
            // Never seen at all: counted from the first reading that lacks it.
            let since = lastPresentMs[parameter] ?? reading.ts
            lastPresentMs[parameter] = since
            return (since, true)
        }
        if threshold.absentMs != nil { lastPresentMs[parameter] = reading.ts }
        return judgement.isFailing ? (reading.ts, false) : nil
    }

    /// One step of one parameter: every state against every fact.
    private static func next(
        _ watch: ParameterState, _ bad: (sinceMs: Int64, isMissing: Bool)?, _ judgement: Judgement,
        _ threshold: Threshold,
        _ reading: MachineReading, opened: (_ sinceMs: Int64, _ isMissing: Bool) -> Episode
    ) -> (ParameterState, Episode?) {
        switch (watch, bad) {
        case (.normal, nil): return (.normal, nil)
        case (.normal, let bad?): return begin(bad.sinceMs, bad.isMissing, threshold, reading, opened)
        case (.pending, nil):
            // A missing value without an absence rule says nothing: the condition neither goes on nor ends.
            return judgement.isPresent ? (.normal, nil) : (watch, nil)
        case (.pending(let sinceMs, let isMissing), let bad?):
            // Wrong and then missing, or the other way round, is one stretch without good information.
            return begin(sinceMs, isMissing && bad.isMissing, threshold, reading, opened)
        case (.open(let episode), _):
            return go(on: episode, judgement, reading)
        }
    }

    private static func begin(
        _ sinceMs: Int64, _ isMissing: Bool, _ threshold: Threshold, _ reading: MachineReading,
        _ opened: (Int64, Bool) -> Episode
    ) -> (ParameterState, Episode?) {
        let holdMs = isMissing ? threshold.absentMs ?? 0 : threshold.holdMs
        guard holdMs == 0 || reading.ts - sinceMs > holdMs else {
            return (.pending(sinceMs: sinceMs, isMissing: isMissing), nil)
        }
        let episode = opened(sinceMs, isMissing)
        return (.open(episode), episode)
    }

    private static func go(on before: Episode, _ judgement: Judgement, _ reading: MachineReading) -> (
        ParameterState, Episode?
    ) {
        if judgement.isPresent && judgement.isCleared { return (.normal, resolved(before, reading.ts)) }
        var episode = before
        if let value = judgement.value, judgement.isWorse(value, than: episode.worstValue) {
            episode.worstValue = value
            episode.worstMs = reading.ts
        }
        if judgement.isCritical { episode.severity = .critical }
        if judgement.isPresent, !judgement.isSoon { episode.state = .open }
        return (.open(episode), episode == before ? nil : episode)
    }

    static func resolved(_ episode: Episode, _ ts: Int64) -> Episode {
        var episode = episode
        episode.state = .resolved
        episode.resolvedMs = ts
        return episode
    }
}
