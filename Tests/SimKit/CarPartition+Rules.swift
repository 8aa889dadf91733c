package import Pipeline
package import Trips

extension CarPartition {
    /// By one set of rules for all times.
    package init(rules: TripRules, progress: CarProgress) {
        self.init(rules: TripRuleTimeline(base: rules), progress: progress)
    }
}
