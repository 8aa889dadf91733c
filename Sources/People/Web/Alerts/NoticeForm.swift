internal import Alerts
internal import Notifications

/// The settings of notices as the form has them: as somebody typed them, right or wrong.
struct NoticeForm {
    struct Fault: Error { let text: String }

    static let severities: [Episode.Severity] = [.critical, .warning]

    var manners: [Episode.Severity: String] = [:]
    var channels: [Episode.Severity: Set<String>] = [:]
    var daily, quietFrom, quietUntil, backlog, repeatHours: String
    var isQuietForCritical, hasMadeMachines, isMailEnded: Bool

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

    func setting() throws(Fault) -> NoticeSetting {
        var setting = NoticeSetting()
        setting.critical = try way(.critical)
        setting.warning = try way(.warning)
        guard let minute = NoticeForm.minute(daily) else {
            throw Fault(text: "the daily message needs a time like 07:00")
        }
        setting.dailyMinute = minute
        if !quietFrom.isEmpty || !quietUntil.isEmpty {
            guard let from = NoticeForm.minute(quietFrom), let until = NoticeForm.minute(quietUntil), from != until
            else {
                throw Fault(text: "quiet hours need two different times like 22:00 and 06:00, or none")
            }
            setting.quiet = .init(from: from, until: until)
        }
        guard let backlog = NoticeBacklog(rawValue: backlog) else {
            throw Fault(text: "backlog is not one of the choices")
        }
        setting.backlog = backlog
        guard let hours = Double(repeatHours.isEmpty ? "0" : repeatHours.replacing(",", with: ".")),
            hours == 0 || (0.25...168).contains(hours)
        else { throw Fault(text: "alerts are told again after 0.25 to 168 hours, or never (0)") }
        setting.repeatMin = Int((hours * 60).rounded())
        setting.isQuietForCritical = isQuietForCritical
        setting.hasMadeMachines = hasMadeMachines
        setting.isMailEnded = isMailEnded
        return setting
    }

    private func way(_ severity: Episode.Severity) throws(Fault) -> NoticeSetting.Way {
        let typed = channels[severity] ?? []
        let channels = typed.compactMap { NoticeChannel(rawValue: $0) }
        guard let manner = NoticeManner(rawValue: manners[severity] ?? ""), channels.count == typed.count else {
            throw Fault(text: "\(severity.rawValue) alerts come at once, daily or never, by mail, push or webhook")
        }
        return .init(manner, Set(channels))
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
