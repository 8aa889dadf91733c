internal import Alerts
internal import Fleet

/// One machine's readings, judged again a piece further: from the first that waits, until the state comes out as it was,
/// or to the latest reading, or as far as they were read back.
///
/// The alerts that come of it hold for the piece: one that may go on behind it is left to the next.
struct MachineTurn {
    private enum Outcome {
        /// The state is as it was: so is all that follows.
        case settled(AlertFold)
        case end
        case paused(AlertFold)
    }

    let vehicle: VehicleID
    private let asked: Rejudging
    private var history: MachineHistory
    private var changedRows: [MachineRow] = []
    private var fold: AlertFold
    private var outcome = Outcome.end
    /// The state to begin with could not be decoded.
    let isRebuilt: Bool
    private(set) var transitions: [AlertTransition] = []

    init(
        vehicle: VehicleID, _ asked: Rejudging, _ history: MachineHistory, rules: RuleTimeline, clockMs: Int64,
        cause: AlertCause
    ) {
        (self.vehicle, self.asked, self.history) = (vehicle, asked, history)
        switch history.before {
        case .nothing: (fold, isRebuilt) = (AlertFold(), false)
        case .state(let state): (fold, isRebuilt) = (state, false)
        case .unknown: (fold, isRebuilt) = (AlertFold(), true)
        }
        guard !isRebuilt else { return }
        let carried = fold.open
        let prevMs = fold.lastMs
        var episodes = fold.openByID
        outcome = judge(rules, &episodes)
        if case .end = outcome {
            let end =
                fold.overdue(at: clockMs, rules: rules, vehicle: vehicle)
                + fold.served(history.services, rules: rules)
            for episode in end { episodes[episode.id] = episode }
        }
        tell(episodes, since: prevMs, carried: carried, cause)
    }

    private mutating func judge(_ rules: RuleTimeline, _ episodes: inout [String: Episode]) -> Outcome {
        for var row in history.rows {
            for episode in fold.observe(row.reading, rules: rules, services: history.services) {
                episodes[episode.id] = episode
            }
            guard row.state != fold else {
                if row.reading.ts >= asked.span.untilMs, isTold(fold) { return .settled(fold) }
                continue
            }
            row.state = fold
            changedRows.append(row)
        }
        return history.isWhole ? .end : .paused(fold)
    }

    /// Whether what is open in a state stands as it was told: a piece before may have given its alert to another.
    private func isTold(_ state: AlertFold) -> Bool {
        state.open.allSatisfy { episode in
            history.told.all.contains { alert in
                !alert.isWithdrawn && alert.episode.parameter == episode.parameter
                    && alert.episode.openedMs == episode.openedMs
                    && alert.episode.resolvedMs ?? .max > state.lastMs ?? .min
            }
        }
    }

    /// - Parameter carried: what was open before the piece. Where that was not told yet, its alert may be over by then.
    private mutating func tell(
        _ episodes: [String: Episode], since prevMs: Int64?, carried: [Episode], _ cause: AlertCause
    ) {
        // Without a state before, alerts from before the first reading there is (the others are not kept any more) stand,
        // and one that goes on into these is not told again.
        let firstMs = prevMs == nil ? history.rows.first?.reading.ts ?? .max : .min
        func reach(_ alert: Episode) -> ToldAlerts.Reach {
            let endMs = alert.resolvedMs ?? .max
            if alert.openedMs < firstMs { return endMs > firstMs ? .goingOn : .untouched }
            return endMs > prevMs ?? .min || carried.contains { alert.competes(with: $0) } ? .judged : .untouched
        }
        switch outcome {
        case .end:
            transitions = history.told.tell(Array(episodes.values), cause: cause) {
                reach($0.episode)
            }
        case .settled(let state):
            // What is open in it, and what opens later (never before that reading), is as it was.
            let same = Set(state.open.map(\.id))
            let endMs = state.lastMs ?? .max
            transitions = history.told.tell(episodes.values.filter { !same.contains($0.id) }, cause: cause) { alert in
                alert.episode.openedMs < endMs && !same.contains(alert.episode.id) ? reach(alert.episode) : .untouched
            }
        case .paused(let state):
            let (open, endMs) = (state.open, state.lastMs ?? .max)
            let goingOn = Set(open.map(\.id))
            transitions = history.told.tell(
                episodes.values.filter { !goingOn.contains($0.id) }, cause: cause
            ) { alert in
                let episode = alert.episode
                let reach = reach(episode)
                guard reach == .judged, episode.openedMs <= endMs else { return reach == .goingOn ? reach : .untouched }
                if open.contains(where: { episode.competes(with: $0) }) { return .reserved }
                return episode.resolvedMs ?? .max > endMs ? .goingOn : .judged
            }
        }
    }

    /// More readings must be read back to know.
    var isShort: Bool { if case .paused = outcome { true } else { false } }

    var alerts: [ToldAlert] { history.told.changed }

    /// The machine after its latest reading, if the piece came as far.
    var end: MachinePartition.Machine? {
        guard case .end = outcome, !isRebuilt, fold.lastMs != nil else { return nil }
        return MachinePartition.Machine(
            vehicle: vehicle, fold: fold, told: history.told, services: history.services)
    }

    /// The rest that is to be judged again.
    func next(askedOffset: Int64) -> Rejudging? {
        // From the first reading, to the last: which states are known is not known.
        if isRebuilt { return Rejudging(.all, askedOffset: askedOffset, isLate: true) }
        guard case .paused = outcome, let last = history.rows.last else {
            return asked.again.map { Rejudging($0, askedOffset: askedOffset, isLate: asked.isLate) }
        }
        let fromMs = last.reading.ts + 1
        // The next state follows from one that was judged otherwise.
        let span = Rejudging.Span(fromMs: fromMs, untilMs: max(asked.span.untilMs, fromMs))
        return Rejudging(
            span, askedOffset: askedOffset, isLate: asked.isLate, hasBegun: true, again: asked.again)
    }

    /// Nil when nothing changed.
    func change(dueMs: Int64?, wasDueMs: Int64?) -> MachineChange? {
        let isLatest = end != nil
        guard !changedRows.isEmpty || !alerts.isEmpty || isLatest && dueMs != wasDueMs,
            let model = fold.lastModel, let lastMs = fold.lastMs
        else { return nil }
        return MachineChange(
            vehicle: vehicle, model: model, lastMs: lastMs, readings: changedRows, alerts: alerts,
            isLatest: isLatest, nextDeadlineMs: dueMs)
    }
}
