/// One car at one time: any subset of the signals, as scaled integers (see `SignalRow`).
public struct CarReading: Equatable, Sendable {
    /// The reading's own time, epoch milliseconds UTC.
    public var ts: Int64
    /// Bit n is set when slot n holds a value.
    @inlinable public var mask: UInt32 { fields }
    @usableFromInline var fields: UInt32 = 0
    /// True when another reading of the same time said something else. It is kept so that the
    /// number of disputed readings does not depend on who came first.
    public var disputed = false
    @usableFromInline var values = InlineArray<24, Int32>(repeating: 0)

    public init(ts: Int64) { self.ts = ts }

    public var isEmpty: Bool { mask == 0 }

    public subscript(_ signal: Signal) -> Int32? {
        get { mask & (1 << UInt32(signal.rawValue)) == 0 ? nil : values[Int(signal.rawValue)] }
        set {
            let bit = UInt32(1) << UInt32(signal.rawValue)
            values[Int(signal.rawValue)] = newValue ?? 0
            if newValue == nil { fields &= ~bit } else { fields |= bit }
        }
    }

    /// Slot by slot, for codecs that walk the mask. Precondition of reading: the slot's bit is set.
    @inlinable public func value(inSlot slot: Int) -> Int32 { values[slot] }
    @inlinable public mutating func setValue(_ value: Int32, inSlot slot: Int) {
        values[slot] = value
        fields |= 1 << UInt32(slot)
    }

    /// The union of two readings of the same time: every field that either has, and of two different values the
    /// larger one (the position as a pair). Commutative, associative and idempotent, so the result is a function
    /// of the set of readings; see docs/decisions/0001-union-of-readings.md.
    public mutating func formUnion(_ other: CarReading) {
        precondition(ts == other.ts)
        disputed = disputed || other.disputed
        mergePosition(of: other)
        for signal in Signal.allCases where signal != .latitude && signal != .longitude {
            guard let theirs = other[signal] else { continue }
            guard let ours = self[signal] else {
                self[signal] = theirs
                continue
            }
            if ours != theirs { disputed = true }
            if theirs > ours { self[signal] = theirs }
        }
    }

    private mutating func mergePosition(of other: CarReading) {
        let theirs = other.position
        let ours = position
        guard theirs != ours, theirs != .none else { return }
        if ours != .none { disputed = true }
        guard ours < theirs else { return }
        self[.latitude] = other[.latitude]
        self[.longitude] = other[.longitude]
    }

    /// A total order in which "no position" is the smallest.
    private struct Position: Comparable {
        static let none = Position(latitude: .min, longitude: .min)
        var latitude: Int64
        var longitude: Int64
        static func < (a: Position, b: Position) -> Bool {
            a.latitude != b.latitude ? a.latitude < b.latitude : a.longitude < b.longitude
        }
    }

    private var position: Position {
        guard self[.latitude] != nil || self[.longitude] != nil else { return .none }
        return Position(
            latitude: self[.latitude].map { Int64($0) } ?? .min,
            longitude: self[.longitude].map { Int64($0) } ?? .min)
    }

    public static func == (a: CarReading, b: CarReading) -> Bool {
        guard a.ts == b.ts, a.mask == b.mask, a.disputed == b.disputed else { return false }
        for slot in 0..<Signal.slots where a.values[slot] != b.values[slot] { return false }
        return true
    }
}

extension Array where Element == CarReading {
    /// Sorted by time, one reading a time: the set that all results are computed from.
    public func unioned() -> [CarReading] {
        var result: [CarReading] = []
        result.reserveCapacity(count)
        // Ties need no order of their own: the union does not ask which came first.
        for reading in sorted(by: { $0.ts < $1.ts }) {
            if let last = result.last, last.ts == reading.ts {
                result[result.count - 1].formUnion(reading)
            } else {
                result.append(reading)
            }
        }
        return result
    }
}
