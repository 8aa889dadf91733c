internal import Basics
public import Fleet

/// A tank that was filled, told by its level.
public struct Refuelling: Equatable, Sendable {
    /// Starts of the last minute before and the first one after.
    public let fromMs: Int64
    public let untilMs: Int64
    /// Thousandths of a percent of the tank.
    public let beforeMilliPct: Int64
    public let afterMilliPct: Int64

    /// Litres that came in; nil where the tank is not known.
    public func litres(tankMl: Int32?) -> Double? {
        tankMl.map { Double(afterMilliPct - beforeMilliPct) / 100_000 * Double($0) / 1_000 }
    }

    /// Medians over this many minutes on each side are compared, over three at least: fuel sloshes, and one step of PID 2F
    /// is 0.2 L in a tank of 50 L (SAE J1979: 100/255 %). On recorded drives the minutes' own medians swing by 13 % of the tank.
    private static let windowMinutes = 5
    private static let leastMinutes = 3
    /// Those of five minutes rise by at most 6.7 % on recorded drives without a filling station.
    private static let leastRiseMilliPct: Int64 = 8_000

    private struct Minute {
        var startMs: Int64
        var level: Int64
        var isStanding: Bool
    }

    /// Every filling in these readings of one car, in the order of time. A tank is filled while the car stands or says
    /// nothing. Readings may be of several trips. Precondition: sorted by time.
    public static func all(in readings: [CarReading]) -> [Refuelling] {
        let minutes = minutes(readings)
        var (found, from, index): ([Refuelling], Int, Int) = ([], 0, 1)
        while index < minutes.count {
            // Many places about a filling rise as much: it is where the level steps most, and there it must hold.
            let near = max(from + 1, index - windowMinutes)..<min(minutes.count, index + windowMinutes)
            let place = near.max { step(minutes, at: $0) < step(minutes, at: $1) }!
            guard rise(minutes, at: index, from: from) >= leastRiseMilliPct,
                rise(minutes, at: place, from: from) >= leastRiseMilliPct
            else {
                index += 1
                continue
            }
            let sides = sides(minutes, at: place, from: from)!
            found.append(
                Refuelling(
                    fromMs: minutes[place - 1].startMs, untilMs: minutes[place].startMs,
                    beforeMilliPct: sides.before, afterMilliPct: sides.after))
            from = place
            index = place + 1
        }
        return found
    }

    private static func step(_ minutes: [Minute], at index: Int) -> Int64 {
        minutes[index].level - minutes[index - 1].level
    }

    private static func rise(_ minutes: [Minute], at index: Int, from: Int) -> Int64 {
        let (last, next) = (minutes[index - 1], minutes[index])
        guard next.startMs - last.startMs > UTC.msPerMinute || last.isStanding || next.isStanding,
            let sides = sides(minutes, at: index, from: from)
        else { return .min }
        return sides.after - sides.before
    }

    private static func sides(_ minutes: [Minute], at index: Int, from: Int) -> (before: Int64, after: Int64)? {
        let before = minutes[max(from, index - windowMinutes)..<index]
        let after = minutes[index..<min(minutes.count, index + windowMinutes)]
        guard before.count >= leastMinutes, after.count >= leastMinutes else { return nil }
        return (median(before.map(\.level)), median(after.map(\.level)))
    }

    private static func minutes(_ readings: [CarReading]) -> [Minute] {
        var minutes: [Minute] = []
        var (levels, isStanding): ([Int64], Bool) = ([], true)
        func end(_ startMs: Int64) {
            if !levels.isEmpty {
                minutes.append(Minute(startMs: startMs, level: median(levels), isStanding: isStanding))
            }
            levels = []
            isStanding = true
        }
        var current = Int64.min
        for reading in readings {
            let minute = UTC.minute(of: reading.ts)
            if minute != current { end(current) }
            current = minute
            if let level = reading[.fuelLevel] { levels.append(Int64(level)) }
            if let speed = reading[.speed], speed > 0 { isStanding = false }
        }
        end(current)
        return minutes
    }

    private static func median(_ values: [Int64]) -> Int64 {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
