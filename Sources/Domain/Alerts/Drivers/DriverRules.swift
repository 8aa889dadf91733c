/// An account's settings over time, as limits. Settings are in force from their record's own time on; before the first the default
/// applies, or the given ones.
public struct DriverRules: Equatable, Sendable {
    public struct Version: Equatable, Sendable {
        public let inForceMs: Int64
        public let settings: DriverSettings
        public init(inForceMs: Int64, settings: DriverSettings) {
            self.inForceMs = inForceMs
            self.settings = settings
        }
    }

    public let account: String
    /// By time, the default first.
    let versions: [Version]
    let timeline: RuleTimeline

    /// - Parameters:
    ///   - versions: one a time, in any order.
    ///   - settings: what holds before the first.
    public init(account: String, versions: [Version], before settings: DriverSettings = .standard) {
        self.account = account
        let first = Version(inForceMs: .min, settings: settings)
        self.versions = [first] + versions.sorted { $0.inForceMs < $1.inForceMs }
        timeline = RuleTimeline(
            self.versions.map { version in
                RuleTimeline.Entry(
                    inForceMs: version.inForceMs, rules: RuleSet([account: version.settings.thresholds]))
            })
    }

    /// - Returns: the settings and the time until which they hold; `.max` for the last.
    func inForce(at ts: Int64) -> (settings: DriverSettings, untilMs: Int64) {
        // The first is in force from `.min` on.
        let index = versions.lastIndex { $0.inForceMs <= ts }!
        return (versions[index].settings, index + 1 < versions.count ? versions[index + 1].inForceMs : .max)
    }
}
