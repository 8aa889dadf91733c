internal import Fleet

/// Which lanes work on which topic. Alerts of machines must not stand behind the commit that closes the minutes of a whole
/// fleet of cars, and a rider who waits for an answer behind neither: each kind has lanes of its own.
struct LanePlan {
    /// A decision is answered when it is committed: a dispatch lane does not gather.
    private static let dispatchIntervalMs: Int64 = 5

    private let machines: Range<Int>
    private let dispatch: Range<Int>
    /// What surveys and tours read back must not hold up cars.
    private let surveys: Range<Int>
    let count: Int

    init(topics: [String], lanes: Int) {
        let apart = [Topic.machines, Topic.dispatch, Topic.sightings, Topic.tours]
        let others = topics.contains { !apart.contains($0) } ? lanes : 0
        let own = topics.contains(Topic.machines) ? (others == 0 ? lanes : (others + 1) / 2) : 0
        machines = others..<others + own
        dispatch = machines.upperBound..<machines.upperBound + (topics.contains(Topic.dispatch) ? 1 : 0)
        let hasSurveys = topics.contains(Topic.sightings) || topics.contains(Topic.tours)
        surveys = dispatch.upperBound..<dispatch.upperBound + (hasSurveys ? 1 : 0)
        count = surveys.upperBound
    }

    func lanes(for topic: String) -> Range<Int> {
        switch topic {
        case Topic.machines: machines
        case Topic.dispatch: dispatch
        case Topic.sightings, Topic.tours: surveys
        default: 0..<machines.lowerBound
        }
    }

    /// A decision takes milliseconds, and so a backlog of them is committed piece by piece: who waits for one does not wait for
    /// all, and a kill takes little with it.
    ///
    /// Surveys may have a megabyte each: it is looked often whether enough of them wait.
    func recordsAtOnce(_ lane: Int) -> Int { dispatch.contains(lane) ? 1 : surveys.contains(lane) ? 100 : .max }

    func commitIntervalMs(_ lane: Int, standard: Int64) -> Int64 {
        dispatch.contains(lane) ? min(standard, LanePlan.dispatchIntervalMs) : standard
    }
}
