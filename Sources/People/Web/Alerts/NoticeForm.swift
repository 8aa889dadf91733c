internal import Storage

/// The settings of notices as the form has them: as somebody typed them, right or wrong.
struct NoticeForm {
    struct Fault: Error { let text: String }

    static let channels = ["mail", "push", "webhook"]
    static let manners = ["at_once", "daily", "never"]

    var manners: [String: String] = [:]
    var channels: [String: Set<String>] = [:]
    var daily, quietFrom, quietUntil, backlog, repeatHours: String
    var isQuietForCritical, hasMadeMachines, isMailEnded: Bool

    init(_ setting: NoticeSetting) {
        manners = ["critical": setting.critical.manner, "warning": setting.warning.manner]
        channels = ["critical": setting.critical.channels, "warning": setting.warning.channels]
        daily = NoticeForm.clock(setting.dailyMinute)
        quietFrom = setting.quiet.map { NoticeForm.clock($0.from) } ?? ""
        quietUntil = setting.quiet.map { NoticeForm.clock($0.until) } ?? ""
        (backlog, repeatHours) = (setting.backlog, NoticeForm.hours(setting.repeatMin))
        isQuietForCritical = setting.isQuietForCritical
        (hasMadeMachines, isMailEnded) = (setting.hasMadeMachines, setting.isMailEnded)
    }

    init(_ fields: Fields) {
        for severity in ["critical", "warning"] {
            manners[severity] = fields["\(severity)_manner"] ?? ""
            channels[severity] = Set(fields.all("\(severity)_channel"))
        }
        func text(_ name: String) -> String { String((fields[name] ?? "").prefix(20)) }
        (daily, quietFrom, quietUntil) = (text("daily"), text("quiet_from"), text("quiet_until"))
        (backlog, repeatHours) = (text("backlog"), text("repeat_h"))
        isQuietForCritical = fields["quiet_critical"] == "1"
        hasMadeMachines = fields["made_machines"] == "1"
        isMailEnded = fields["mail_ended"] == "1"
    }

    func setting() throws(Fault) -> NoticeSetting {
        var setting = NoticeSetting()
        func way(_ severity: String) throws(Fault) -> NoticeSetting.Way {
            let (manner, channels) = (manners[severity] ?? "", channels[severity] ?? [])
            guard NoticeForm.manners.contains(manner), channels.isSubset(of: NoticeForm.channels) else {
                throw Fault(text: "\(severity) alerts come at once, daily or never, by mail, push or webhook")
            }
            return .init(manner, channels)
        }
        setting.critical = try way("critical")
        setting.warning = try way("warning")
        guard let minute = NoticeForm.minute(daily) else {
            throw Fault(text: "the daily message needs a time like 07:00")
        }
        setting.dailyMinute = minute
        if !quietFrom.isEmpty || !quietUntil.isEmpty {
            guard let from = NoticeForm.minute(quietFrom), let until = NoticeForm.minute(quietUntil), from != until
            else {
                throw Fault(text: "quiet hours need two different times like 22:00 and 06:00, or none")
            }
            setting.quiet = (from, until)
        }
        guard ["as_usual", "daily", "never"].contains(backlog) else {
            throw Fault(text: "backlog is not one of the choices")
        }
        setting.backlog = backlog
        guard let hours = Double(repeatHours.isEmpty ? "0" : repeatHours.replacing(",", with: ".")),
            hours == 0 || (0.25...168).contains(hours)
        else { throw Fault(text: "alerts are told again after 0.25 to 168 hours, or never (0)") }
        setting.repeatMin = Int((hours * 60).rounded())
        setting.isQuietForCritical = isQuietForCritical
        (setting.hasMadeMachines, setting.isMailEnded) = (hasMadeMachines, isMailEnded)
        return setting
    }

    private static func clock(_ minute: Int) -> String {
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
