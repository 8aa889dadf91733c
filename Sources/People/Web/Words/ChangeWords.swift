internal import Presentation

/// How much more or less it is than it was, in per cent: one wording on all pages.
enum ChangeWords {
    /// What it stands beside; `soFar`: of what is not over, as much of the one before.
    enum Than {
        case before, average, day(soFar: Bool), week(soFar: Bool), month(soFar: Bool), days(Int64, soFar: Bool)
    }

    /// Whole per cents; smaller changes are none.
    static func percent(_ now: Double, _ then: Double) -> Int? {
        let percent = then > 0 ? ((now / then - 1) * 100).rounded() : .nan
        return Int(exactly: percent)
    }

    /// `12 % less than by this time yesterday`; nil: nothing to compare it with.
    static func text(_ now: Double, _ then: Double, than: Than) -> String? {
        percent(now, then).map { percent in
            let size = GroupedNumber.text(percent.magnitude)
            return percent < 0 ? less(size, than) : percent > 0 ? more(size, than) : same(than)
        }
    }

    private static func less(_ size: String, _ than: Than) -> String {
        switch than {
        case .before: t("\(size) % less")
        case .average: t("\(size) % less than average")
        case .day(soFar: false): t("\(size) % less than the day before")
        case .day(soFar: true): t("\(size) % less than by this time yesterday")
        case .week(soFar: false): t("\(size) % less than the week before")
        case .week(soFar: true): t("\(size) % less than by this time last week")
        case .month(soFar: false): t("\(size) % less than the month before")
        case .month(soFar: true): t("\(size) % less than by this time last month")
        case .days(let days, soFar: false): t("\(size) % less than in the \(days) days before")
        case .days(let days, soFar: true): t("\(size) % less than by this time in the \(days) days before")
        }
    }

    private static func more(_ size: String, _ than: Than) -> String {
        switch than {
        case .before: t("\(size) % more")
        case .average: t("\(size) % more than average")
        case .day(soFar: false): t("\(size) % more than the day before")
        case .day(soFar: true): t("\(size) % more than by this time yesterday")
        case .week(soFar: false): t("\(size) % more than the week before")
        case .week(soFar: true): t("\(size) % more than by this time last week")
        case .month(soFar: false): t("\(size) % more than the month before")
        case .month(soFar: true): t("\(size) % more than by this time last month")
        case .days(let days, soFar: false): t("\(size) % more than in the \(days) days before")
        case .days(let days, soFar: true): t("\(size) % more than by this time in the \(days) days before")
        }
    }

    private static func same(_ than: Than) -> String {
        switch than {
        case .before: t("No change")
        case .average: t("As on average")
        case .day(soFar: false): t("As much as the day before")
        case .day(soFar: true): t("As much as by this time yesterday")
        case .week(soFar: false): t("As much as the week before")
        case .week(soFar: true): t("As much as by this time last week")
        case .month(soFar: false): t("As much as the month before")
        case .month(soFar: true): t("As much as by this time last month")
        case .days(let days, soFar: false): t("As much as in the \(days) days before")
        case .days(let days, soFar: true): t("As much as by this time in the \(days) days before")
        }
    }
}
