public import Codecs
internal import Fleet
internal import Trips

/// Drivers' marks: where one cuts the drive, a trip ends and the next begins (`TripCuts`).
///
/// A mark is part of the log like a reading, and what it changes is decided when it comes, never by where a commit cut:
/// one after all readings of its car ends the open trip; one inside the open stretch splits the bag; an earlier one
/// takes the late path. Each of the first two writes all that is in memory only of its car.
extension CarPartition {
    /// Takes the cut of one mark. False: its car is not in memory, and nothing is taken.
    ///
    /// - Throws: `DecodeError` when `key` is new and no vehicle id, or does not belong here; nothing is taken then.
    @discardableResult
    public mutating func accept(
        key: UnsafeRawBufferPointer, cut: Int64, offset: Int64, pushedMs: Int64
    ) throws(DecodeError) -> Bool {
        // Before it the cut was read with the cars, and what it changed is in the rows.
        guard offset >= storedOffset else { return true }
        guard let number = if let known = unsafe keys.find(key) { known } else { try unsafe addCar(key) } else {
            return false
        }
        accept(cut: cut, number, offset: offset, pushedMs: pushedMs)
        return true
    }

    private mutating func accept(cut: Int64, _ number: Int, offset: Int64, pushedMs: Int64) {
        let lastMs = cars[number].lastMs
        // Nothing is known of the car but its cuts, so these wait for its first reading; or not even that.
        guard lastMs != .min, lastMs != .max else {
            _ = cuts[number, default: TripCuts()].insert(cut)
            if lastMs == .max { addLate(cut: cut, number, pushedMs: pushedMs) }
            return
        }
        let open = stretch(number, lastMs)
        let isInMemory = cars[number].openMs != .min
        let before = isInMemory && cut >= open.lowerBound && cut <= lastMs ? state(number, &scratch) : nil
        let storedStart = before.flatMap { tripStart(number, $0) }
        let isNew = cuts[number, default: TripCuts()].insert(cut)
        if cut < open.lowerBound {
            addLate(cut: cut, number, pushedMs: pushedMs)
        } else if !isNew {
            return
        } else if cut > lastMs {
            end(number, before: cut, offset: offset)
        } else if let before {
            split(number, before, at: cut, storedStart: storedStart, nextOffset: offset + 1)
        } else {
            splitReopening(number, at: cut, nextOffset: offset + 1)
            addLate(cut: cut, number, pushedMs: pushedMs)
        }
    }

    private mutating func addLate(cut: Int64, _ number: Int, pushedMs: Int64) {
        late[number, default: LateReadings()].cuts.append(cut)
        late[number]!.pushedMs = max(late[number]!.pushedMs, pushedMs)
    }

    /// The driver ended the trip after its last reading: it is told at once.
    private mutating func end(_ number: Int, before cut: Int64, offset: Int64) {
        if cars[number].openMs != .min { cars[number].openEndMs = min(cars[number].openEndMs, cut) }
        if isReopening(number) {
            late[number]!.writtenOffset = offset + 1
            late[number]!.written = late[number]!.reopening.count
        } else if cars[number].firstOffset != .max {
            write(number, prefix: .max, nextOffset: offset + 1)
        } else if cars[number].isOpen {
            end(number, offset: offset)
        }
    }

    /// The cut lies in the bag: what is before it is closed, what is after it is the bag. `storedStart` is the start of the
    /// trip under which a part of the bag was stored without the cut.
    private mutating func split(
        _ number: Int, _ before: CarState, at cut: Int64, storedStart: Int64?, nextOffset: Int64
    ) {
        readBag(number, prefix: .max)
        let all = readings
        let place = all.firstIndex { $0.ts >= cut }!
        let (lower, upper) = (Array(all[..<place]), Array(all[place...]))
        var state = before
        state.nextOffset = nextOffset
        var starts: Set<Int64> = []
        if !lower.isEmpty {
            addStretch(lower, key: cars[number].openMs, of: number, &state, &starts)
            keep(state, number)
        }
        let key = stretch(number, upper[0].ts).lowerBound
        let moved = lower.isEmpty && cars[number].storedCount > 0 ? cars[number].openMs : nil
        addStretch(upper, key: key, replacing: moved, of: number, &state, &starts)
        let trip = state.drive.trip!
        cars[number].isOpen = isOpen(trip, number)
        scratch.removeAll(keepingCapacity: true)
        state.pack(to: &scratch)
        let gone = storedStart.flatMap { starts.contains($0) || $0 == trip.startMs ? nil : $0 }
        rows.put(trip, replacing: gone, isOpen: cars[number].isOpen, state: scratch, of: number, &cars)
        cars[number].bag.clear(&chains)
        for reading in upper { cars[number].bag.append(reading, &chains) }
        cars[number].openMs = key
        (cars[number].storedCount, cars[number].firstOffset) = (cars[number].bag.count, .max)
        cars[number].sinceMs = clockMs
    }

    private mutating func addStretch(
        _ stretch: [CarReading], key: Int64, replacing: Int64? = nil, of number: Int, _ state: inout CarState,
        _ starts: inout Set<Int64>
    ) {
        let (totals, ended) = state.add(minute: stretch, cuts: cuts(number))
        if let ended {
            rows.put(ended, isOpen: false, state: nil, of: number, &cars)
            starts.insert(ended.startMs)
        }
        let minute = VehicleMinute(
            startMs: key, tripStartMs: state.drive.trip!.startMs, totals: totals, readings: stretch)
        rows.put(minute, replacing: replacing, of: number, &cars)
        rows.put(day: state.dayMs, state.day, of: number, &cars)
    }

    /// The bag that the cut lies in is not in memory: of the readings that wait for it those before the cut are late, and
    /// the others are written with it.
    private mutating func splitReopening(_ number: Int, at cut: Int64, nextOffset: Int64) {
        guard isReopening(number), var waiting = late[number] else { return }
        waiting.readings += waiting.reopening.filter { $0.reading.ts < cut }.map(\.reading)
        waiting.reopening.removeAll { $0.reading.ts < cut }
        (waiting.written, waiting.writtenOffset) = (waiting.reopening.count, nextOffset)
        late[number] = waiting
    }
}
