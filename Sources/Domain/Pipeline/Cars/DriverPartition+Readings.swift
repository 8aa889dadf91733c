internal import Alerts
internal import Basics
public import Fleet

/// Readings as they come: what is in order is judged from memory.
extension DriverPartition {
    /// A reading that `CarPartition` has taken, in whatever order. `clockMs` is the partition's clock before it.
    @inline(__always)
    public mutating func look(
        _ number: Int, _ reading: borrowing CarReading, offset: Int64, pushedMs: Int64, clockMs: Int64
    ) {
        if number < cars.count, cars[number].standing == .unwatched { return }
        see(number, Arrival(reading: copy reading, offset: offset, pushedMs: pushedMs, clockMs: clockMs))
    }

    mutating func see(_ number: Int, _ arrival: Arrival) {
        while cars.count <= number { cars.append(Car()) }
        let ts = arrival.reading.ts
        if let index = lives.index(forKey: number) { return go(on: index, number, arrival) }
        // What it led to was written.
        guard arrival.offset >= storedOffset else {
            cars[number].lastMs = max(cars[number].lastMs, ts)
            // Who is watched is known from the database.
            if cars[number].standing == .unknown { cars[number].standing = .unwatched }
            return
        }
        let lastMs = cars[number].lastMs
        let isNew = lastMs == .min || ts > lastMs && ts - lastMs > DriverAlertFold.reachMs
        if loading[number] != nil || isNew && waiting[number]?.isLatest != true { return load(number, arrival) }
        ask(number, fromMs: ts, arrival, isLate: isLate(ts, lastMs))
    }

    /// True: the reading is of a minute before the latest; neighbours that change places correct nothing.
    private func isLate(_ ts: Int64, _ lastMs: Int64) -> Bool {
        lastMs != .min && lastMs != .max && UTC.minute(of: ts) < UTC.minute(of: lastMs)
    }

    /// Until the end of the cycle, when it is known who drives it.
    private mutating func load(_ number: Int, _ arrival: Arrival) {
        loading[number, default: []].append(arrival)
        loadingCount += 1
        if loadingCount >= DriverPartition.loadingMax { isFull = true }
    }

    private mutating func go(on index: Dictionary<Int, Live>.Index, _ number: Int, _ arrival: Arrival) {
        let ts = arrival.reading.ts
        guard arrival.offset >= lives.values[index].nextOffset else { return }
        guard let lastMs = lives.values[index].watch.lastMs else { return observe(arrival, at: index, number) }
        let fromMs = lives.values[index].fromMs
        if ts <= max(lastMs, lives.values[index].passedMs) {
            guard arrival.offset >= storedOffset else { return }
            return ask(number, fromMs: ts, arrival, isLate: isLate(ts, lastMs))
        }
        var episodes: [Episode] = []
        if ts - lastMs > DriverAlertFold.reachMs {
            lives.values[index].fromMs = ts
        } else if let borderMs = DriverStretch.borderMs(from: fromMs, between: lastMs, and: ts) {
            episodes = lives.values[index].watch.cut(at: borderMs)
            lives.values[index].fromMs = borderMs
        }
        observe(arrival, at: index, number, after: episodes)
    }

    private mutating func observe(
        _ arrival: Arrival, at index: Dictionary<Int, Live>.Index, _ number: Int, after before: [Episode] = []
    ) {
        let episodes = before + lives.values[index].watch.observe(arrival.reading)
        lives.values[index].arrivedMs = arrival.clockMs
        lives.values[index].nextOffset = arrival.offset + 1
        if !episodes.isEmpty, arrival.offset >= storedOffset {
            tell(number, episodes, pushedMs: arrival.pushedMs)
        } else if !lives.values[index].told.all.isEmpty {
            // A shorter pause may be in force from now on.
            nextDueMs = min(nextDueMs, lives.values[index].dueMs)
        }
    }

    mutating func tell(_ number: Int, _ episodes: [Episode], pushedMs: Int64) {
        guard var live = lives[number] else { return }
        var now = Dictionary(live.watch.open.map { ($0.id, $0) }) { first, _ in first }
        for episode in episodes { now[episode.id] = episode }
        transitions += live.told.tell(Array(now.values), cause: AlertCause(pushedMs: pushedMs, isLate: false)) { _ in
            true
        }
        for alert in live.told.changed { alerts[alert.id] = alert }
        live.told = live.told.open
        lives[number] = live
        changed.insert(number)
        nextDueMs = min(nextDueMs, live.dueMs)
    }
}
