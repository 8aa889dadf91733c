internal import Alerts
internal import Notifications
internal import Presentation

/// The settings of notices as the form has them: as somebody typed them, right or wrong.
struct NoticeForm {
    /// What is wrong, by field.
    typealias Errors = [String: String]

    static let severities: [Episode.Severity] = [.critical, .warning]

    var manners: [Episode.Severity: String] = [:]
    var channels: [Episode.Severity: Set<String>] = [:]
    var daily, quietFrom, quietUntil, backlog, repeatHours: String
    var isQuietForCritical, hasMadeMachines, isMailEnded: Bool
    var errors: Errors = [:]

    init(_ setting: NoticeSetting) {
        for severity in NoticeForm.severities {
            manners[severity] = setting.way(severity).manner.rawValue
            channels[severity] = Set(setting.way(severity).channels.map(\.rawValue))
        }
        daily = NoticeForm.clock(setting.dailyMinute)
        quietFrom = setting.quiet.map { NoticeForm.clock($0.from) } ?? ""
        quietUntil = setting.quiet.map { NoticeForm.clock($0.until) } ?? ""
        backlog = setting.backlog.rawValue
        repeatHours = NoticeForm.hours(setting.repeatMin)
        isQuietForCritical = setting.isQuietForCritical
        hasMadeMachines = setting.hasMadeMachines
        isMailEnded = setting.isMailEnded
    }

    init(_ fields: FormFields) {
        for severity in NoticeForm.severities {
            manners[severity] = fields["\(severity.rawValue)_manner"] ?? ""
            channels[severity] = Set(fields.all("\(severity.rawValue)_channel"))
        }
        func text(_ name: String) -> String { String((fields[name] ?? "").prefix(20)) }
        daily = text("daily")
        quietFrom = text("quiet_from")
        quietUntil = text("quiet_until")
        backlog = text("backlog")
        repeatHours = text("repeat_h")
        isQuietForCritical = fields["quiet_critical"] == "1"
        hasMadeMachines = fields["made_machines"] == "1"
        isMailEnded = fields["mail_ended"] == "1"
    }

    /// Nil: `errors` says why.
    mutating func setting() -> NoticeSetting? {
        errors = [:]
        var setting = NoticeSetting()
        for severity in NoticeForm.severities {
            guard let way = way(severity) else { continue }
            if severity == .critical { setting.critical = way } else { setting.warning = way }
        }
        if let minute = NoticeForm.minute(daily) {
            setting.dailyMinute = minute
        } else {
            errors["daily"] = t("The daily message needs a time like 07:00.")
        }
        setting.quiet = quiet()
        if let backlog = NoticeBacklog(rawValue: backlog) {
            setting.backlog = backlog
        } else {
            errors["backlog"] = t("Choose one of these.")
        }
        let hours = Double(repeatHours.isEmpty ? "0" : repeatHours.replacing(",", with: "."))
        if let hours, hours == 0 || (0.25...168).contains(hours) {
            setting.repeatMin = Int((hours * 60).rounded())
        } else {
            errors["repeat_h"] = t("Must be 0.25 to 168 hours, or 0 for never.")
        }
        setting.isQuietForCritical = isQuietForCritical
        setting.hasMadeMachines = hasMadeMachines
        setting.isMailEnded = isMailEnded
        return errors.isEmpty ? setting : nil
    }

    private mutating func quiet() -> NoticeSetting.Quiet? {
        guard !quietFrom.isEmpty || !quietUntil.isEmpty else { return nil }
        let (from, until) = (NoticeForm.minute(quietFrom), NoticeForm.minute(quietUntil))
        if let from, let until, from != until { return .init(from: from, until: until) }
        errors[from == nil ? "quiet_from" : "quiet_until"] =
            t("Quiet hours need two different times like 22:00 and 06:00, or none.")
        return nil
    }

    private mutating func way(_ severity: Episode.Severity) -> NoticeSetting.Way? {
        let typed = channels[severity] ?? []
        let channels = typed.compactMap { NoticeChannel(rawValue: $0) }
        guard let manner = NoticeManner(rawValue: manners[severity] ?? ""), channels.count == typed.count else {
            errors["\(severity.rawValue)_manner"] = t("Choose when, and by email, push or webhook.")
            return nil
        }
        return .init(manner, Set(channels))
    }

    static func clock(_ minute: Int) -> String {
        [minute / 60, minute % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }

    private static func hours(_ minutes: Int) -> String {
        minutes % 60 == 0 ? "\(minutes / 60)" : "\(Double(minutes) / 60)"
    }

    /// From `07:00`; browsers may send seconds.
    private static func minute(_ text: String) -> Int? {
        let parts = text.split(separator: ":").map { Int($0) }
        guard (2...3).contains(parts.count), let hour = parts[0], let minute = parts[1], (0..<24).contains(hour),
            (0..<60).contains(minute)
        else { return nil }
        return hour * 60 + minute
    }
}
