internal import Fleet
internal import Foundation
internal import Presentation

/// When something is to be done, as crontab(5) and POSIX `crontab` say it: minute, hour, day of the month, month, day of the week,
/// with lists, ranges, steps (`*/n`, `a-b/n`) and English names. Where both kinds of days are restricted, either will do.
///
/// Times by the clock of a zone: of a time that occurs twice on a day of 25 hours the first counts; one that a day of 23 hours skips comes
/// at the first moment after the gap.
package struct CronTimes: Sendable {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    /// The search range for the next time: 29 February comes after eight years at most (2096 to 2104).
    private static let aheadDays: Int64 = 366 * 9

    private let minutes, hours, monthDays, months, weekdays: Set<Int>
    /// A day needs to be one of both kinds, since one of them is any.
    private let needsBoth: Bool

    package init(_ text: String) throws(Fault) {
        let fields = text.split(separator: " ", omittingEmptySubsequences: true)
        guard text.utf8.count <= 200, fields.count == 5 else {
            throw Fault(
                description: t(
                    "`\(String(text.prefix(60)))` must be five fields: minute, hour, day of the month, month, day of the week"
                ))
        }
        minutes = try CronTimes.values(fields[0], CronField.minute)
        hours = try CronTimes.values(fields[1], CronField.hour)
        monthDays = try CronTimes.values(fields[2], CronField.monthDay)
        months = try CronTimes.values(fields[3], CronField.month)
        weekdays = Set(try CronTimes.values(fields[4], CronField.weekday).map { $0 % 7 })
        // As Vixie's cron has it: a field that begins with a star restricts nothing by itself.
        needsBoth = fields[2].hasPrefix("*") || fields[4].hasPrefix("*")
        let longest = months.map { $0 == 2 ? 29 : [4, 6, 9, 11].contains($0) ? 30 : 31 }.max()!
        guard monthDays.min()! <= longest || !needsBoth else {
            throw Fault(description: t("`\(text)`: there is no such day in these months"))
        }
    }

    // MARK: Times

    /// The fewest minutes from one time of a day to the next; an hour where it is an hour or more.
    package var leastMinutes: Int {
        let marks = minutes.sorted()
        guard marks.count > 1 else { return 60 }
        // Over the end of an hour only where the next one counts, too.
        let hasNeighbours = hours.contains { hours.contains(($0 + 1) % 24) }
        let over = hasNeighbours ? marks[0] + 60 - marks.last! : 60
        return zip(marks, marks.dropFirst()).map { $1 - $0 }.reduce(over, min)
    }

    /// The first time after a moment; nil: there is none in the next nine years, or no such zone.
    package func next(afterMs ms: Int64, zone: String) -> Int64? {
        // A time that a gap skips may belong to the day before.
        var day = CivilDate(ofMs: ms, zone: zone).moved(by: -1)
        for _ in 0..<CronTimes.aheadDays {
            if let due = times(on: day).first(where: { $0 > ms }) { return due }
            day = day.moved(by: 1)
        }
        return nil
    }

    /// The last so many times of a span, its end included, in order; and the last one before them, if there is one in the span.
    package func last(_ most: Int, after fromMs: Int64, until toMs: Int64, zone: String) -> (
        times: [Int64], before: Int64?
    ) {
        var day = CivilDate(ofMs: toMs, zone: zone).moved(by: 1)
        let first = CivilDate(ofMs: fromMs, zone: zone).moved(by: -1)
        var found: [Int64] = []
        while day.days(to: first) <= 0, found.count <= most {
            found += times(on: day).reversed().filter { $0 > fromMs && $0 <= toMs && $0 < found.last ?? .max }
            day = day.moved(by: -1)
        }
        return (found.prefix(most).reversed(), found.count > most ? found[most] : nil)
    }

    private func isDay(_ day: CivilDate) -> Bool {
        let parts = day.text.split(separator: "-").compactMap { Int($0) }
        guard months.contains(parts[1]) else { return false }
        let weekday = Int(day.monday.days(to: day) + 1) % 7
        let (inMonth, inWeek) = (monthDays.contains(parts[2]), weekdays.contains(weekday))
        return needsBoth ? inMonth && inWeek : inMonth || inWeek
    }

    /// In order; no moment twice.
    private func times(on day: CivilDate) -> [Int64] {
        guard isDay(day), let zoned = ZonedDay(date: day.text, zone: day.zone)
        else {
            return []
        }
        let clock = DayClock(zoned)
        let walls = hours.sorted().flatMap { hour in minutes.sorted().map { hour * 60 + $0 } }
        return Set(walls.compactMap { clock.moment(atMinute: Int64($0)) }).sorted()
    }

    // MARK: Fields

    private struct CronField {
        enum Name { case minute, hour, monthDay, month, weekday }

        let name: Name
        let range: ClosedRange<Int>
        var names: [String] = []

        static let minute = CronField(name: .minute, range: 0...59)
        static let hour = CronField(name: .hour, range: 0...23)
        static let monthDay = CronField(name: .monthDay, range: 1...31)
        static let month = CronField(
            name: .month, range: 1...12,
            names: ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
        /// 7 is Sunday, too.
        static let weekday = CronField(
            name: .weekday, range: 0...7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])

        private var title: String {
            switch name {
            case .minute: t("minute")
            case .hour: t("hour")
            case .monthDay: t("day of the month")
            case .month: t("month")
            case .weekday: t("day of the week")
            }
        }

        func fault(_ text: String) -> Fault {
            let (least, most) = (range.lowerBound, range.upperBound)
            return Fault(
                description: names.isEmpty
                    ? t(
                        "`\(text)`: the \(title) must be *, numbers from \(least) to \(most), ranges a-b, with steps like */2 or 1-9/2, in a list with commas"
                    )
                    : t(
                        "`\(text)`: the \(title) must be *, numbers from \(least) to \(most) or names like \(names[1]), ranges a-b, with steps like */2 or 1-9/2, in a list with commas"
                    ))
        }

        func number(_ text: Substring) -> Int? {
            if let place = names.firstIndex(of: text.lowercased()), !text.isEmpty { return place }
            guard text.utf8.count <= 2, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
                range.contains(number)
            else { return nil }
            return number
        }
    }

    private static func values(_ text: Substring, _ field: CronField) throws(Fault) -> Set<Int> {
        var values: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "/", omittingEmptySubsequences: false)
            let step =
                pieces.count == 2 ? Int(pieces[1]).flatMap { (1...field.range.upperBound).contains($0) ? $0 : nil } : 1
            let ends = pieces[0].split(separator: "-", omittingEmptySubsequences: false)
            let from = pieces[0] == "*" ? field.range.lowerBound : field.number(ends[0])
            let to = pieces[0] == "*" ? field.range.upperBound : field.number(ends[ends.count - 1])
            let isSpan = pieces[0] == "*" || ends.count == 2
            guard pieces.count <= 2, ends.count <= 2, let step, let from, let to, from <= to,
                pieces.count == 1 || isSpan
            else {
                throw field.fault(String(text))
            }
            values.formUnion(stride(from: from, through: to, by: step))
        }
        return values
    }
}
