internal import Alerts
internal import Basics
internal import Presentation
internal import Reports

/// The words of pages in English.
struct English: Words {
    func count(_ number: Int, _ thing: Thing) -> String {
        let name = English.names(thing)
        return "\(English.number(number)) \(number == 1 ? name.one : name.many)"
    }

    private static func names(_ thing: Thing) -> (one: String, many: String) {
        switch thing {
        case .account: ("account", "accounts")
        case .alert: ("alert", "alerts")
        case .answer: ("answer", "answers")
        case .day: ("day", "days")
        case .device: ("device", "devices")
        case .hour: ("hour", "hours")
        case .machine: ("machine", "machines")
        case .message: ("message", "messages")
        case .minute: ("minute", "minutes")
        case .photo: ("photo", "photos")
        case .point: ("point", "points")
        case .query: ("query", "queries")
        case .reading: ("reading", "readings")
        case .report: ("report", "reports")
        case .result: ("result", "results")
        case .ride: ("ride", "rides")
        case .row: ("row", "rows")
        case .rule: ("rule", "rules")
        case .second: ("second", "seconds")
        case .service: ("service", "services")
        case .sighting: ("sighting", "sightings")
        case .species: ("species", "species")
        case .stop: ("stop", "stops")
        case .survey: ("survey", "surveys")
        case .tour: ("tour", "tours")
        case .trip: ("trip", "trips")
        case .value: ("value", "values")
        case .vehicle: ("vehicle", "vehicles")
        case .week: ("week", "weeks")
        }
    }

    /// `12,345`
    private static func number(_ number: Int) -> String {
        var text = String(number.magnitude)
        var place = text.count - 3
        while place > 0 {
            text.insert(",", at: text.index(text.startIndex, offsetBy: place))
            place -= 3
        }
        return (number < 0 ? "−" : "") + text
    }

    // MARK: Times

    private static let weekMs = 7 * UTC.msPerDay

    func when(_ ms: Int64, nowMs: Int64, _ clock: ZoneClock) -> String {
        let (ago, far) = nowMs.subtractingReportingOverflow(ms)
        guard !far, ago.magnitude < English.weekMs else { return day(ms, nowMs: nowMs, clock) }
        let span = rounded(Int64(ago.magnitude))
        guard let span else { return "now" }
        return ago < 0 ? "in \(span)" : "\(span) ago"
    }

    /// One unit, cut, not rounded: nil under a minute.
    private func rounded(_ ms: Int64) -> String? {
        let minutes = ms / UTC.msPerMinute
        if minutes < 1 { return nil }
        if minutes < 60 { return "\(minutes) min" }
        return ms < UTC.msPerDay ? "\(minutes / 60) h" : count(Int(ms / UTC.msPerDay), .day)
    }

    func span(_ ms: Int64) -> String {
        let minutes = ms / UTC.msPerMinute
        if minutes < 1 { return "\(max(0, ms) / 1_000) s" }
        if minutes < 60 { return "\(minutes) min" }
        guard ms < 2 * UTC.msPerDay else { return count(Int(ms / UTC.msPerDay), .day) }
        return minutes % 60 == 0 ? "\(minutes / 60) h" : "\(minutes / 60) h \(minutes % 60) min"
    }

    func age(_ ms: Int64, nowMs: Int64) -> String {
        let seconds = max(0, nowMs - ms) / 1_000
        switch seconds {
        case ..<60: return "\(seconds) s ago"
        case ..<7_200: return "\(seconds / 60) min ago"
        case ..<172_800: return "\(seconds / 3_600) h ago"
        default: return "\(seconds / 86_400) days ago"
        }
    }

    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

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
        "\(English.weekdays[Int(date.monday.days(to: date))]) \(self.date(date)) \(date.text.prefix(4))"
    }

    // MARK: Severities and states

    func severity(_ severity: Episode.Severity) -> String {
        switch severity {
        case .warning: "Warning"
        case .critical: "Critical"
        }
    }

    func state(_ state: AlertState) -> String {
        switch state {
        case .dueSoon: "Due soon"
        case .open: "Open"
        case .resolved: "Resolved"
        case .withdrawn: "Withdrawn"
        }
    }

    func state(_ state: VehicleState) -> String {
        switch state {
        case .moving: "Moving"
        case .idling: "Idling"
        case .parked: "Parked"
        case .silent: "Silent"
        }
    }

    // MARK: Time ranges

    let timeRange = "Time range"

    func range(_ range: TimeRange, _ clock: ZoneClock) -> String {
        switch range {
        case .live: "Live"
        case .last(.hour): "Last hour"
        case .last(.sixHours): "Last 6 hours"
        case .last(.day): "Last 24 hours"
        case .last(.week): "Last 7 days"
        case .last(.month): "Last 30 days"
        case .last(.year): "Last year"
        case .between(let span): between(clock.minute(span.lowerBound), clock.minute(span.upperBound))
        }
    }

    /// The day is said once where it is one.
    private func between(_ from: String, _ to: String) -> String {
        let year = to.prefix(4)
        let start = "\(English.day(from, year: year)) \(from.suffix(5))"
        let end =
            from.prefix(10) == to.prefix(10) ? "\(to.suffix(5))" : "\(English.day(to, year: year)) \(to.suffix(5))"
        return "\(start) to \(end)"
    }

    func fault(_ fault: TimeRange.Fault, shown: String) -> String {
        let why =
            switch fault {
            case .unknown: "That is not a time range."
            case .backwards: "The time range ends before it begins."
            case .tooLong(let days): "At most \(days) days can be shown at once."
            }
        return "\(why) Showing \(shown.prefix(1).lowercased() + shown.dropFirst()) instead."
    }

    // MARK: Search

    func nothingCalled(_ text: String) -> String { "Nothing is called “\(text)”." }
    let didYouMean = "Did you mean one of these?"
    let searchAbout = "Type any part of a name: vehicles, pages, reports, rules, species, people."

    func kind(_ kind: SearchIndex.Kind) -> String {
        switch kind {
        case .vehicle: "Vehicle"
        case .page: "Page"
        case .report: "Report"
        case .query: "Query"
        case .rule: "Rule"
        case .species: "Species"
        case .person: "Person"
        }
    }

    func kinds(_ kind: SearchIndex.Kind) -> String {
        switch kind {
        case .vehicle: "Vehicles"
        case .page: "Pages"
        case .report: "Reports"
        case .query: "Queries"
        case .rule: "Rules"
        case .species: "Species"
        case .person: "People"
        }
    }
}
