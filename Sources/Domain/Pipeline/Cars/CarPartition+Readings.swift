internal import Basics
public import Codecs
public import Fleet
internal import Trips

/// The live path: readings in the order of their car's times.
extension CarPartition {
    /// Takes one reading, and returns the number of its car; nil: it is not in memory, and nothing is taken.
    ///
    /// - Throws: `DecodeError` when `key` is new and no vehicle id, or does not belong here; nothing is taken then.
    @inline(__always)
    @discardableResult
    public mutating func accept(
        key: UnsafeRawBufferPointer, _ reading: borrowing CarReading, offset: Int64, pushedMs: Int64
    ) throws(DecodeError) -> Int? {
        guard let number = if let known = unsafe keys.find(key) { known } else { try unsafe addCar(key) } else {
            return nil
        }
        accept(number, reading, offset: offset, pushedMs: pushedMs)
        return number
    }

    @inline(__always)
    private mutating func accept(
        _ number: Int, _ reading: borrowing CarReading, offset: Int64, pushedMs: Int64
    ) {
        let ts = reading.ts
        if ts < cars[number].openEndMs, ts >= cars[number].openMs {
            if offset >= cars[number].skipBefore { add(copy reading, to: number, offset: offset) }
            return
        }
        guard offset >= cars[number].skipBefore else { return }
        let lastMs = cars[number].lastMs
        if cars[number].openMs != .min {
            if ts < cars[number].openMs {
                addLate(copy reading, number, offset: offset, pushedMs: pushedMs)
                return
            }
            close(number, offset: offset)
        } else if lastMs != .min, lastMs == .max || ts < stretch(number, lastMs).upperBound {
            addLate(copy reading, number, offset: offset, pushedMs: pushedMs)
            return
        }
        if !late.isEmpty { giveUpReopening(number) }
        open(number, at: ts)
        add(copy reading, to: number, offset: offset)
    }

    /// The stretch of a car that a reading at `ts` lies in.
    func stretch(_ number: Int, _ ts: Int64) -> Range<Int64> {
        if !cuts.isEmpty, let cuts = cuts[number] { return cuts.stretch(at: ts) }
        let minute = UTC.minute(of: ts)
        return minute..<(minute + UTC.msPerMinute)
    }

    func cuts(_ number: Int) -> TripCuts? { cuts.isEmpty ? nil : cuts[number] }

    mutating func open(_ number: Int, at ts: Int64) {
        let stretch = stretch(number, ts)
        (cars[number].openMs, cars[number].openEndMs) = (stretch.lowerBound, stretch.upperBound)
    }

    /// Forgets cuts before the minute of the last reading: they decide nothing on the live path.
    private mutating func forgetCuts(_ number: Int, before ts: Int64) {
        cuts[number]!.removeAll(before: ts)
        if cuts[number]!.isEmpty { cuts[number] = nil }
    }

    /// Nil: it may be in the database.
    mutating func addCar(_ key: UnsafeRawBufferPointer) throws(DecodeError) -> Int? {
        guard unsafe VehicleID.isValid(key) else { throw .vehicleInvalid }
        try unsafe place?.check(key)
        guard heldSinceMs == .min || newVehicles.contains(unsafe VehicleID(String(decoding: key, as: UTF8.self))!)
        else { return nil }
        let number = unsafe keys.add(key)
        cars.append(Car())
        rows.vehicles.append(Int32(number))
        return number
    }

    private mutating func add(_ reading: CarReading, to number: Int, offset: Int64) {
        cars[number].bag.append(reading, &chains)
        if reading.ts > cars[number].lastMs { cars[number].lastMs = reading.ts }
        if offset < cars[number].firstOffset {
            cars[number].firstOffset = offset
            cars[number].sinceMs = clockMs
        }
        if cars[number].bag.isFull { compact(number, offset: offset) }
    }

    /// A bag full of repeats: written, then kept as the set that it is.
    private mutating func compact(_ number: Int, offset: Int64) {
        write(number, prefix: .max, nextOffset: offset + 1)
        readBag(number, prefix: .max)
        cars[number].bag.clear(&chains)
        for reading in readings.unioned() { cars[number].bag.append(reading, &chains) }
        cars[number].bag.wasCompacted()
        cars[number].storedCount = cars[number].bag.count
    }

    /// A reading that is not later than what is known of its car.
    private mutating func addLate(_ reading: CarReading, _ number: Int, offset: Int64, pushedMs: Int64) {
        let lastMs = cars[number].lastMs
        if cars[number].openMs == .min, lastMs != .max, stretch(number, lastMs).contains(reading.ts) {
            late[number, default: LateReadings()].reopen(with: reading, offset, pushedMs: pushedMs, clockMs: clockMs)
            cars[number].lastMs = max(lastMs, reading.ts)
            return
        }
        // Between `replayFrom` and `storedOffset` it was written before this partition was loaded.
        if offset < storedOffset, lastMs != .max { return }
        late[number, default: LateReadings()].add(reading, pushedMs: pushedMs)
    }

    /// A later minute begins: readings that waited for their bag are late like any other.
    private mutating func giveUpReopening(_ number: Int) {
        guard var waiting = late[number], !waiting.reopening.isEmpty else { return }
        waiting.readings += waiting.reopening.map(\.reading)
        (waiting.reopening, waiting.written) = ([], 0)
        late[number] = waiting
    }

    /// The first `prefix` readings of the bag into `readings`, in the order of time, one a time.
    func sorted(_ bag: SampleBag, prefix: Int, _ scratch: inout [UInt8], _ out: inout [CarReading]) {
        bag.readings(chains, prefix: prefix, scratch: &scratch, into: &out)
        if !bag.isSorted { out = out.unioned() }
    }

    mutating func readBag(_ number: Int, prefix: Int) {
        let bag = cars[number].bag
        sorted(bag, prefix: prefix, &scratch, &readings)
    }

    func state(_ number: Int, _ scratch: inout [UInt8]) -> CarState {
        guard !cars[number].state.isEmpty else { return CarState(rules: rules) }
        chains.read(cars[number].state, into: &scratch)
        // Packed by this program a moment ago, or checked when it was loaded.
        guard let state = try? CarState(scratch, rules: rules) else { preconditionFailure("a state of our own") }
        return state
    }

    /// Folds the bag into the state and writes its rows; `offset` is that of the record that begins a later minute.
    mutating func close(_ number: Int, offset: Int64) {
        if Int(cars[number].storedCount) < Int(cars[number].bag.count) {
            write(number, prefix: .max, nextOffset: offset)
            // What was written beside the trip is the state after this minute: it need not be folded twice.
            chains.replace(&cars[number].state, with: scratch)
        } else {
            var state = state(number, &scratch)
            readBag(number, prefix: .max)
            _ = state.add(minute: readings, cuts: cuts(number))
            state.nextOffset = offset
            keep(state, number)
        }
        cars[number].bag.clear(&chains)
        (cars[number].openMs, cars[number].openEndMs) = (.min, .min)
        (cars[number].storedCount, cars[number].firstOffset) = (0, .max)
        if cuts(number) != nil { forgetCuts(number, before: UTC.minute(of: cars[number].lastMs)) }
    }

    mutating func keep(_ state: CarState, _ number: Int) {
        scratch.removeAll(keepingCapacity: true)
        state.pack(to: &scratch)
        chains.replace(&cars[number].state, with: scratch)
    }

    /// Writes the rows of the bag's first `prefix` readings, of their trip and day, and of the trip that they ended;
    /// keeps the bag, and leaves the packed state after them in `scratch`. `nextOffset` is the offset after the last
    /// record in them.
    mutating func write(_ number: Int, prefix: Int, nextOffset: Int64) {
        var state = state(number, &scratch)
        let replacing = storedTripStart(number, state)
        readBag(number, prefix: prefix)
        let (totals, ended) = state.add(minute: readings, cuts: cuts(number))
        state.nextOffset = nextOffset
        let trip = state.drive.trip!
        if let ended { rows.put(ended, isOpen: false, state: nil, of: number, &cars) }
        let minute = VehicleMinute(
            startMs: cars[number].openMs, tripStartMs: trip.startMs, totals: totals, readings: readings)
        rows.put(minute, of: number, &cars)
        rows.put(day: state.dayMs, state.day, of: number, &cars)
        cars[number].isOpen = isOpen(trip, number)
        scratch.removeAll(keepingCapacity: true)
        state.pack(to: &scratch)
        rows.put(trip, replacing: replacing, isOpen: cars[number].isOpen, state: scratch, of: number, &cars)
        cars[number].storedCount = UInt32(min(prefix, Int(cars[number].bag.count)))
        cars[number].firstOffset = .max
        cars[number].sinceMs = clockMs
    }

    /// The start of the trip under which a part of the bag is stored, where a reading that came since may have moved it.
    private mutating func storedTripStart(_ number: Int, _ before: CarState) -> Int64? {
        cars[number].bag.isSorted ? nil : tripStart(number, before)
    }

    /// The start of the trip that the stored part of the bag belongs to; nil when nothing of it is stored.
    mutating func tripStart(_ number: Int, _ before: CarState) -> Int64? {
        guard cars[number].storedCount > 0 else { return nil }
        var state = before
        readBag(number, prefix: Int(cars[number].storedCount))
        _ = state.add(minute: readings, cuts: cuts(number))
        return state.drive.trip!.startMs
    }

    /// A later reading would go on with the car's latest trip, by the clock and by the driver.
    func isOpen(_ trip: Trip, _ number: Int) -> Bool { isOpen(trip, number, clockMs: clockMs) }

    func isOpen(_ trip: Trip, _ number: Int, clockMs: Int64) -> Bool {
        clockMs <= trip.endMs + rules.inForce(at: trip.startMs).tripGapMs
            && !(cuts(number)?.separate(trip.endMs, .max) ?? false)
    }
}
