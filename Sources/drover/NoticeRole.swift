import Notices
import Observe
import Settings

/// Who is told of alerts, wired from settings.
enum NoticeRole {
    static func relay(_ settings: Settings, log: Log) throws -> NoticeRelay {
        var site = settings.text("web.public_url")
        while site.hasSuffix("/") { site.removeLast() }
        return NoticeRelay(
            NoticeSettings(
                conninfo: settings.text("postgres.relay_url", or: "postgres.url"),
                hasMail: !settings.text("mail.server").isEmpty, codeKey: try MailRole.codeKey(settings), site: site,
                groupWaitMs: settings.integer("notices.group_wait_s") * 1_000), metrics: Metrics(), log: log)
    }
}

extension Roles {
    /// What `drover notify` does beside the topics, each in a thread of its own: whom to tell of alerts, mail, surveys to a
    /// collector. To be stopped in the order in which they stand.
    static func besideRelay(_ settings: Settings, log: Log) throws -> [RunningRole] {
        let notices = try NoticeRole.relay(settings, log: log)
        let mail = try MailRole.relay(settings, log: log)
        let forward = try ForwardRole.relay(settings, log: log)
        return [RunningRole("notices") { notices.run(shouldStop: $0) }]
            + [mail.map { mail in RunningRole("mail") { mail.run(shouldStop: $0) } }].compactMap(\.self)
            + [forward.map { forward in RunningRole("forward") { forward.run(shouldStop: $0) } }].compactMap(\.self)
    }
}
