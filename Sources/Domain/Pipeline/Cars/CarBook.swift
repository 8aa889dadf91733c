internal import Basics
public import Codecs
public import Fleet
public import Trips

/// The cars of one partition. Facts in (readings, ticks), rows out; no clock and no I/O.
///
/// A car's open minute is a bag of readings in any order; a reading of a later minute closes it. Where a driver's mark
/// cuts a minute, each stretch of it takes the minute's place (`CarBook+Cuts.swift`). What a closed minute adds up to
/// follows from the state before it and the set of its readings (the live path). A reading older than the open minute
/// waits until the end of the cycle, when the trips that it touches are read back and folded again with it (the late
/// path, `CarBook+Late.swift`). Both run the same `Drive`.
///
/// Which rows are written is decided by the log alone: a minute goes out when a later one begins, when a mark comes, or at
/// a tick when it has waited for a minute or its trip may be over. What is in memory only is read again from `replayFrom` by
/// the worker that takes over. docs/decisions/0006 has the reasons.
public struct CarBook {
    struct Car {
        /// The latest reading that counts, in the bag or before it; `.min` when there is none.
        var lastMs = Int64.min
        /// The open stretch: from its start, the key of its row, to before its end; both `.min` when there is none.
        var openMs = Int64.min
        var openEndMs = Int64.min
        var bag = SampleBag()
        /// How many of the bag's readings, from its start, are in the database.
        var storedCount: UInt32 = 0
        var isOpen = false
        /// Offset of the first record that is in memory only; `.max` when there is none.
        var firstOffset = Int64.max
        /// Records before it were in the database when the book was loaded.
        var skipBefore: Int64 = 0
        /// The partition's clock when the first record that is in memory only came, else when the bag was written.
        var sinceMs: Int64 = 0
        /// `CarState` after the last closed minute, packed; empty when there is none.
        var state = ByteChains.Chain()
        // Places in `rows` of what this cycle wrote for the car last; a row of the same key is replaced.
        var minuteRow: Int32 = -1
        var tripRow: Int32 = -1
        var dayRow: Int32 = -1
    }

    /// A bag that is in memory only for this long by the partition's clock is written at a tick.
    static let openAgeMsMax: Int64 = 60_000
    /// A written bag without a new reading for this long is folded and its memory freed.
    static let idleMsMax: Int64 = 600_000

    public private(set) var rules: TripRuleTimeline
    /// Where a new car's key must belong; nil: it is not asked.
    private let place: KeyPlace?
    var cars: [Car] = []
    var keys = KeyIndex()
    var chains = ByteChains()
    public internal(set) var rows = CarRows()
    /// Readings older than their car's open minute, and cuts before its end, by car.
    var late: [Int: LateReadings] = [:]
    /// Of cars with drivers' marks, all cuts since the minute of the last reading before the open stretch.
    var cuts: [Int: TripCuts] = [:]
    // Which cars are in memory: CarBook+Idle.swift.
    let idleMs: Int64
    var heldSinceMs = Int64.min
    var newVehicles: Set<VehicleID> = []
    /// The greatest tick seen; 0 before the first.
    public private(set) var clockMs: Int64
    /// Records before it were processed before this book was loaded: their rows are in the database.
    let storedOffset: Int64
    private var replay: (offset: Int64, clockMs: Int64)

    // Reused, so that the hot path allocates nothing.
    var scratch: [UInt8] = []
    var readings: [CarReading] = []

    struct LateReadings {
        var readings: [CarReading] = []
        /// Readings of the minute that the state ends in, whose bag is not in memory, with their offsets.
        var reopening: [(reading: CarReading, offset: Int64)] = []
        /// The clock when the first of those came.
        var sinceMs: Int64 = 0
        /// How many of them a tick would have written, and the offset after that tick.
        var written = 0
        var writtenOffset: Int64 = 0
        var cuts: [Int64] = []
        /// When the last late reading or mark was pushed, by the broker's stamp.
        var pushedMs: Int64 = .min
        /// What is read back reaches to here at least: the trips after those that are touched change with them.
        var reachMs = Int64.min

        // In place: a list that is taken out, added to and put back is copied for each of its readings.
        mutating func take(_ reading: CarReading, pushedMs: Int64) {
            readings.append(reading)
            self.pushedMs = max(self.pushedMs, pushedMs)
        }

        mutating func reopen(with reading: CarReading, _ offset: Int64, pushedMs: Int64, clockMs: Int64) {
            if reopening.count == written { sinceMs = clockMs }
            reopening.append((reading, offset))
            self.pushedMs = max(self.pushedMs, pushedMs)
        }
    }

    /// `progress` is where the partition stands in the database; the records to feed in begin at its `replayFrom`.
    public init(
        rules: TripRuleTimeline, progress: CarProgress, place: KeyPlace? = nil, idleMs: Int64 = CarBook.idleMs
    ) {
        (self.rules, self.place, self.idleMs) = (rules, place, idleMs)
        storedOffset = progress.nextOffset
        clockMs = progress.replayClockMs
        replay = (progress.replayFrom, progress.replayClockMs)
    }

    public var count: Int { cars.count }
    public func vehicle(_ car: Int32) -> ArraySlice<UInt8> { keys.key(Int(car)) }
    public func name(_ number: Int) -> VehicleID { VehicleID(String(decoding: keys.key(number), as: UTF8.self))! }
    /// Of the car's latest reading; `.min`: it has none, `.max`: it is not known.
    public func lastMs(_ number: Int) -> Int64 { cars[number].lastMs }
    /// Nil: it has not reported.
    public func number(of vehicle: VehicleID) -> Int? {
        unsafe Array(vehicle.text.utf8).withUnsafeBytes { unsafe keys.find($0) }
    }
    /// The readings of the car's open minute that are in memory, by time, one a time.
    public mutating func openReadings(_ number: Int) -> [CarReading] {
        readBag(number, prefix: .max)
        return readings
    }

    /// Where the next owner of the partition has to begin reading, and the clock at that place.
    public var replayFrom: (offset: Int64, clockMs: Int64) { replay }

    // MARK: Loading

    /// A car as the database knows it: the packed state beside its latest trip, whether that is open, and all cuts since
    /// the minute that it ends in. Returns false when the state cannot be read; the car is then folded again from its
    /// stored minutes when it next reports.
    @discardableResult
    public mutating func load(
        vehicle: VehicleID, state bytes: [UInt8]?, isOpen: Bool, cuts times: [Int64] = []
    ) -> Bool {
        let number = unsafe Array(vehicle.text.utf8).withUnsafeBytes { unsafe keys.add($0) }
        var car = Car()
        defer {
            precondition(number == cars.count)
            cars.append(car)
        }
        if !times.isEmpty { cuts[number] = TripCuts(times) }
        guard let bytes else { return true }
        guard let state = try? CarState(bytes, rules: rules), let trip = state.drive.trip else {
            // Later than any reading: whatever comes takes the late path, which reads the stored minutes.
            car.lastMs = .max
            return false
        }
        car.lastMs = trip.endMs
        car.isOpen = isOpen
        car.skipBefore = state.nextOffset
        chains.append(bytes, to: &car.state)
        return true
    }

    /// The car's latest trip begins where its row says: an upgrade cut it, and the packed state still is of the whole.
    public mutating func cut(vehicle: VehicleID, at startMs: Int64, totals: DriveTotals) {
        guard let number = number(of: vehicle), !cars[number].state.isEmpty else { return }
        var state = state(number, &scratch)
        state.drive.cut(at: startMs, totals: totals)
        keep(state, number)
    }

    /// A car whose state could not be read and whose latest trip is open, which the clock may end before the car reports
    /// again: the state is made from that trip's stored readings and the stored sums of the day that it reached.
    ///
    /// - Parameters:
    ///   - part: the stored trip, where it is from before.
    ///   - before: the readings of the trip before it, where `part` has no carry.
    public mutating func rebuild(
        vehicle: VehicleID, readings: [CarReading], part: Trip?, before: [CarReading], day: DriveTotals
    ) {
        let start = part.map { Drive.resumed($0, before: before, rules: rules) }
        let (_, _, drive) = Drive.whole(readings.unioned(), from: start, rules: rules)
        guard let number = unsafe Array(vehicle.text.utf8).withUnsafeBytes({ unsafe keys.find($0) }),
            let trip = drive.trip
        else { return }
        var state = CarState(rules: rules)
        (state.drive, state.dayMs, state.day) = (drive, UTC.day(of: trip.endMs), day)
        keep(state, number)
        (cars[number].lastMs, cars[number].isOpen) = (trip.endMs, true)
    }

    // MARK: Live path

    /// Takes one reading, and returns the number of its car; nil: it is not in memory, and nothing is taken.
    ///
    /// - Throws: `DecodeError` when `key` is new and no vehicle id, or does not belong here; nothing is taken then.
    @inline(__always)
    @discardableResult
    public mutating func take(
        key: UnsafeRawBufferPointer, _ reading: borrowing CarReading, offset: Int64, pushedMs: Int64
    ) throws(DecodeError) -> Int? {
        guard let number = if let known = unsafe keys.find(key) { known } else { try unsafe addCar(key) } else {
            return nil
        }
        take(number, reading, offset: offset, pushedMs: pushedMs)
        return number
    }

    @inline(__always)
    private mutating func take(
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
                takeLate(copy reading, number, offset: offset, pushedMs: pushedMs)
                return
            }
            close(number, offset: offset)
        } else if lastMs != .min, lastMs == .max || ts < stretch(number, lastMs).upperBound {
            takeLate(copy reading, number, offset: offset, pushedMs: pushedMs)
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

    /// What lies before the minute of the last reading decides nothing on the live path.
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
    private mutating func takeLate(_ reading: CarReading, _ number: Int, offset: Int64, pushedMs: Int64) {
        let lastMs = cars[number].lastMs
        if cars[number].openMs == .min, lastMs != .max, stretch(number, lastMs).contains(reading.ts) {
            late[number, default: LateReadings()].reopen(with: reading, offset, pushedMs: pushedMs, clockMs: clockMs)
            cars[number].lastMs = max(lastMs, reading.ts)
            return
        }
        // Between `replayFrom` and `storedOffset` it was written before this book was loaded.
        if offset < storedOffset, lastMs != .max { return }
        late[number, default: LateReadings()].take(reading, pushedMs: pushedMs)
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
    private mutating func close(_ number: Int, offset: Int64) {
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

    // MARK: Rules

    /// Takes a set of rules, in force from `fromMs` on, but not before any reading that the log can hold until here: no trip is
    /// folded again because of it. Returns it as it counts; nil: it changes nothing, or was taken before.
    public mutating func take(
        rules new: TripRules, fromMs: Int64, offset: Int64, pushedMs: Int64
    ) -> TripRuleTimeline.Entry? {
        guard offset >= storedOffset else { return nil }
        // A log without stamps, or with stamps that went back, cannot say how late readings are at most: the readings can, and of
        // cars that are not in memory the clock.
        let latestMs = cars.reduce(clockMs == 0 ? .min : clockMs - idleMs) {
            $1.lastMs == .max ? $0 : max($0, $1.lastMs)
        }
        let leastMs = max(TripRuleTimeline.leastMs(pushedMs: pushedMs), latestMs + 1)
        let entry = TripRuleTimeline.Entry(fromMs: max(fromMs, leastMs), rules: new)
        return rules.insert(entry) ? entry : nil
    }

    // MARK: Ticks

    /// Time passes. Every tick writes what is due, also one that does not move the clock: an import's closing tick may come
    /// right behind a worker's. Ticks between `replayFrom` and `storedOffset` move the clock only: what they wrote is written.
    public mutating func tick(_ ts: Int64, offset: Int64) {
        clockMs = max(clockMs, ts)
        guard offset >= storedOffset else { return }
        replay = (offset + 1, clockMs)
        for number in late.keys where isReopening(number) { note(number, offset: offset) }
        for number in cars.indices {
            if late.isEmpty || !isReopening(number) { look(number, offset: offset) }
            if cars[number].firstOffset < replay.offset {
                replay = (cars[number].firstOffset, cars[number].sinceMs)
            }
        }
    }

    /// The clock was moved wrongly, and goes on from `ts`. All that is in memory only is written, as by a tick that is later than
    /// everything; trips that only the clock had ended are open again.
    public mutating func setBack(_ ts: Int64, offset: Int64) {
        defer { clockMs = ts }
        guard offset >= storedOffset else { return }
        for number in late.keys where isReopening(number) { note(number, offset: offset, isDue: true) }
        for number in cars.indices where cars[number].firstOffset != .max {
            write(number, prefix: .max, nextOffset: offset + 1)
        }
        clockMs = ts
        replay = (offset + 1, ts)
        for number in cars.indices {
            cars[number].sinceMs = min(cars[number].sinceMs, ts)
            let lastMs = cars[number].lastMs
            guard lastMs != .max, lastMs != .min, !cars[number].isOpen, !isReopening(number) else { continue }
            if ts <= lastMs + gapMs(number), !(cuts(number)?.separate(lastMs, .max) ?? false) {
                end(number, offset: offset, isOpen: true)
            }
        }
    }

    /// Its bag is not in memory yet.
    func isReopening(_ number: Int) -> Bool {
        cars[number].openMs == .min && !(late[number]?.reopening.isEmpty ?? true)
    }

    /// Notes what a tick would have written if the bag were in memory.
    private mutating func note(_ number: Int, offset: Int64, isDue: Bool = false) {
        var waiting = late[number]!
        let isDue =
            isDue || mayBeOver(cars[number].lastMs)
            || clockMs - waiting.sinceMs >= CarBook.openAgeMsMax
        if waiting.reopening.count > waiting.written, isDue {
            (waiting.written, waiting.writtenOffset) = (waiting.reopening.count, offset + 1)
            late[number] = waiting
        }
        if waiting.written < waiting.reopening.count, waiting.reopening[waiting.written].offset < replay.offset {
            replay = (waiting.reopening[waiting.written].offset, waiting.sinceMs)
        }
    }

    private mutating func look(_ number: Int, offset: Int64) {
        let (lastMs, sinceMs) = (cars[number].lastMs, cars[number].sinceMs)
        // A state that could not be read says nothing of the time.
        guard lastMs != .max, lastMs != .min else { return }
        let mayBeOver = mayBeOver(lastMs)
        if cars[number].firstOffset != .max {
            if mayBeOver || clockMs - sinceMs >= CarBook.openAgeMsMax {
                write(number, prefix: .max, nextOffset: offset + 1)
            }
        } else if mayBeOver, cars[number].isOpen, clockMs > lastMs + gapMs(number) {
            end(number, offset: offset)
        } else if cars[number].openMs != .min, clockMs - sinceMs >= CarBook.idleMsMax {
            close(number, offset: offset + 1)
        }
    }

    /// By the clock, whichever of the sets it began under: what is in memory only is written then, so that when it is follows
    /// from the last reading alone.
    private func mayBeOver(_ lastMs: Int64) -> Bool { clockMs > lastMs + rules.gapsMs(ofTripTo: lastMs).lowerBound }

    /// The silence that ends the running trip. The trip is looked at only where two days saw more than one.
    private mutating func gapMs(_ number: Int) -> Int64 {
        let gaps = rules.gapsMs(ofTripTo: cars[number].lastMs)
        guard gaps.lowerBound < gaps.upperBound else { return gaps.lowerBound }
        var state = state(number, &scratch)
        if cars[number].openMs != .min {
            readBag(number, prefix: .max)
            _ = state.add(minute: readings, cuts: cuts(number))
        }
        return state.drive.trip.map { rules.inForce(at: $0.startMs).tripGapMs } ?? gaps.lowerBound
    }

    /// The trip is over by the clock or by its driver, or not over after all: nothing changes in it but that.
    mutating func end(_ number: Int, offset: Int64, isOpen: Bool = false) {
        var state = state(number, &scratch)
        if cars[number].openMs != .min {
            readBag(number, prefix: .max)
            _ = state.add(minute: readings, cuts: cuts(number))
        }
        state.nextOffset = offset + 1
        cars[number].isOpen = isOpen
        scratch.removeAll(keepingCapacity: true)
        state.pack(to: &scratch)
        rows.put(state.drive.trip!, isOpen: isOpen, state: scratch, of: number, &cars)
    }

    // MARK: Cycles

    /// The rows were handed over: the next cycle begins.
    public mutating func clearRows() {
        rows.forEachCar { number in
            (cars[number].minuteRow, cars[number].tripRow, cars[number].dayRow) = (-1, -1, -1)
        }
        rows.clear()
    }
}

/// Where a partition of cars stands in the database.
public struct CarProgress: Equatable, Sendable {
    public var nextOffset: Int64
    /// Records from here to `nextOffset` may be needed again: some of them are in no row yet.
    public var replayFrom: Int64
    /// The partition's clock at `replayFrom`; 0 before the first tick.
    public var replayClockMs: Int64

    public init(nextOffset: Int64, replayFrom: Int64, replayClockMs: Int64) {
        (self.nextOffset, self.replayFrom, self.replayClockMs) = (nextOffset, replayFrom, replayClockMs)
    }
}
