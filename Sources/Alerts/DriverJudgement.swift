public import Fleet

/// One car's alerts over a span of its readings that is complete: nothing within reach of it is missing.
public struct DriverJudgement: Sendable {
    /// As they stand at the end, by their openings.
    public let episodes: [Episode]
    /// After the last reading.
    public let watch: DriverWatch
    /// What was open ended because nothing was read after the last reading. A backlog may say otherwise.
    public let isEndedBySilence: Bool

    /// - Parameters:
    ///   - readings: by time, one a time.
    ///   - passedMs: what is known to have passed without a reading after them: the clock, or the next stretch's begin.
    public init(
        vehicle: VehicleID, readings: [CarReading], drivers: Drivers, rules: [String: DriverRules], passedMs: Int64
    ) {
        var watch = DriverWatch(vehicle: vehicle, drivers: drivers, rules: rules)
        var episodes: [String: Episode] = [:]
        for reading in readings { for episode in watch.observe(reading) { episodes[episode.id] = episode } }
        let ended = watch.pass(passedMs)
        for episode in ended { episodes[episode.id] = episode }
        isEndedBySilence = !ended.isEmpty
        self.episodes = episodes.values.sorted { ($0.openedMs, $0.id) < ($1.openedMs, $1.id) }
        self.watch = watch
    }
}
