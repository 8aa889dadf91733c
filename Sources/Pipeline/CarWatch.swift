public import Alerts
public import Fleet

/// Which cars of a partition have to be judged for their drivers' alerts: cheap enough to look at every reading.
///
/// Judging itself (DriverWatch) goes over what is stored around a span, so nothing of an alert is kept here: only the
/// limits that the car's drivers may have, and what the last judgement left open. To be asked once too often costs a
/// query; what must never happen is that a reading which opens or ends an alert is passed over.
public struct CarWatch: Sendable {
    /// Readings of one car that must be judged, with all that lies within reach of them.
    public struct Span: Equatable, Sendable {
        public var fromMs, toMs: Int64
        /// When the last record that asks for it was pushed.
        public var pushedMs: Int64
        /// Readings that are older than what was judged before, or other limits for them.
        public var isLate: Bool

        public init(fromMs: Int64, toMs: Int64, pushedMs: Int64, isLate: Bool) {
            (self.fromMs, self.toMs, self.pushedMs, self.isLate) = (fromMs, toMs, pushedMs, isLate)
        }

        mutating func formUnion(_ other: Span) {
            (fromMs, toMs) = (min(fromMs, other.fromMs), max(toMs, other.toMs))
            (pushedMs, isLate) = (max(pushedMs, other.pushedMs), isLate || other.isLate)
        }
    }

    private struct Car {
        /// Nobody drives or owns it: `.none`.
        var limits = CarLimits.none
        /// The minute of a reading before this is judged whatever it holds: others drove or other limits held then, or the
        /// clock has ended by a silence that it says was none.
        var doubtedBeforeMs = Int64.min
        /// A reading from here on is asked about whatever it holds.
        var dueMs = Int64.max
        /// When the clock ends what is open.
        var quietMs = Int64.max
        /// The latest minute that was written; `.min` when there is none.
        var lastMinuteMs = Int64.min
        /// What was asked about already, in which minute.
        var askedMinuteMs = Int64.min
        var asked: UInt8 = 0
        /// Limits whose alert is open: a reading that crosses them says nothing new.
        var open: UInt8 = 0
        var isWatched = false
        /// Its next written minute is judged.
        var isForced = false
    }

    /// So many cars with something open are judged with every reading; of more, only when their minutes are written and
    /// once a limit and minute, so that a fleet in trouble does not hold up itself.
    private let eagerMax: Int

    private var cars: [Car] = []
    /// Something is open in them or may open: each written minute is judged.
    private var active: Set<Int> = []
    private var due: [Int: Span] = [:]
    /// When the last record of any kind was pushed.
    public var lastPushedMs: Int64 = 0

    public init(eagerMax: Int = 32) { self.eagerMax = eagerMax }

    public var hasDue: Bool { !due.isEmpty }
    public func isWatched(_ number: Int) -> Bool { number < cars.count && cars[number].isWatched }

    /// Hands over what must be judged, by car.
    public mutating func takeDue() -> [(number: Int, span: Span)] {
        defer { due.removeAll(keepingCapacity: true) }
        return due.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    public mutating func ask(_ number: Int, _ span: Span) {
        if due[number] == nil { due[number] = span } else { due[number]!.formUnion(span) }
    }

    // MARK: Facts

    /// A reading came, in whatever order.
    @inline(__always)
    public mutating func look(_ number: Int, _ reading: borrowing CarReading, pushedMs: Int64) {
        lastPushedMs = pushedMs
        guard number < cars.count else { return }
        if reading.ts < cars[number].doubtedBeforeMs { cars[number].isForced = true }
        let crossed = cars[number].limits.crossed(by: reading) & ~cars[number].open
        if crossed == 0, reading.ts < cars[number].dueMs { return }
        look(number, crossed, reading.ts, pushedMs)
    }

    /// Once a limit and minute, until it is judged; what crosses it again is judged with its minute.
    private mutating func look(_ number: Int, _ crossed: UInt8, _ ts: Int64, _ pushedMs: Int64) {
        let minuteMs = UTC.minute(of: ts)
        if cars[number].askedMinuteMs != minuteMs { (cars[number].askedMinuteMs, cars[number].asked) = (minuteMs, 0) }
        guard ts >= cars[number].dueMs || crossed & ~cars[number].asked != 0 else {
            cars[number].isForced = true
            return
        }
        // The judgement says from when on to ask again.
        if ts >= cars[number].dueMs { cars[number].dueMs = .max }
        cars[number].asked |= crossed
        ask(number, Span(fromMs: ts, toMs: ts, pushedMs: pushedMs, isLate: false))
    }

    /// A minute of the car was written.
    public mutating func wrote(_ number: Int, minuteMs: Int64) {
        guard isWatched(number) else { return }
        let lastMs = cars[number].lastMinuteMs
        cars[number].lastMinuteMs = max(lastMs, minuteMs)
        // Not later than the spell can begin: nobody's pause is longer.
        let isNewSpell = lastMs == .min || minuteMs - lastMs > DriverWatch.reachMs + UTC.msPerMinute
        if let wheelMs = cars[number].limits.wheelMs, isNewSpell || cars[number].dueMs == .max {
            cars[number].dueMs = minuteMs + wheelMs
        }
        guard cars[number].isForced || active.contains(number) else { return }
        cars[number].isForced = false
        ask(number, Span(fromMs: minuteMs, toMs: minuteMs, pushedMs: lastPushedMs, isLate: minuteMs < lastMs))
    }

    /// Time passed: silence may have ended what is open.
    public mutating func tick(clockMs: Int64, pushedMs: Int64) {
        lastPushedMs = pushedMs
        for number in active where clockMs >= cars[number].quietMs {
            cars[number].quietMs = .max
            let lastMs = cars[number].lastMinuteMs
            ask(number, Span(fromMs: lastMs, toMs: lastMs, pushedMs: pushedMs, isLate: false))
        }
    }

    /// The clock was moved wrongly: what it ended of the last day is judged again, of cars that are watched.
    public mutating func setBack(clockMs: Int64, pushedMs: Int64) {
        lastPushedMs = pushedMs
        for number in cars.indices where cars[number].isWatched && cars[number].lastMinuteMs > clockMs - 86_400_000 {
            let lastMs = cars[number].lastMinuteMs
            ask(number, Span(fromMs: lastMs, toMs: lastMs, pushedMs: pushedMs, isLate: true))
        }
    }

    // MARK: What is known of a car

    private mutating func doubt(_ number: Int, before ms: Int64) {
        cars[number].doubtedBeforeMs = max(cars[number].doubtedBeforeMs, ms)
    }

    /// The limits of all who may drive it now; what is open, when the partition was taken over.
    ///
    /// - Parameter sinceMs: before it other people or limits may have counted.
    public mutating func watch(_ number: Int, limits: CarLimits, sinceMs: Int64) {
        while cars.count <= number { cars.append(Car()) }
        doubt(number, before: sinceMs)
        cars[number].limits = limits
        cars[number].isWatched = true
        // What came while the limits were not known lies in the open minute.
        cars[number].isForced = true
        if let wheelMs = limits.wheelMs, cars[number].lastMinuteMs != .min {
            cars[number].dueMs = min(cars[number].dueMs, cars[number].lastMinuteMs + wheelMs)
        }
    }

    /// Of a partition that is taken over: the car's last reading, the earliest time at which the spell may have begun, and
    /// the parameters that are open.
    ///
    /// - Parameter clockMs: what it has passed may have been ended by silence.
    public mutating func restore(
        _ number: Int, lastMs: Int64, spellMs: Int64, open: [MachineParameter], clockMs: Int64
    ) {
        guard isWatched(number) else { return }
        if clockMs > lastMs + DriverWatch.quietMs { doubt(number, before: lastMs + DriverWatch.reachMs) }
        cars[number].lastMinuteMs = UTC.minute(of: lastMs)
        cars[number].dueMs = cars[number].limits.wheelMs.map { spellMs + $0 } ?? .max
        cars[number].isForced = false
        guard !open.isEmpty else { return }
        active.insert(number)
        cars[number].open = open.reduce(0) { $0 | CarLimits.bit(of: $1) }
        // The next tick asks how long it can last.
        cars[number].quietMs = .min
    }

    /// What the latest readings of the car leave, the last of them at `lastMs`. Its minute may have been written before somebody
    /// was known who drives it: what silence ends is looked for there.
    public mutating func judged(_ number: Int, _ judgement: DriverJudgement, lastMs: Int64) {
        guard isWatched(number) else { return }
        if judgement.isEndedBySilence { doubt(number, before: lastMs + DriverWatch.reachMs) }
        let watch = judgement.watch
        cars[number].lastMinuteMs = max(cars[number].lastMinuteMs, UTC.minute(of: lastMs))
        if watch.isActive { active.insert(number) } else { active.remove(number) }
        (cars[number].dueMs, cars[number].quietMs) = (watch.dueMs, watch.quietMs)
        cars[number].open = watch.open.reduce(0) { $0 | CarLimits.bit(of: $1.parameter) }
        guard active.count <= eagerMax else { return }
        cars[number].askedMinuteMs = .min
        if watch.isActive { cars[number].dueMs = .min }
    }
}
