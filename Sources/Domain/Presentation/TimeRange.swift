internal import Basics

/// What time a page shows, as its address says it: `range=24h`, or `from` and `to` as the clock of the account's zone shows them.
/// It is the same on every page that has time, so that an address can be sent to somebody.
package enum TimeRange: Equatable, Sendable {
    /// The last half hour; it moves on.
    case live
    case last(Span)
    /// Epoch milliseconds.
    case between(Range<Int64>)

    package enum Span: String, CaseIterable, Sendable {
        case hour = "1h"
        case sixHours = "6h"
        case day = "24h"
        case week = "7d"
        case month = "30d"
        case year = "1y"

        package var ms: Int64 {
            switch self {
            case .hour: 3_600_000
            case .sixHours: 6 * 3_600_000
            case .day: UTC.msPerDay
            case .week: 7 * UTC.msPerDay
            case .month: 30 * UTC.msPerDay
            case .year: 365 * UTC.msPerDay
            }
        }
    }

    /// Why an address's time cannot be shown.
    package enum Fault: Error, Equatable, Sendable {
        case unknown
        /// It ends before it begins.
        case backwards
        case tooLong(daysMax: Int64)
    }

    package static let liveMs: Int64 = 30 * 60_000
    /// A leap year.
    package static let daysMax: Int64 = 366
    /// The choices that pages offer, beside from and to.
    package static let choices: [TimeRange] = [.live] + Span.allCases.map { .last($0) }
    /// The names in an address.
    package static let names = ["range", "from", "to"]

    /// Nil: the address says nothing. `from` alone: until now.
    package static func read(
        _ query: [String: String], zone: String, nowMs: Int64
    ) throws(Fault) -> TimeRange? {
        func given(_ name: String) -> String? { query[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let name = given("range") {
            if name == "live" { return .live }
            guard let span = Span(rawValue: name) else { throw .unknown }
            return .last(span)
        }
        guard let from = given("from") else {
            if given("to") != nil { throw .unknown }
            return nil
        }
        guard let fromMs = moment(from, zone: zone), let toMs = given("to").map({ moment($0, zone: zone) }) ?? nowMs
        else { throw .unknown }
        guard fromMs < toMs else { throw .backwards }
        guard toMs - fromMs <= daysMax * UTC.msPerDay else { throw .tooLong(daysMax: daysMax) }
        return .between(fromMs..<toMs)
    }

    /// `2026-11-24T15:19`, as browsers send it, or a day's first moment. The first of minutes that occur twice.
    private static func moment(_ text: String, zone: String) -> Int64? {
        guard let day = ZonedDay(date: String(text.prefix(10)), zone: zone) else { return nil }
        let rest = text.utf8.dropFirst(10)
        if rest.isEmpty { return day.fromMs }
        // Digits and colons in their places, nothing else: "+1" and the like are no hours.
        let digits = Array(rest)
        guard digits.count == 6 || digits.count == 9, digits[0] == UInt8(ascii: "T"),
            digits.indices.dropFirst().allSatisfy({ place in
                place % 3 == 0 ? digits[place] == UInt8(ascii: ":") : (48...57).contains(digits[place])
            })
        else { return nil }
        func two(_ place: Int) -> Int64 { Int64(digits[place] - 48) * 10 + Int64(digits[place + 1] - 48) }
        let (hour, minute) = (two(1), two(4))
        guard hour < 24, minute < 60 else { return nil }
        return DayClock(day).moment(atMinute: hour * 60 + minute)
    }

    /// Epoch milliseconds; moves on with `nowMs`, unless both ends are given.
    package func spanMs(nowMs: Int64) -> Range<Int64> {
        switch self {
        case .live: nowMs - TimeRange.liveMs..<nowMs
        case .last(let span): nowMs - span.ms..<nowMs
        case .between(let span): span
        }
    }

    package func queryItems(zone: String) -> [(name: String, value: String)] {
        switch self {
        case .live: [("range", "live")]
        case .last(let span): [("range", span.rawValue)]
        case .between(let span):
            [
                ("from", TimeRange.field(span.lowerBound, zone: zone)),
                ("to", TimeRange.field(span.upperBound, zone: zone)),
            ]
        }
    }

    /// The value of an input `datetime-local`.
    package static func field(_ ms: Int64, zone: String) -> String {
        let date = ZonedDay.date(ofMs: ms, zone: zone)
        let day = ZonedDay(date: date, zone: zone) ?? ZonedDay(date: date, zone: "UTC")
        return day.map { $0.minute(ms).replacing(" ", with: "T") } ?? ""
    }
}
