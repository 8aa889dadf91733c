public import Fleet

/// Fuel that was filled in, seen in the tank's level. The level comes in steps of 0.39 % (PID 2F) and sloshes by more
/// than that, so a level is the median of some minutes' readings, never one of them.
public struct Refuelling: Equatable, Sendable {
    /// The last reading before and the first after, epoch milliseconds: it was filled in between.
    public let fromMs: Int64
    public let toMs: Int64
    /// Percent of the tank, in thousandths.
    public let beforeMilliPct: Int32
    public let afterMilliPct: Int32

    public var risenMilliPct: Int32 { afterMilliPct - beforeMilliPct }
    /// Litres; nil when the tank's size is not known.
    public func litres(tankMl: Int32?) -> Double? {
        tankMl.map { Double($0) / 1_000 * Double(risenMilliPct) / 100_000 }
    }

    /// On both sides of a rise so many readings at least, of so long at most.
    static let readingsMin = 5
    static let sideMs: Int64 = 300_000
    /// Hills and bends move a level by some percent for a while; nobody fills in so little.
    public static let risenMilliPctMin: Int32 = 5_000

    /// - Parameter readings: of one vehicle, by time, one a time; without level and with pauses as they come.
    public static func all(in readings: [CarReading]) -> [Refuelling] {
        let levels = readings.compactMap { reading in reading[.fuelLevel].map { (ts: reading.ts, value: $0) } }
        var (found, from): ([Refuelling], Int) = ([], 0)
        var best: Refuelling?
        for index in levels.indices.dropFirst() {
            guard let candidate = rise(levels, from: from, at: index) else { continue }
            // One filling shows at several readings around it: where the level rises most it was.
            if let last = best, candidate.fromMs - last.toMs > sideMs {
                found.append(last)
                best = nil
                from = index
            }
            if candidate.risenMilliPct > best?.risenMilliPct ?? 0 { best = candidate }
        }
        if let best { found.append(best) }
        return found
    }

    /// The rise between the readings before `index` and those from it on.
    private static func rise(_ levels: [(ts: Int64, value: Int32)], from: Int, at index: Int) -> Refuelling? {
        let before = levels[from..<index].suffix(while: { levels[index - 1].ts - $0.ts <= sideMs })
        let after = levels[index...].prefix { $0.ts - levels[index].ts <= sideMs }
        guard before.count >= readingsMin, after.count >= readingsMin else { return nil }
        let (low, high) = (median(before.map(\.value)), median(after.map(\.value)))
        guard high - low >= risenMilliPctMin else { return nil }
        return Refuelling(
            fromMs: levels[index - 1].ts, toMs: levels[index].ts, beforeMilliPct: low, afterMilliPct: high)
    }

    private static func median(_ values: [Int32]) -> Int32 { values.sorted()[values.count / 2] }
}

extension RandomAccessCollection {
    /// The longest end all of whose elements hold.
    fileprivate func suffix(while holds: (Element) -> Bool) -> SubSequence {
        var start = endIndex
        while start > startIndex, holds(self[index(before: start)]) { start = index(before: start) }
        return self[start...]
    }
}
