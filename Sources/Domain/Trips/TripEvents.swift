public import Fleet

/// What happened on a trip and when: it stood, was braked or accelerated sharply, or said nothing for a while.
public struct TripEvent: Equatable, Sendable {
    public enum Kind: String, Equatable, Sendable {
        case stop
        /// No speed was read for longer than is bridged.
        case silence
        case acceleration, braking, topSpeed
    }

    public let kind: Kind
    public let startMs: Int64
    /// The same where it is a moment.
    public let endMs: Int64
    /// The greatest change of speed in mm/s², or the top speed in m/h.
    public let value: Int64?

    public init(_ kind: Kind, from startMs: Int64, to endMs: Int64, value: Int64? = nil) {
        (self.kind, self.startMs, self.endMs, self.value) = (kind, startMs, endMs, value)
    }

    public var lengthMs: Int64 { endMs - startMs }
}

/// The events of a trip, found again from its readings by the rules that its figures were made with: as many sharp ones and silences as
/// its sums count. Of a part of a drive that began before the part, what the border cut in two may count once more.
public struct TripEvents: Equatable, Sendable {
    /// Standing for less is traffic.
    public static let stopMsMin: Int64 = 60_000
    /// Speed sensors say no less than a km/h of a car that moves.
    private static let standingMetresPerHour: Int32 = 1_000

    /// By the time at which they began.
    public let events: [TripEvent]
    /// While speed was read and was not 0.
    public let movingMs: Int64

    /// Precondition: `readings` are one trip's, by time, one a time.
    public init(_ readings: [CarReading], rules: TripRules) {
        var sharp = SharpFold(rules: rules)
        var stops = StopFold()
        var (silences, movingMs): ([TripEvent], Int64) = ([], 0)
        var last, top: (ts: Int64, speed: Int32)?
        for reading in readings {
            guard let speed = reading[.speed] else { continue }
            if let last {
                let elapsed = reading.ts - last.ts
                if elapsed > rules.gapMs {
                    silences.append(TripEvent(.silence, from: last.ts, to: reading.ts))
                    sharp.startRun()
                    stops.end(at: last.ts)
                } else if last.speed > 0 {
                    movingMs += elapsed
                }
            }
            sharp.observe(ts: reading.ts, speed: speed)
            stops.observe(ts: reading.ts, isStanding: speed < TripEvents.standingMetresPerHour)
            if speed > (top?.speed ?? 0) { top = (reading.ts, speed) }
            last = (reading.ts, speed)
        }
        if let last { stops.end(at: last.ts) }
        let tops = top.map { [TripEvent(.topSpeed, from: $0.ts, to: $0.ts, value: Int64($0.speed))] } ?? []
        events = (stops.stops + silences + sharp.events + tops).sorted {
            ($0.startMs, $0.kind.rawValue) < ($1.startMs, $1.kind.rawValue)
        }
        self.movingMs = movingMs
    }
}

/// Stretches of standing.
private struct StopFold {
    private(set) var stops: [TripEvent] = []
    private var sinceMs: Int64?

    mutating func observe(ts: Int64, isStanding: Bool) {
        if isStanding { sinceMs = sinceMs ?? ts } else { end(at: ts) }
    }

    mutating func end(at ts: Int64) {
        if let sinceMs, ts - sinceMs >= TripEvents.stopMsMin { stops.append(TripEvent(.stop, from: sinceMs, to: ts)) }
        sinceMs = nil
    }
}

/// Sharp events with their times and peaks.
private struct SharpFold {
    private let rules: TripRules
    private var sharp = SharpEvents()
    private(set) var events: [TripEvent] = []
    /// The event that goes on, by its index, and when it was sharp last.
    private var open: (index: Int, lastMs: Int64)?

    init(rules: TripRules) { self.rules = rules }

    mutating func startRun() { sharp.startRun() }

    mutating func observe(ts: Int64, speed: Int32) {
        // Sums of this reading alone: what it adds is what happened now.
        var now = DriveTotals()
        sharp.observe(ts: ts, metresPerHour: Int64(speed), rules: rules, into: &now)
        if now.sharpAccelerations > 0 {
            begin(.acceleration, ts, now.maxAccelerationMmPerS2)
        } else if now.sharpBrakings > 0 {
            begin(.braking, ts, now.maxBrakingMmPerS2)
        } else if let (index, lastMs) = open {
            let event = events[index]
            let peak = Int64((event.kind == .braking ? now.maxBrakingMmPerS2 : now.maxAccelerationMmPerS2) ?? 0)
            guard ts - lastMs <= rules.sharpMergeMs else { return open = nil }
            guard peak > rules.sharpMmPerS2 else { return }
            events[index] = TripEvent(event.kind, from: event.startMs, to: ts, value: max(event.value ?? 0, peak))
            open = (index, ts)
        }
    }

    private mutating func begin(_ kind: TripEvent.Kind, _ ts: Int64, _ peak: Int32?) {
        events.append(TripEvent(kind, from: ts, to: ts, value: peak.map { Int64($0) }))
        open = (events.count - 1, ts)
    }
}
