public import Fleet

/// One car's alerts over a span of its readings that is complete: nothing within reach of it is missing.
public struct DriverJudgement: Sendable {
    /// The final episodes, by opening.
    public let episodes: [Episode]
    /// After the last reading.
    public let watch: DriverAlertFold

    /// - Parameters:
    ///   - readings: by time, one a time.
    ///   - passedMs: what is known to have passed without a reading after them: the clock, or the next stretch's begin. Nil:
    ///     more of them may be on their way.
    public init(vehicle: VehicleID, readings: [CarReading], _ context: DriverContext, passedMs: Int64?) {
        var watch = DriverAlertFold(vehicle: vehicle, context)
        var episodes: [String: Episode] = [:]
        for reading in readings { for episode in watch.observe(reading) { episodes[episode.id] = episode } }
        if let passedMs { for episode in watch.pass(passedMs) { episodes[episode.id] = episode } }
        self.episodes = episodes.values.sorted { ($0.openedMs, $0.id) < ($1.openedMs, $1.id) }
        self.watch = watch
    }
}
