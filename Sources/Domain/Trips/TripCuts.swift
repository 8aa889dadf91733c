internal import Basics
internal import Fleet

/// Where drivers' own marks cut the drive of one vehicle: a reading at or after a cut is in another trip than one before
/// it. A start cuts at its time, a stop one millisecond later: readings of that very time begin the trip, or end it.
public struct TripCuts: Equatable, Sendable {
    /// Epoch milliseconds, ascending, each once.
    public private(set) var times: [Int64] = []

    public init() {}
    public init(_ times: some Sequence<Int64>) { self.times = Set(times).sorted() }

    /// The cut of a driver's mark at `ts`.
    public static func time(isStart: Bool, at ts: Int64) -> Int64 { isStart ? ts : ts + 1 }

    public var isEmpty: Bool { times.isEmpty }

    /// False when it was there.
    public mutating func insert(_ cut: Int64) -> Bool {
        let place = firstIndex(after: cut)
        if place > 0, times[place - 1] == cut { return false }
        times.insert(cut, at: place)
        return true
    }

    public mutating func removeAll(before ts: Int64) { times.removeFirst(firstIndex(after: ts - 1)) }

    /// Whether a reading at `a` and one at `b`, the later, are in different trips.
    public func separate(_ a: Int64, _ b: Int64) -> Bool { last(atMost: b).map { $0 > a } ?? false }

    /// The stretch that a reading at `ts` belongs to: the part of its minute between two cuts. It is the unit that is
    /// stored; its start is the key of its row.
    public func stretch(at ts: Int64) -> Range<Int64> {
        let minute = UTC.minute(of: ts)
        let place = firstIndex(after: ts)
        let start = place > 0 ? max(minute, times[place - 1]) : minute
        let end = minute + UTC.msPerMinute
        return start..<(place < times.count ? min(end, times[place]) : end)
    }

    private func last(atMost ts: Int64) -> Int64? {
        let place = firstIndex(after: ts)
        return place > 0 ? times[place - 1] : nil
    }

    private func firstIndex(after ts: Int64) -> Int {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] <= ts { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
