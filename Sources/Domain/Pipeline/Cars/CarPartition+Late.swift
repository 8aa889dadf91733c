internal import Basics
internal import Codecs
public import Fleet
internal import Trips

/// The late path: readings and cuts older than their car's open minute, and cars whose state is not in memory.
///
/// At the end of a cycle, after the cycle's rows and marks are in the database, the trips that the late readings and cuts
/// touch are read back, united with them and folded again. Rows that differ from the stored ones are corrections.
extension CarPartition {
    public var hasLate: Bool { !late.isEmpty }

    /// Questions of `resolve` to the store that come next, one a car.
    public var lateQueries: [HistoryQuery] {
        late.map { number, all in
            let late = all.round().now
            var times = late.readings.map(\.ts) + late.reopening.map(\.reading.ts) + late.cuts
            // The bag may take readings from the minute's start on: the trip that they would continue is needed, too.
            if !late.reopening.isEmpty { times.append(openMinute(number, late)) }
            let (fromMs, toMs) = (times.min()!, times.max()!)
            let reachMs = rules.reachMs(from: fromMs, to: toMs)
            return HistoryQuery(
                vehicle: VehicleID(String(decoding: keys.key(number), as: UTF8.self))!,
                fromMs: fromMs - reachMs, toMs: max(toMs + reachMs, late.reachMs),
                openMs: openMinute(number, late))
        }
    }

    /// The start of the stretch that is in the bag, or that goes there again.
    private func openMinute(_ number: Int, _ late: LateReadings) -> Int64 {
        late.reopening.first.map { stretch(number, $0.reading.ts).lowerBound } ?? cars[number].openMs
    }

    /// Folds the late readings in and puts the rows that follow into `rows`: of each car those of a day. What is left, and
    /// what needs more of the history, stays late: `hasLate` says so, and it is asked for again.
    ///
    /// Precondition: the histories are those of a database that holds everything handed over so far. `nextOffset` is the
    /// partition's.
    public mutating func resolve(_ histories: [VehicleID: CarHistory], nextOffset: Int64) {
        precondition(rows.isEmpty)
        for (number, all) in late.sorted(by: { $0.key < $1.key }) {
            let vehicle = VehicleID(String(decoding: keys.key(number), as: UTF8.self))!
            let (now, rest) = all.round()
            if let reachMs = resolve(number, now, histories[vehicle] ?? .none, nextOffset: nextOffset) {
                late[number]!.reachMs = reachMs
                continue
            }
            late[number] = rest
            // Of the stretch that is to be opened again the last reading is known already.
            if let last = rest?.reopening.map(\.reading.ts).max(), cars[number].lastMs != .max {
                cars[number].lastMs = max(cars[number].lastMs, last)
            }
        }
    }

    /// Returns nil when it is done, else how far the history has to reach; nothing is changed then.
    private mutating func resolve(
        _ number: Int, _ late: LateReadings, _ history: CarHistory, nextOffset: Int64
    ) -> Int64? {
        let isReopening = !late.reopening.isEmpty
        // The state goes back behind the bag, where cuts may be forgotten already.
        for cut in history.cuts { _ = cuts[number, default: TripCuts()].insert(cut) }
        let open =
            isReopening ? stretch(number, late.reopening[0].reading.ts) : cars[number].openMs..<cars[number].openEndMs
        let stored = history.minutes.flatMap(\.minute.readings).filter { !open.contains($0.ts) }
        let united = (stored + late.readings).unioned()
        // Everything was there already: a repeat changes nothing, and a cut where nothing is neither.
        let isRepeat = united == stored && late.cuts.isEmpty && cars[number].lastMs != .max
        if !isReopening, united.isEmpty || isRepeat { return nil }

        var (minutes, trips, drive) = Drive.whole(
            united, cuts: TripCuts(history.cuts), from: start(of: united, history), rules: rules)
        let isLatest = isReopening || minutes.last.map { $0.startMs >= history.lastMinuteMs ?? .min } ?? false
        if let next = history.next, next.isFromBefore {
            // Of the latest only the open stretch is left, which is added to whatever comes of this.
            guard let crossing = drive.crossing(next.startMs), keepsRules(drive, history),
                isLatest || next.carry.isEmpty || next.carry == crossing.carry
            else { return next.startMs }
            if !isLatest { trips[trips.count - 1] = crossing.ended }
        } else if let next = history.next, let trip = drive.trip, !keepsRules(drive, history) {
            // It began at another time, and by the rules of that time it may go on in the next one.
            let gapMs = rules.inForce(at: trip.startMs).tripGapMs
            if next.startMs - trip.endMs <= gapMs { return next.startMs }
        }
        if isReopening { reopen(number, late, history) }
        fold(number, late, history, (minutes, trips, drive), isLatest: isLatest, nextOffset)
        return nil
    }

    /// Whether the last of the touched trips is folded by the rules by which it is stored: then what follows it is another one,
    /// or goes on with it, as before.
    private func keepsRules(_ drive: Drive, _ history: CarHistory) -> Bool {
        guard let trip = drive.trip, let stored = history.trips.last?.trip else { return true }
        return rules.inForce(at: trip.startMs) == rules.inForce(at: stored.startMs)
    }

    /// Where the first of the touched trips is from before, the drive as it stands there; nil: nothing is before.
    private func start(of readings: [CarReading], _ history: CarHistory) -> Drive? {
        guard let first = history.trips.first?.trip, first.isFromBefore, let ts = readings.first?.ts,
            ts >= first.startMs
        else { return nil }
        return Drive.resumed(first, before: history.before, rules: rules)
    }

    private mutating func fold(
        _ number: Int, _ late: LateReadings, _ history: CarHistory,
        _ folded: (minutes: [VehicleMinute], trips: [Trip], drive: Drive), isLatest: Bool, _ nextOffset: Int64
    ) {
        let (minutes, trips, drive) = folded
        let isReopening = !late.reopening.isEmpty
        var before = state(number, &scratch)
        let correct = Corrector(history: history, revisedMs: late.pushedMs)
        drop(history, kept: minutes, number)
        let days = days(of: minutes, history)
        for minute in minutes {
            if let correction = correct.minute(minute) { rows.put(minute, of: number, &cars, correction: correction) }
        }
        if isLatest {
            // A trip that was the latest, and that none of these readings touches, is over.
            if cars[number].isOpen, cars[number].storedCount == 0, let trip = before.drive.trip,
                !history.trips.contains(where: { $0.trip.startMs == trip.startMs })
            {
                rows.put(trip, isOpen: false, state: nil, of: number, &cars)
            }
            before.drive = drive
            before.dayMs = UTC.day(of: drive.trip?.endMs ?? cars[number].openMs)
            before.day = days[before.dayMs] ?? history.otherMinutesOfDay[before.dayMs] ?? DriveTotals()
            if let end = drive.trip?.endMs, cars[number].openMs == .min { cars[number].lastMs = end }
        } else if let day = days[before.dayMs] {
            before.day = day
        }
        store(before, number, history, trips: trips, days: days, isLatest: isLatest, nextOffset, correct)
        keep(before, number)
        guard isReopening, late.written > 0 else { return }
        write(number, prefix: Int(cars[number].storedCount) + late.written, nextOffset: late.writtenOffset)
        if late.written < late.reopening.count {
            cars[number].firstOffset = late.reopening[late.written].offset
            cars[number].sinceMs = late.sinceMs
        }
    }

    /// Puts the stored readings of the stretch that the state ends in, and those that came since, into the bag.
    private mutating func reopen(_ number: Int, _ late: LateReadings, _ history: CarHistory) {
        open(number, at: late.reopening[0].reading.ts)
        let open = cars[number].openMs..<cars[number].openEndMs
        for minute in history.minutes {
            for reading in minute.minute.readings where open.contains(reading.ts) {
                cars[number].bag.append(reading, &chains)
            }
        }
        cars[number].storedCount = cars[number].bag.count
        for (reading, _) in late.reopening { cars[number].bag.append(reading, &chains) }
        cars[number].firstOffset = late.reopening[0].offset
        cars[number].sinceMs = late.sinceMs
    }

    /// Stretches that are stored and whose start a cut moved.
    private mutating func drop(_ history: CarHistory, kept minutes: [VehicleMinute], _ number: Int) {
        var starts = Set(minutes.map(\.startMs))
        if cars[number].storedCount > 0 { starts.insert(cars[number].openMs) }
        for row in history.minutes where !starts.contains(row.minute.startMs) {
            rows.droppedMinutes.append((Int32(number), row.minute.startMs))
        }
    }

    private func days(of minutes: [VehicleMinute], _ history: CarHistory) -> [Int64: DriveTotals] {
        var days: [Int64: DriveTotals] = [:]
        for minute in minutes {
            let day = UTC.day(of: minute.startMs)
            days[day] = (days[day] ?? history.otherMinutesOfDay[day] ?? DriveTotals()) + minute.totals
        }
        return days
    }

    /// The state before the open minute is known again: writes trips, days and what of the open minute is stored.
    private mutating func store(
        _ before: CarState, _ number: Int, _ history: CarHistory, trips: [Trip], days: [Int64: DriveTotals],
        isLatest: Bool, _ nextOffset: Int64, _ correct: Corrector
    ) {
        var (after, trips, days) = (before, trips, days)
        let wasOpen = cars[number].isOpen
        if cars[number].storedCount > 0 {
            readBag(number, prefix: Int(cars[number].storedCount))
            let (totals, ended) = after.add(minute: readings, cuts: cuts(number))
            let trip = after.drive.trip!
            let minute = VehicleMinute(
                startMs: cars[number].openMs, tripStartMs: trip.startMs, totals: totals, readings: readings)
            if isLatest, let correction = correct.minute(minute) {
                rows.put(minute, of: number, &cars, correction: correction)
            }
            // The open minute's trip goes on from the folded ones, or begins; one that was not touched stays last.
            if isLatest {
                if let ended { trips[trips.count - 1] = ended } else if !trips.isEmpty { trips.removeLast() }
                trips.append(trip)
            }
            days[after.dayMs] = after.day
        }
        after.nextOffset = cars[number].firstOffset == .max ? nextOffset : cars[number].firstOffset
        if isLatest { cars[number].isOpen = after.drive.trip.map { isLeftOpen($0, number) } ?? false }
        for trip in trips {
            let isLast = isLatest && trip == trips.last
            let isOpen = isLast && cars[number].isOpen
            let correction = correct.trip(trip, isOpen: isOpen)
            if isLast { put(latest: after, number, isOpen: isOpen, correction ?? .none) }
            if !isLast, let correction {
                rows.put(trip, isOpen: isOpen, state: nil, of: number, &cars, correction: correction)
            }
        }
        // The latest trip is another one, but the state beside it changed with the sums of its day.
        if !isLatest, after.drive.trip != nil { put(latest: after, number, isOpen: wasOpen, .none) }
        let starts = Set(trips.map(\.startMs))
        for row in history.trips where !starts.contains(row.trip.startMs) {
            rows.droppedTrips.append((Int32(number), row.trip.startMs))
        }
        for (day, totals) in days.sorted(by: { $0.key < $1.key }) {
            if let correction = correct.day(day, totals) {
                rows.put(day: day, totals, of: number, &cars, correction: correction)
            }
        }
    }

    /// While more of the trip is in memory only, the clock counts as it was when that came: when it is written it is asked again.
    private func isLeftOpen(_ trip: Trip, _ number: Int) -> Bool {
        isOpen(trip, number, clockMs: cars[number].firstOffset == .max ? clockMs : cars[number].sinceMs)
    }

    private mutating func put(
        latest state: CarState, _ number: Int, isOpen: Bool, _ correction: CarRows.Correction
    ) {
        scratch.removeAll(keepingCapacity: true)
        state.pack(to: &scratch)
        rows.put(state.drive.trip!, isOpen: isOpen, state: scratch, of: number, &cars, correction: correction)
    }
}

extension CarPartition.LateReadings {
    /// Read back at once are trips around a day of what is late, however far apart the rest lies; what opens the latest
    /// stretch again comes last.
    func round() -> (now: Self, rest: Self?) {
        let times = readings.map(\.ts) + cuts
        guard let firstMs = times.min() else { return (self, nil) }
        let lastMs = firstMs + UTC.msPerDay
        let isWhole = (times.max() ?? .min) <= lastMs && reopening.allSatisfy { $0.reading.ts <= lastMs }
        if isWhole { return (self, nil) }
        var (now, rest) = (self, self)
        now.readings.removeAll { $0.ts > lastMs }
        now.cuts.removeAll { $0 > lastMs }
        now.reopening = []
        rest.readings.removeAll { $0.ts <= lastMs }
        rest.cuts.removeAll { $0 <= lastMs }
        rest.reachMs = .min
        return (now, rest)
    }
}

/// Which rows late readings changed, and the revision that a changed row gets.
private struct Corrector {
    private let minutes: [Int64: CarHistory.Minute]
    private let trips: [Int64: CarHistory.TripRow]
    private let days: [Int64: CarHistory.Day]
    private let revisedMs: Int64?

    init(history: CarHistory, revisedMs: Int64) {
        minutes = Dictionary(uniqueKeysWithValues: history.minutes.map { ($0.minute.startMs, $0) })
        trips = Dictionary(uniqueKeysWithValues: history.trips.map { ($0.trip.startMs, $0) })
        days = history.days
        self.revisedMs = UTC.stamp(revisedMs)
    }

    /// Nil: the row stays as it is.
    func minute(_ minute: VehicleMinute) -> CarRows.Correction? {
        guard let stored = minutes[minute.startMs] else { return CarRows.Correction.none }
        return stored.minute == minute ? nil : next(stored.revision)
    }

    func trip(_ trip: Trip, isOpen: Bool) -> CarRows.Correction? {
        guard let stored = trips[trip.startMs] else { return CarRows.Correction.none }
        if stored.trip == trip { return stored.isOpen == isOpen ? nil : CarRows.Correction.none }
        return next(stored.revision)
    }

    func day(_ day: Int64, _ totals: DriveTotals) -> CarRows.Correction? {
        guard let stored = days[day] else { return CarRows.Correction.none }
        return stored.totals == totals ? nil : next(stored.revision)
    }

    private func next(_ revision: Int32) -> CarRows.Correction {
        CarRows.Correction(revision: revision + 1, revisedMs: revisedMs)
    }
}
