internal import Alerts
internal import Basics
public import Fleet

/// Things that make readings be judged again: each is only noted, and the car waits for a tick.
extension DriverPartition {
    /// Because of a reading.
    mutating func ask(_ number: Int, fromMs: Int64, _ arrival: Arrival, isLate: Bool) {
        ask(
            number, fromMs: fromMs, untilMs: arrival.reading.ts + DriverPartition.borderReachMs, offset: arrival.offset,
            isLate: isLate)
        if waiting[number]!.isLatest {
            if waiting[number]!.arrivedMs != arrival.clockMs { changed.insert(number) }
            waiting[number]!.arrivedMs = arrival.clockMs
            cars[number].lastMs = max(cars[number].lastMs, arrival.reading.ts)
        }
    }

    public mutating func ask(_ number: Int, fromMs: Int64, untilMs: Int64, offset: Int64, isLate: Bool) {
        while cars.count <= number { cars.append(Car()) }
        cars[number].standing = .watched
        var asked = Waiting(
            fromMs: fromMs, untilMs: untilMs, askedOffset: offset, isLate: isLate, isLatest: true, arrivedMs: .min)
        if let live = lives[number] {
            asked.isLatest = asked.untilMs >= live.fromMs - DriverAlertFold.reachMs
            if asked.isLatest {
                // Also what it had begun to judge.
                (asked.fromMs, asked.arrivedMs) = (min(asked.fromMs, live.lastMs), live.arrivedMs)
                cars[number].lastMs = max(cars[number].lastMs, live.lastMs)
                lives[number] = nil
            }
        } else if let arrivals = loading.removeValue(forKey: number) {
            loadingCount -= arrivals.count
            for arrival in arrivals {
                asked.fromMs = min(asked.fromMs, arrival.reading.ts)
                cars[number].lastMs = max(cars[number].lastMs, arrival.reading.ts)
                asked.arrivedMs = arrival.clockMs
            }
        }
        if let before = waiting[number] { asked.formUnion(before) }
        (asked.fromMs, asked.untilMs) = (
            DriverPartition.plausible(asked.fromMs), DriverPartition.plausible(asked.untilMs)
        )
        if waiting[number] != asked { changed.insert(number) }
        waiting[number] = asked
    }

    /// A car's latest reading may be of no time that is known.
    private static func plausible(_ ms: Int64) -> Int64 {
        min(max(ms, UTC.plausible.lowerBound), UTC.plausible.upperBound)
    }

    /// Before it is taken, the readings that wait for the end of the cycle must be judged: it says otherwise only of later ones.
    public func mustWait(for action: Action, of number: Int?) -> Bool {
        switch action.kind {
        case .settings: mustWaitForClock
        case .tripStart, .tripStop: false
        case .registration, .service, .acknowledgement, .silence, .triage, .pollRequest, .pollAnswer, .tripDiscard,
            .tripTag,
            .driving, .assignment, .scanRequest, .scan, .support, .tripSummary, .weather:
            number.map { loading[$0] != nil } ?? false
        }
    }

    /// So must they before the clock is set back.
    public var mustWaitForClock: Bool { !loading.isEmpty }

    /// Takes an action that may change by what somebody is judged. `number` is nil while nothing is known of the car.
    ///
    /// - Parameters:
    ///   - lastMs: of the car's latest reading; `.min`: it has not reported, `.max`: it is not known.
    ///   - leastMs: of what was before it a part may be deleted: no stretch of that time is judged again.
    public mutating func accept(
        _ action: Action, of number: Int?, lastMs: Int64, offset: Int64, leastMs: Int64 = .min
    ) {
        guard offset >= storedOffset else { return }
        let leastMs = leastMs == .min ? .min : leastMs + DriverPartition.borderReachMs
        if case .settings(let account, let text) = action.kind {
            let fromMs = max(action.ts, leastMs)
            if account == InstallationLimits.account {
                return apply(limits: text, action, fromMs: fromMs, offset: offset)
            }
            changedSettings.append(SettingsChange(account: account, fromMs: fromMs, offset: offset, leastMs: leastMs))
            // Also of drives that are over by then: the next one may be its, too.
            for (number, live) in lives
            where live.lastMs >= leastMs && live.watch.knows(account, since: live.fromMs) {
                ask(number, fromMs: fromMs, untilMs: .max, offset: offset, isLate: true)
            }
            isFull = true
            return
        }
        guard let vehicle = action.vehicle else { return }
        guard isNew(action, of: vehicle) else {
            // Who comes first is kept all the same.
            if case .registration = action.kind, let number, number < cars.count {
                cars[number].ownedMs = min(cars[number].ownedMs, action.ts)
            }
            return
        }
        // Marks alone are nothing to judge: who drives is read with the first reading.
        let number = lastMs == .min ? nil : number
        switch action.kind {
        // A scan that the car did not answer says nothing, and nobody that takes over would know of it.
        case .scan(let scan):
            guard scan.isDone else { return }
            scanned.insert(vehicle)
        case .driving(let fromMs):
            if let number { drive(number, fromMs, action, lastMs: lastMs, offset: offset, leastMs: leastMs) }
        case .assignment, .registration:
            if let number {
                know(number, lastMs: lastMs)
                let fromMs = isFirstOwner(action, of: number) ? Int64.min : action.ts
                if lastMs >= leastMs {
                    ask(number, fromMs: max(fromMs, leastMs), untilMs: .max, offset: offset, isLate: true)
                }
            }
        case .service, .acknowledgement, .silence, .triage, .pollRequest, .pollAnswer, .tripStart, .tripStop,
            .tripDiscard,
            .tripTag, .settings, .scanRequest, .support, .tripSummary, .weather:
            return
        }
        if scanned.contains(vehicle) { askCodes(vehicle, offset: offset) }
    }

    /// A car drives before it is registered: what its first registration says, and be it nobody's name, counts for that time, too.
    private mutating func isFirstOwner(_ action: Action, of number: Int) -> Bool {
        guard case .registration(let registration) = action.kind, registration.car != nil,
            action.ts <= cars[number].ownedMs
        else { return false }
        cars[number].ownedMs = action.ts
        return true
    }

    private mutating func drive(
        _ number: Int, _ fromMs: Int64, _ action: Action, lastMs: Int64, offset: Int64, leastMs: Int64
    ) {
        know(number, lastMs: lastMs)
        let driving = Drivers.Driving(fromMs: fromMs, untilMs: action.ts, account: action.by, id: action.id)
        if let fromMs = lives[number]?.fromMs, lives[number]!.watch.add(driving, since: fromMs) {
            changed.insert(number)
            return
        }
        // It comes before its readings.
        let lastMs = cars[number].lastMs
        let isAtRest = lives[number] == nil && waiting[number] == nil
        if isAtRest, lastMs == .min || fromMs > lastMs && fromMs - lastMs > DriverAlertFold.reachMs { return }
        // It may fill a pause between two drives: the later one began earlier then.
        let untilMs = action.ts + Drivers.pauseMsMax + Drivers.beginMsMax
        guard untilMs >= leastMs, max(lastMs, lives[number]?.lastMs ?? .min) >= leastMs else { return }
        ask(
            number, fromMs: max(fromMs - Drivers.pauseMsMax, leastMs), untilMs: untilMs, offset: offset, isLate: false)
    }

    /// From now on it is watched.
    mutating func know(_ number: Int, lastMs: Int64) {
        while cars.count <= number { cars.append(Car()) }
        guard cars[number].standing != .watched else { return }
        (cars[number].standing, cars[number].lastMs) = (.watched, lastMs)
    }

    public mutating func askCodes(_ vehicle: VehicleID, offset: Int64) {
        guard codes[vehicle] == nil else { return }
        codes[vehicle] = offset
        changedCodes.insert(vehicle)
    }

    public func isScanned(_ vehicle: VehicleID) -> Bool { scanned.contains(vehicle) }
}
