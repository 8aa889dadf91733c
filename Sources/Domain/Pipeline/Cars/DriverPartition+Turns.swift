public import Alerts
public import Fleet

/// At a tick: what waits is judged from what is stored, a stretch of each car. The latest one comes first, so that what is
/// read next is judged from memory; then the others, one after the other.
extension DriverPartition {
    public struct Turn: Sendable {
        public let number: Int
        public let vehicle: VehicleID
        public let asked: Waiting
    }

    /// The cars whose turn it is, in the order in which that was asked; of one record by their names. Those whose latest readings
    /// wait come first, but leave a fourth to the others.
    public func turns(_ carPartition: borrowing CarPartition, most: Int) -> (latest: [Turn], others: [Turn]) {
        let latest = first(most, of: carPartition) { $0.isLatest }
        let others = first(most, of: carPartition) { !$0.isLatest }
        let othersCount = min(others.count, max(most / 4, most - latest.count))
        return (Array(latest.prefix(most - othersCount)), Array(others.prefix(othersCount)))
    }

    /// The history that is left after a turn about a car's latest readings: its turn is at the same tick. A car whose neighbours change
    /// places all the time would never come to it.
    public func rest(of turn: Turn) -> Turn? {
        guard turn.asked.isLatest, let asked = waiting[turn.number], !asked.isLatest else { return nil }
        return Turn(number: turn.number, vehicle: turn.vehicle, asked: asked)
    }

    /// Many may wait: only those that come first are sorted, and named.
    private func first(_ most: Int, of carPartition: borrowing CarPartition, where isMeant: (Waiting) -> Bool) -> [Turn]
    {
        var first: [(number: Int, asked: Waiting)] = []
        func comes(_ number: Int, _ asked: Waiting, before other: (number: Int, asked: Waiting)) -> Bool {
            if asked.askedOffset != other.asked.askedOffset { return asked.askedOffset < other.asked.askedOffset }
            return carPartition.vehicle(Int32(number)).lexicographicallyPrecedes(
                carPartition.vehicle(Int32(other.number)))
        }
        for (number, asked) in waiting where isMeant(asked) {
            if first.count == most, !comes(number, asked, before: first[most - 1]) { continue }
            var (low, high) = (0, first.count)
            while low < high {
                let middle = (low + high) / 2
                if comes(number, asked, before: first[middle]) { high = middle } else { low = middle + 1 }
            }
            first.insert((number, asked), at: low)
            if first.count > most { first.removeLast() }
        }
        return first.map { Turn(number: $0.number, vehicle: carPartition.name($0.number), asked: $0.asked) }
    }

    /// Judges the stretch that a turn is about: the car's latest, or the first one from `asked.fromMs` on.
    ///
    /// - Parameters:
    ///   - told: of the stretch.
    ///   - openSinceMs: since when something of the car is told as open.
    public mutating func judge(
        _ turn: Turn, _ stretch: DriverStretch, _ context: DriverContext, told: ToldAlerts, openSinceMs: Int64?,
        _ tick: Tick
    ) {
        let asked = turn.asked
        // Nothing came for as long as a silence is; what came since the tick before came just now.
        let arrivedMs = asked.arrivedMs == tick.beforeMs ? tick.clockMs - 1 : asked.arrivedMs
        let isSilent =
            tick.clockMs > stretch.toMs + DriverAlertFold.quietMs
            && (tick.isClosing || asked.arrivedMs == .min || tick.clockMs - arrivedMs >= DriverAlertFold.quietMs)
        // What is open at a border is over there as by a silence; the next stretch opens it again.
        let silentMs = stretch.toMs + DriverAlertFold.reachMs
        let judgement = DriverJudgement(
            vehicle: turn.vehicle, readings: stretch.readings, context,
            passedMs: stretch.isFollowed ? max(tick.clockMs, silentMs) : isSilent ? tick.clockMs : nil)
        let now = tell(judgement.episodes, told, pushedMs: tick.pushedMs, isLate: asked.isLate) {
            $0.openedMs >= stretch.fromMs && $0.openedMs <= stretch.untilMs
        }
        if !context.isWatched {
            // What was told of it, if anything, is taken back.
            cars[turn.number].standing = .unwatched
        } else if !stretch.isFollowed, asked.isLatest {
            settle(turn.number, judgement.watch, stretch, now, arrivedMs: arrivedMs, isSilent: isSilent, tick)
        }
        var rest = asked
        if asked.isLatest {
            rest.fromMs = min(asked.fromMs, openSinceMs ?? .max)
            rest.untilMs = min(asked.untilMs, stretch.fromMs - 1)
        } else {
            rest.fromMs = stretch.untilMs + 1
        }
        (rest.isLatest, rest.askedOffset) = (false, tick.offset)
        waiting[turn.number] = rest.fromMs <= rest.untilMs ? rest : nil
        changed.insert(turn.number)
    }

    /// There are no readings where the turn asked for some.
    public mutating func giveUp(_ turn: Turn) {
        waiting[turn.number] = nil
        changed.insert(turn.number)
    }

    private mutating func settle(
        _ number: Int, _ watch: DriverAlertFold, _ stretch: DriverStretch, _ told: ToldAlerts, arrivedMs: Int64,
        isSilent: Bool, _ tick: Tick
    ) {
        var live = Live(
            watch: watch, told: told.open(of: watch.open), fromMs: stretch.fromMs, arrivedMs: arrivedMs,
            nextOffset: tick.offset + 1)
        if isSilent { live.passedMs = tick.clockMs }
        cars[number].lastMs = live.lastMs
        lives[number] = live.told.all.isEmpty && live.dueMs <= tick.clockMs ? nil : live
        nextDueMs = min(nextDueMs, live.dueMs)
    }

    // MARK: Trouble codes

    /// Cars whose trouble codes wait.
    public func codeTurns() -> [VehicleID] { codes.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key) }

    /// - Parameters:
    ///   - scans: all of the car.
    ///   - told: of its trouble codes.
    public mutating func judge(
        codesOf vehicle: VehicleID, _ scans: [TroubleCodes.Scan], _ context: DriverContext?, told: ToldAlerts,
        _ tick: Tick
    ) {
        codes[vehicle] = nil
        changedCodes.insert(vehicle)
        guard let context, !scans.isEmpty else { return }
        let episodes = TroubleCodes.episodes(vehicle: vehicle, scans: scans, context)
        tell(episodes, told, pushedMs: tick.pushedMs, isLate: false) { _ in true }
    }

    @discardableResult
    private mutating func tell(
        _ episodes: [Episode], _ told: ToldAlerts, pushedMs: Int64, isLate: Bool, isJudged: (Episode) -> Bool
    ) -> ToldAlerts {
        var told = told
        // What was over and is not, or ended at another time, is a correction, whatever brought it.
        let isCorrection = told.all.contains { alert in
            !alert.isWithdrawn && alert.episode.resolvedMs != nil && isJudged(alert.episode)
                && !episodes.contains(alert.episode)
        }
        let cause = AlertCause(pushedMs: pushedMs, isLate: isLate || isCorrection)
        transitions += told.tell(episodes, cause: cause) { isJudged($0.episode) }
        for alert in told.changed { alerts[alert.id] = alert }
        return told
    }
}
