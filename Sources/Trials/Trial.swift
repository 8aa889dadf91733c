public import Alerts
public import Fleet

/// One machine judged from all of its readings, as the worker judges it from its log.
public enum Trial {
    /// Every episode, as it stands at the end. Precondition: the readings are in the order of their times, one a time.
    ///
    /// - Parameter clockMs: the partition's greatest tick; nil: none.
    public static func episodes(
        _ readings: some Sequence<MachineReading>, rules: RuleTimeline, services: ServiceLog = .none, clockMs: Int64?
    ) -> [Episode] {
        var (fold, found, vehicle): (AlertFold, [String: Episode], VehicleID?) = (AlertFold(), [:], nil)
        for reading in readings {
            for episode in fold.observe(reading, rules: rules, services: services) { found[episode.id] = episode }
            vehicle = reading.vehicle
        }
        for episode in fold.served(services, rules: rules) { found[episode.id] = episode }
        if let vehicle, let clockMs {
            for episode in fold.overdue(at: clockMs, rules: rules, vehicle: vehicle) { found[episode.id] = episode }
        }
        return found.values.sorted { ($0.openedMs, $0.id) < ($1.openedMs, $1.id) }
    }
}
