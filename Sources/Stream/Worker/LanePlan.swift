internal import Pipeline

/// Which lanes work on which topic. Alerts of machines must not stand behind the commit that closes the minutes of a whole
/// fleet of cars, and a rider who waits for an answer behind neither: each kind has lanes of its own.
struct LanePlan {
    private enum Kind: CaseIterable {
        case cars, machines, campuses
        /// A kind of its own: rows that surveys and tours read back must not hold up cars.
        case surveysAndTours

        init(topic: String) {
            switch RecordStage(topic: topic) {
            // Nil: a job of other topics has its worker to itself.
            case .cars, nil: self = .cars
            case .machines: self = .machines
            case .campuses: self = .campuses
            case .surveys, .tours: self = .surveysAndTours
            }
        }
    }

    /// A decision is answered when it is committed: a lane of campuses does not gather.
    private static let campusIntervalMs: Int64 = 5

    private let lanes: [Kind: Range<Int>]
    let count: Int

    init(topics: [String], lanes: Int) {
        let kinds = Set(topics.map(Kind.init))
        let ofMachines = kinds.contains(.cars) ? (lanes + 1) / 2 : lanes
        var (ranges, end): ([Kind: Range<Int>], Int) = ([:], 0)
        for kind in Kind.allCases where kinds.contains(kind) {
            let count =
                switch kind {
                case .cars: lanes
                case .machines: ofMachines
                case .campuses, .surveysAndTours: 1
                }
            ranges[kind] = end..<end + count
            end += count
        }
        (self.lanes, count) = (ranges, end)
    }

    /// Precondition: it is one of its topics.
    func lanes(for topic: String) -> Range<Int> { lanes[Kind(topic: topic)]! }

    private func isOf(_ kind: Kind, _ lane: Int) -> Bool { lanes[kind]?.contains(lane) ?? false }

    /// A decision takes milliseconds, and so a backlog of them is committed piece by piece: who waits for one does not wait for
    /// all, and a kill takes little with it.
    ///
    /// Surveys may have a megabyte each: it is looked often whether enough of them wait.
    func recordsAtOnce(_ lane: Int) -> Int { isOf(.campuses, lane) ? 1 : isOf(.surveysAndTours, lane) ? 100 : .max }

    func commitIntervalMs(_ lane: Int, standard: Int64) -> Int64 {
        isOf(.campuses, lane) ? min(standard, LanePlan.campusIntervalMs) : standard
    }
}
