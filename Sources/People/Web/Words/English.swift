internal import Alerts
internal import Basics
internal import Presentation
internal import Reports

/// The words of pages as English has them; in another language its texts say the same.
struct English: Words {
    func count(_ number: Int, _ thing: Thing) -> String {
        let n = GroupedNumber.text(number)
        return switch thing {
        case .account: t(number, one: "\(n) account", many: "\(n) accounts")
        case .alert: t(number, one: "\(n) alert", many: "\(n) alerts")
        case .answer: t(number, one: "\(n) answer", many: "\(n) answers")
        case .day: t(number, one: "\(n) day", many: "\(n) days")
        case .device: t(number, one: "\(n) device", many: "\(n) devices")
        case .hour: t(number, one: "\(n) hour", many: "\(n) hours")
        case .machine: t(number, one: "\(n) machine", many: "\(n) machines")
        case .message: t(number, one: "\(n) message", many: "\(n) messages")
        case .minute: t(number, one: "\(n) minute", many: "\(n) minutes")
        case .photo: t(number, one: "\(n) photo", many: "\(n) photos")
        case .point: t(number, one: "\(n) point", many: "\(n) points")
        case .query: t(number, one: "\(n) query", many: "\(n) queries")
        case .reading: t(number, one: "\(n) reading", many: "\(n) readings")
        case .report: t(number, one: "\(n) report", many: "\(n) reports")
        case .result: t(number, one: "\(n) result", many: "\(n) results")
        case .ride: t(number, one: "\(n) ride", many: "\(n) rides")
        case .row: t(number, one: "\(n) row", many: "\(n) rows")
        case .rule: t(number, one: "\(n) rule", many: "\(n) rules")
        case .second: t(number, one: "\(n) second", many: "\(n) seconds")
        case .service: t(number, one: "\(n) service", many: "\(n) services")
        case .sighting: t(number, one: "\(n) sighting", many: "\(n) sightings")
        case .species: t(number, one: "\(n) species", many: "\(n) species")
        case .stop: t(number, one: "\(n) stop", many: "\(n) stops")
        case .survey: t(number, one: "\(n) survey", many: "\(n) surveys")
        case .tour: t(number, one: "\(n) tour", many: "\(n) tours")
        case .trip: t(number, one: "\(n) trip", many: "\(n) trips")
        case .value: t(number, one: "\(n) value", many: "\(n) values")
        case .vehicle: t(number, one: "\(n) vehicle", many: "\(n) vehicles")
        case .week: t(number, one: "\(n) week", many: "\(n) weeks")
        }
    }

    // MARK: Times

    private static let weekMs = 7 * UTC.msPerDay

    func when(_ ms: Int64, nowMs: Int64, _ clock: ZoneClock) -> String {
        let (ago, far) = nowMs.subtractingReportingOverflow(ms)
        guard !far, ago.magnitude < English.weekMs else { return day(ms, nowMs: nowMs, clock) }
        let span = rounded(Int64(ago.magnitude))
        guard let span else { return t("now") }
        return ago < 0 ? t("in \(span)") : t("\(span) ago")
    }

    /// One unit, cut, not rounded: nil under a minute.
    private func rounded(_ ms: Int64) -> String? {
        let minutes = ms / UTC.msPerMinute
        if minutes < 1 { return nil }
        if minutes < 60 { return t("\(minutes) min") }
        return ms < UTC.msPerDay ? t("\(minutes / 60) h") : count(Int(ms / UTC.msPerDay), .day)
    }

    func span(_ ms: Int64) -> String {
        let minutes = ms / UTC.msPerMinute
        if minutes < 1 { return t("\(max(0, ms) / 1_000) s") }
        if minutes < 60 { return t("\(minutes) min") }
        guard ms < 2 * UTC.msPerDay else { return count(Int(ms / UTC.msPerDay), .day) }
        return minutes % 60 == 0 ? t("\(minutes / 60) h") : t("\(minutes / 60) h \(minutes % 60) min")
    }

    func age(_ ms: Int64, nowMs: Int64) -> String {
        let seconds = max(0, nowMs - ms) / 1_000
        switch seconds {
        case ..<60: return t("\(seconds) s ago")
        case ..<7_200: return t("\(seconds / 60) min ago")
        case ..<172_800: return t("\(seconds / 3_600) h ago")
        default:
            let days = seconds / 86_400
            return t(days, one: "\(days) day ago", many: "\(days) days ago")
        }
    }

    static func weekday(_ date: CivilDate) -> String {
        [t("Mon"), t("Tue"), t("Wed"), t("Thu"), t("Fri"), t("Sat"), t("Sun")][Int(date.monday.days(to: date))]
    }

    static var months: [String] {
        [
            t("Jan"), t("Feb"), t("Mar"), t("Apr"), t("May"), t("Jun"), t("Jul"), t("Aug"), t("Sep"), t("Oct"),
            t("Nov"), t("Dec"),
        ]
    }

    func day(_ ms: Int64, nowMs: Int64, _ clock: ZoneClock) -> String {
        let year = clock.minute(nowMs).prefix(4)
        return English.day(clock.minute(ms), year: year)
    }

    /// - Parameters:
    ///   - minute: `2026-11-24 15:19`
    ///   - year: the one that goes without saying.
    private static func day(_ minute: String, year: Substring) -> String {
        let parts = minute.prefix(10).split(separator: "-")
        guard parts.count == 3, let month = Int(parts[1]), months.indices.contains(month - 1), let day = Int(parts[2])
        else {
            return minute
        }
        return "\(day) \(months[month - 1])" + (parts[0] == year ? "" : " \(parts[0])")
    }

    func moment(_ ms: Int64, nowMs: Int64, _ clock: ZoneClock) -> String {
        let (minute, today) = (clock.minute(ms), clock.minute(nowMs).prefix(10))
        let day = minute.hasPrefix(today) ? "" : day(ms, nowMs: nowMs, clock) + " "
        return day + minute.suffix(5)
    }

    func date(_ date: CivilDate) -> String { English.day(date.text, year: date.text.prefix(4)) }

    func fullDate(_ date: CivilDate) -> String {
        "\(English.weekday(date)) \(self.date(date)) \(date.text.prefix(4))"
    }

    // MARK: Severities and states

    func severity(_ severity: Episode.Severity) -> String {
        switch severity {
        case .warning: t("Warning")
        case .critical: t("Critical")
        }
    }

    func state(_ state: AlertState) -> String {
        switch state {
        case .dueSoon: t("Due soon")
        case .open: t("Open")
        case .resolved: t("Resolved")
        case .withdrawn: t("Withdrawn")
        }
    }

    func state(_ state: VehicleState) -> String {
        switch state {
        case .moving: t("Moving")
        case .idling: t("Idling")
        case .parked: t("Parked")
        case .silent: t("Silent")
        }
    }

    // MARK: Time ranges

    var timeRange: String { t("Time range") }

    func range(_ range: TimeRange, _ clock: ZoneClock) -> String {
        switch range {
        case .live: t("Live")
        case .last(.hour): t("Last hour")
        case .last(.sixHours): t("Last 6 hours")
        case .last(.day): t("Last 24 hours")
        case .last(.week): t("Last 7 days")
        case .last(.month): t("Last 30 days")
        case .last(.year): t("Last year")
        case .between(let span): between(clock.minute(span.lowerBound), clock.minute(span.upperBound))
        }
    }

    /// The day is said once where it is one.
    private func between(_ from: String, _ to: String) -> String {
        let year = to.prefix(4)
        let start = "\(English.day(from, year: year)) \(from.suffix(5))"
        let end =
            from.prefix(10) == to.prefix(10) ? "\(to.suffix(5))" : "\(English.day(to, year: year)) \(to.suffix(5))"
        return t("\(start) to \(end)")
    }

    func fault(_ fault: TimeRange.Fault, shown: String) -> String {
        switch fault {
        case .unknown: t("That is not a time range. Shown instead: \(shown).")
        case .backwards: t("The time range ends before it begins. Shown instead: \(shown).")
        case .tooLong(let days): t("At most \(days) days can be shown at once. Shown instead: \(shown).")
        }
    }

    // MARK: Search

    func nothingCalled(_ text: String) -> String { t("Nothing is called “\(text)”.") }
    var didYouMean: String { t("Did you mean one of these?") }
    var searchAbout: String {
        t("Type any part of a name: vehicles, pages, reports, rules, species, people.")
    }

    func kind(_ kind: SearchIndex.Kind) -> String {
        switch kind {
        case .vehicle: t("Vehicle")
        case .page: t("Page")
        case .report: t("Report")
        case .query: t("Query")
        case .rule: t("Rule")
        case .species: t("Species")
        case .person: t("Person")
        }
    }

    func kinds(_ kind: SearchIndex.Kind) -> String {
        switch kind {
        case .vehicle: t("Vehicles")
        case .page: t("Pages")
        case .report: t("Reports")
        case .query: t("Queries")
        case .rule: t("Rules")
        case .species: t("Species")
        case .person: t("People")
        }
    }
}
