internal import Alerts
internal import Basics
public import Fleet

/// A car's stored readings and its open minute, as far as one of them can matter to another (`DriverAlertFold.reachMs`), but no
/// further than a border: a car that never pauses for so long may report for months.
public struct DriverStretch: Sendable {
    public let fromMs, toMs: Int64
    /// By time, one a time.
    public let readings: [CarReading]
    /// The car has readings after it, out of reach.
    public let isFollowed: Bool
    /// The car goes on behind it without a pause: the next stretch begins at once.
    public let goesOn: Bool

    public init(fromMs: Int64, toMs: Int64, readings: [CarReading], isFollowed: Bool, goesOn: Bool) {
        (self.fromMs, self.toMs, self.readings) = (fromMs, toMs, readings)
        (self.isFollowed, self.goesOn) = (isFollowed, goesOn)
    }

    /// The time until which its readings open alerts.
    public var untilMs: Int64 { goesOn ? toMs : toMs + DriverAlertFold.reachMs }

    // MARK: Where it lies

    /// The first border behind a stretch's begin, if the car goes on until then: 00:00 UTC, a day after it or later. Every midnight
    /// after that one is a border, too, so late readings move one border at most, and no stretch is as long as two days.
    public static func borderMs(after fromMs: Int64) -> Int64 {
        UTC.day(of: fromMs + UTC.msPerDay - 1) + UTC.msPerDay
    }

    /// The border between two neighbours of a stretch that began at `fromMs`; nil: there is none.
    static func borderMs(from fromMs: Int64, between earlierMs: Int64, and laterMs: Int64) -> Int64? {
        let midnightMs = UTC.day(of: laterMs)
        return midnightMs > earlierMs && midnightMs - fromMs >= UTC.msPerDay ? midnightMs : nil
    }

    public struct Span: Equatable, Sendable {
        public let fromMs, toMs: Int64
        public let goesOn: Bool
        /// The rows whose readings are in it.
        public let rows: ClosedRange<Int>
    }

    /// The times of a car's rows that must be known to find the stretch of a reading at `ms`.
    public static func window(around ms: Int64) -> ClosedRange<Int64> {
        let (dayMs, edgeMs) = (UTC.day(of: ms), DriverAlertFold.reachMs + 2 * UTC.msPerMinute)
        return dayMs - UTC.msPerDay - edgeMs...dayMs + 2 * UTC.msPerDay + edgeMs
    }

    /// Finds the stretch that the first reading of a row lies in, from where the rows begin; few of them are looked into.
    ///
    /// - Parameters:
    ///   - row: of `starts`.
    ///   - starts: the begins of all rows in the `window`, in order. A row has readings of a minute at most from there on, and
    ///     none of the next day.
    ///   - times: the first and the last reading of a row.
    public static func span(
        of row: Int, _ starts: [Int64], times: (Int) throws -> (firstMs: Int64, lastMs: Int64)
    ) rethrows -> Span {
        func isPaused(after row: Int) throws -> Bool {
            let apartMs = starts[row + 1] - starts[row]
            if apartMs <= DriverAlertFold.reachMs - UTC.msPerMinute { return false }
            if apartMs >= DriverAlertFold.reachMs + UTC.msPerMinute { return true }
            return try times(row + 1).firstMs - times(row).lastMs > DriverAlertFold.reachMs
        }
        // Whether midnight is a border depends on the day before it.
        let midnightMs = UTC.day(of: starts[row])
        var (first, last) = (row, row)
        while first > 0, starts[first] >= midnightMs - UTC.msPerDay, try !isPaused(after: first - 1) { first -= 1 }
        var fromMs = try times(first).firstMs
        if fromMs <= midnightMs - UTC.msPerDay {
            fromMs = midnightMs
            first = starts[first...].firstIndex { $0 >= midnightMs }!
        }
        let borderMs = borderMs(after: fromMs)
        while last + 1 < starts.count, try !isPaused(after: last) {
            guard starts[last + 1] < borderMs else {
                return Span(fromMs: fromMs, toMs: borderMs - 1, goesOn: true, rows: first...last)
            }
            last += 1
        }
        return Span(fromMs: fromMs, toMs: try times(last).lastMs, goesOn: false, rows: first...last)
    }
}
