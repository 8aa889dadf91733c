public import Alerts
public import Fleet

/// Ticks, what silence ends at them, and what is judged with the database's help at the end of a cycle.
extension DriverPartition {
    /// Time passes. Where something waits, that is judged at the end of the cycle, which this tick ends.
    public mutating func tick(
        clockMs: Int64, after beforeMs: Int64, offset: Int64, pushedMs: Int64, isClosing: Bool
    ) {
        guard offset >= storedOffset else { return }
        let tick = Tick(
            clockMs: clockMs, offset: offset, pushedMs: pushedMs, beforeMs: beforeMs, isClosing: isClosing)
        if waiting.isEmpty, codes.isEmpty, loading.isEmpty, spreads.isEmpty, spreading == nil {
            passSilence(tick)
        } else {
            (due, isFull) = (tick, true)
        }
    }

    /// Ends alerts of cars that are silent.
    public mutating func passSilence(_ tick: Tick) {
        guard tick.clockMs >= nextDueMs || tick.isClosing else { return }
        let silent = lives.filter { $0.value.isSilent(at: tick) }.sorted {
            $0.value.watch.vehicle < $1.value.watch.vehicle
        }
        for (number, live) in silent {
            if live.arrivedMs == tick.beforeMs, !tick.isClosing {
                // It came since the tick before, however far this one is beyond. Not at this one: the next must not say so again.
                lives[number]!.arrivedMs = tick.clockMs - 1
                changed.insert(number)
            } else {
                pass(number, tick)
            }
        }
        nextDueMs = lives.values.map(\.dueMs).min() ?? .max
    }

    private mutating func pass(_ number: Int, _ tick: Tick) {
        if !lives[number]!.told.all.isEmpty {
            let episodes = lives[number]!.watch.pass(tick.clockMs)
            lives[number]!.passedMs = tick.clockMs
            changed.insert(number)
            tell(number, episodes, pushedMs: tick.pushedMs)
        }
        guard lives[number]!.told.all.isEmpty, lives[number]!.dueMs <= tick.clockMs else { return }
        cars[number].lastMs = max(cars[number].lastMs, lives[number]!.lastMs)
        lives[number] = nil
        changed.insert(number)
    }

    // MARK: The end of a cycle

    /// Something is judged with the database's help.
    public var hasWork: Bool { !loading.isEmpty || due != nil || setBackTo != nil || !changedSettings.isEmpty }

    /// Cars that somebody drives for the first time in a while, or that report for the first time, and the first readings of
    /// these.
    public var newcomers: [(number: Int, fromMs: Int64)] {
        loading.map { ($0.key, $0.value[0].reading.ts) }.sorted { $0.0 < $1.0 }
    }

    /// It is known who drives one of them.
    public mutating func begin(_ number: Int, _ vehicle: VehicleID, _ context: DriverContext) {
        guard let arrivals = loading.removeValue(forKey: number) else { return }
        loadingCount -= arrivals.count
        cars[number].ownedMs = context.drivers.ownedMs
        askCodesOfNew(number, vehicle, offset: arrivals[0].offset)
        guard context.isWatched else {
            cars[number].standing = .unwatched
            return
        }
        let fromMs = arrivals[0].reading.ts
        cars[number].standing = .watched
        lives[number] = Live(
            watch: DriverAlertFold(vehicle: vehicle, context), told: ToldAlerts(), fromMs: fromMs,
            arrivedMs: arrivals[0].clockMs, nextOffset: arrivals[0].offset)
        changed.insert(number)
        for arrival in arrivals { see(number, arrival) }
        if let live = lives[number] { nextDueMs = min(nextDueMs, live.dueMs) }
    }

    /// An account's limits changed.
    public struct SettingsChange: Sendable {
        public let account: String
        public let fromMs: Int64
        public let offset: Int64
        /// Cars whose latest reading is older are not judged again: a part of their last stretch may be deleted.
        public let leastMs: Int64
    }

    /// Accounts whose limits changed in this cycle.
    public mutating func drainAccounts() -> [SettingsChange] {
        defer { changedSettings = [] }
        return changedSettings
    }

    public mutating func dequeueTick() -> Tick? {
        defer { due = nil }
        return due
    }

    /// Rows of the car were written that hold readings which are in memory only here.
    public mutating func wrote(_ number: Int) { if lives[number] != nil { changed.insert(number) } }
}
