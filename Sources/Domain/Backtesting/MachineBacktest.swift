package import Alerts
package import Fleet

/// One machine judged from its readings in the order of their times, as the worker judges it.
package struct MachineBacktest: Sendable {
    private let rules: RuleTimeline
    private let services: ServiceLog
    private var fold = AlertFold()
    private var found: [String: Episode] = [:]
    private var vehicle: VehicleID?

    package init(rules: RuleTimeline, services: ServiceLog = .none) { (self.rules, self.services) = (rules, services) }

    /// Precondition: `reading` is later than every reading before it.
    package mutating func observe(_ reading: MachineReading) {
        for episode in fold.observe(reading, rules: rules, services: services) { found[episode.id] = episode }
        vehicle = reading.vehicle
    }

    /// Readings later than the last one cannot change what opened before `ms`.
    package func isSettled(before ms: Int64) -> Bool {
        fold.lastMs ?? .min >= ms && !fold.open.contains { $0.openedMs < ms }
    }

    /// Every episode, in its state after the last reading. `clockMs` is the partition's greatest tick; nil: none.
    package func episodes(clockMs: Int64?) -> [Episode] {
        var found = found
        for episode in fold.served(services, rules: rules) { found[episode.id] = episode }
        if let vehicle, let clockMs {
            for episode in fold.overdue(at: clockMs, rules: rules, vehicle: vehicle) { found[episode.id] = episode }
        }
        return found.values.sorted { ($0.openedMs, $0.id) < ($1.openedMs, $1.id) }
    }

    /// All readings at once.
    package static func episodes(
        _ readings: some Sequence<MachineReading>, rules: RuleTimeline, services: ServiceLog = .none, clockMs: Int64?
    ) -> [Episode] {
        var trial = MachineBacktest(rules: rules, services: services)
        for reading in readings { trial.observe(reading) }
        return trial.episodes(clockMs: clockMs)
    }
}
