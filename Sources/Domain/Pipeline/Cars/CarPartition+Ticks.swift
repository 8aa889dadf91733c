internal import Fleet
public import Trips

/// Records that move the partition on beside readings: ticks, a clock that is set back, and trip rules.
extension CarPartition {
    // MARK: Rules

    /// Takes a set of rules, in force from `fromMs` on, but not before any reading that the log can hold until here: no trip is
    /// folded again because of it. Returns it as it counts; nil: it changes nothing, or was taken before.
    public mutating func apply(
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
            || clockMs - waiting.sinceMs >= CarPartition.openAgeMsMax
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
            if mayBeOver || clockMs - sinceMs >= CarPartition.openAgeMsMax {
                write(number, prefix: .max, nextOffset: offset + 1)
            }
        } else if mayBeOver, cars[number].isOpen, clockMs > lastMs + gapMs(number) {
            end(number, offset: offset)
        } else if cars[number].openMs != .min, clockMs - sinceMs >= CarPartition.idleMsMax {
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
}
