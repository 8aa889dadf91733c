internal import Synchronization
internal import Telemetry

/// Where a worker stands with its partitions, for who asks whether it is ready.
final class WorkerReadiness: Sendable {
    struct State {
        /// The group has answered at least once.
        var isMember = false
        /// The group has taken everything away, and the worker has not heard of it yet.
        var isLost = false
        var assigned = 0
        var reading = 0
        /// Things that a person has to look at, a line a topic and reason.
        var left: [String] = []
        /// Vehicles that are set apart.
        var quarantined: [String] = []
    }

    private let state = Mutex(State())

    func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    var finding: Health.Finding {
        let state = self.state.withLock { $0 }
        guard state.isMember else { return .ill("the group has not answered yet") }
        guard !state.isLost else { return .ill("the group has taken all partitions away") }
        // More workers than partitions: this one takes over when another is gone.
        guard state.assigned > 0 else { return .well("none is assigned: the other workers have them all") }
        let counts = "\(state.reading) of \(state.assigned) are read"
        guard state.reading == state.assigned else {
            guard let first = state.left.first else { return .ill(counts + ", the others wait") }
            let more = state.left.count > 1 ? " (and \(state.left.count - 1) more)" : ""
            return .ill(counts + ", the others are left alone. \(first)\(more): drover offsets show")
        }
        if let first = state.quarantined.first {
            let more = state.quarantined.count > 1 ? " and \(state.quarantined.count - 1) more" : ""
            return .well(counts + "; in quarantine: \(first)\(more)")
        }
        return .well(counts)
    }
}
