package import Alerts
internal import Basics
package import Fleet
internal import Pipeline

/// Given a model, when readings, ticks and services come in this order, then these alerts have been told. A file of them:
/// RuleTestFile.swift.
package struct RuleTest: Sendable {
    package enum Fact: Sendable {
        case reading(MachineReading)
        case tick(Int64)
        case service(ServiceLog.Entry)

        package var ms: Int64 {
            switch self {
            case .reading(let reading): reading.ts
            case .tick(let ts): ts
            case .service(let service): service.doneMs
            }
        }
    }

    /// Expected properties of an alert or rule, by key, compared as texts.
    package struct Expectation: Sendable {
        let name: String
        let isRule: Bool
        let said: [String: String]
    }

    package let name: String
    /// File and line, for messages.
    package let place: String
    let model: String
    let vehicle: VehicleID
    let startMs: Int64
    let facts: [Fact]
    let expected: [Expectation]

    package init(
        name: String, place: String, model: String, vehicle: VehicleID, startMs: Int64, facts: [Fact],
        expected: [Expectation]
    ) {
        self.name = name
        self.place = place
        self.model = model
        self.vehicle = vehicle
        self.startMs = startMs
        self.facts = facts
        self.expected = expected
    }

    /// The differences, with the readings around them; nil when there are none.
    package func failure(by rules: RuleSet) -> String? {
        let lines = ruleDifferences(rules) + alertDifferences(told(rules))
        return lines.isEmpty ? nil : "\(place): \(name)\n" + lines.map { "  \($0)\n" }.joined()
    }

    /// The alerts told, one fact after the other, as the worker tells them: what is late at the next tick, and after the last
    /// fact at once.
    package func told(_ rules: RuleSet) -> [ToldAlert] {
        let timeline = RuleTimeline(always: rules)
        // All readings, and those judged in the order of their times.
        var (known, judged): ([MachineReading], [MachineReading]) = ([], [])
        var (services, judgedBy): (ServiceLog, ServiceLog) = (.none, .none)
        var (told, clockMs): (ToldAlerts, Int64?) = (ToldAlerts(), nil)
        // Something is to be judged again; readings among it.
        var (isWaiting, hasLate) = (false, false)
        func tell(at ms: Int64, isLate: Bool = false) {
            var episodes = MachineBacktest.episodes(judged, rules: timeline, services: judgedBy, clockMs: clockMs)
            if hasLate {
                // A pending alert may still show that the machine was not silent: only told alerts are final.
                let known = Set(
                    MachineBacktest.episodes(judged, rules: timeline, services: judgedBy, clockMs: nil).map(\.id))
                episodes.removeAll { episode in
                    !known.contains(episode.id)
                        && !told.all.contains { !$0.isWithdrawn && $0.episode.competes(with: episode) }
                }
            }
            _ = told.tell(episodes, cause: AlertCause(pushedMs: ms, isLate: isLate)) { _ in true }
        }
        func judgeLate(at ms: Int64) {
            judged = known
            judgedBy = services
            isWaiting = false
            hasLate = false
            tell(at: ms, isLate: true)
        }
        for fact in facts {
            switch fact {
            case .reading(let reading):
                let (lastMs, before) = (known.last?.ts ?? .min, known)
                known = (known + [reading]).unioned()
                if reading.ts > lastMs {
                    judged.append(reading)
                    tell(at: fact.ms)
                } else if known != before {
                    isWaiting = true
                    hasLate = true
                }
            case .tick(let ts) where ts > clockMs ?? .min:
                clockMs = ts
                if isWaiting { judgeLate(at: fact.ms) } else { tell(at: fact.ms) }
            case .tick: continue
            case .service(let service):
                guard services.insert(service) != nil else { continue }
                if hasLate || service.doneMs <= known.last?.ts ?? .min {
                    isWaiting = true
                } else {
                    judgedBy = services
                    tell(at: fact.ms)
                }
            }
        }
        if let last = facts.last, isWaiting { judgeLate(at: last.ms) }
        return told.all.sorted { ($0.episode.openedMs, $0.id) < ($1.episode.openedMs, $1.id) }
    }

    // MARK: Comparing

    private func ruleDifferences(_ rules: RuleSet) -> [String] {
        let thresholds = rules.thresholds(of: model, vehicle)
        return expected.filter(\.isRule).compactMap { expected in
            guard let rule = thresholds.first(where: { $0.name == expected.name }) else {
                return "expected: the rule \(expected.name)\n  came:     there is none"
            }
            let elements = Dictionary(uniqueKeysWithValues: rule.elements)
            let found = elements.filter { expected.said[$0.key] != nil }
            guard found != expected.said else { return nil }
            return
                "expected: rule \(expected.name) \(RuleTest.text(expected.said))\n"
                + "  came:     rule \(expected.name) \(RuleTest.text(found))"
        }
    }

    private func alertDifferences(_ told: [ToldAlert]) -> [String] {
        var came = told.map { (name: $0.episode.name, cells: cells($0), alert: $0) }
        // Matching expectations go first, so that the rest are the differences.
        let missed = expected.filter { expected in
            guard !expected.isRule else { return false }
            let index = came.firstIndex { alert in
                alert.name == expected.name && expected.said.allSatisfy { alert.cells[$0.key] == $0.value }
            }
            index.map { _ = came.remove(at: $0) }
            return index == nil
        }
        let lines = missed.map { expected in
            let index = came.firstIndex { $0.name == expected.name }
            let other = index.map { came.remove(at: $0) }
            let opened = other?.alert.episode.openedMs ?? RuleTestTime.parse(expected.said["opened"]!, from: startMs)!
            return "expected: \(expected.name) \(RuleTest.text(expected.said))\n  came:     "
                + (other.map { "\($0.name) \(RuleTest.text($0.cells))" } ?? "nothing")
                + around(opened, expected.name)
        }
        return lines
            + came.map {
                "expected: nothing\n  came:     \($0.name) \(RuleTest.text($0.cells))"
                    + around($0.alert.episode.openedMs, $0.name)
            }
    }

    /// The properties of an alert that a test can state.
    static let alertKeys = [
        "opened", "resolved", "state", "severity", "test", "since", "opening", "worst", "worst_at", "threshold",
        "recommended", "advice", "user", "revision",
    ]
    static let timeKeys: Set<String> = ["opened", "resolved", "since", "worst_at"]

    private func cells(_ alert: ToldAlert) -> [String: String] {
        let episode = alert.episode
        func number(_ value: Int64?) -> String { value.map { Decimal.text($0, decimals: 3) } ?? "none" }
        func time(_ ms: Int64?) -> String { ms.map { RuleTestTime.text($0, from: startMs) } ?? "none" }
        return [
            "opened": time(episode.openedMs), "resolved": time(episode.resolvedMs),
            "state": alert.state.rawValue, "severity": episode.severity.rawValue,
            "test": episode.test.rawValue, "since": time(episode.sinceMs), "opening": number(episode.openingValue),
            "worst": number(episode.worstValue), "worst_at": time(episode.worstMs),
            "threshold": number(episode.threshold), "recommended": number(episode.recommended),
            "advice": episode.advice ?? "none", "user": episode.audience.rawValue, "revision": "\(alert.revision)",
        ]
    }

    private static func text(_ cells: [String: String]) -> String {
        let known = alertKeys.filter { cells[$0] != nil }
        return (known + cells.keys.filter { !known.contains($0) }.sorted()).map { "\($0) \(cells[$0]!)" }
            .joined(separator: ", ")
    }

    /// The facts nearest to a time, in the order of their times.
    private func around(_ ms: Int64, _ name: String) -> String {
        let parameter = MachineParameter.ofMachines.first { $0.row.name == name }
        let sorted = facts.sorted { $0.ms < $1.ms }
        let at = sorted.firstIndex { $0.ms >= ms } ?? sorted.count
        return sorted[max(0, at - 3)..<min(sorted.count, at + 3)].map { fact in
            let what =
                switch fact {
                case .tick: "tick"
                case .service(let service): "service at \(Decimal.text(service.atHours, decimals: 3)) h"
                case .reading(let reading): "reading, " + value(parameter, reading)
                }
            return "\n      \(RuleTestTime.text(fact.ms, from: startMs))  \(what)"
        }.joined()
    }

    private func value(_ parameter: MachineParameter?, _ reading: MachineReading) -> String {
        guard let parameter, let value = reading.values[parameter] else { return "without the value" }
        switch parameter.row.kind {
        case .number: return "\(parameter.row.key) \(Decimal.text(value, decimals: 3))"
        case .count: return "\(parameter.row.key) \(value)"
        case .flag: return "\(parameter.row.key) \(value == 1)"
        case .time: return "\(parameter.row.key) \(RuleTestTime.text(value, from: startMs))"
        }
    }
}
