internal import Clients
package import Delivery
internal import ExternalServices
package import Settings
package import Telemetry
package import Web

/// Notices of alerts: who is told and by what, wired from settings.
package enum NoticeRole {
    package static func relay(_ settings: Settings, log: Log) throws -> NoticeRelay {
        NoticeRelay(
            NoticeSettings(
                conninfo: conninfo(settings), hasMail: MailRole.isSet(settings),
                codeKey: try MailRole.codeKey(settings), site: site(settings),
                groupWaitMs: settings.integer("notices.group_wait_s") * 1_000), metrics: MetricsRole.of("notices"),
            log: log)
    }

    /// Nil: there is no key to keep messages under.
    package static func webhooks(_ settings: Settings, log: Log) throws -> (any: WebhookRelay, answered: WebhookRelay)?
    {
        guard let codeKey = try MailRole.codeKey(settings) else { return nil }
        return WebhookRelay.ways(
            WebhookSettings(
                conninfo: conninfo(settings), codeKey: codeKey,
                webhookHosts: try hosts("notices.webhook_hosts", settings),
                pushHosts: try hosts("notices.push_hosts", settings), pushKey: try pushKey(settings),
                reach: try settings.noticeReach(), caFile: try roots(settings)), metrics: MetricsRole.of("post"),
            log: log)
    }

    /// Nil: none is set.
    package static func alertmanager(_ settings: Settings, log: Log) throws -> AlertmanagerRelay? {
        guard !settings.text("alertmanager.url").isEmpty else { return nil }
        let address = try ServiceAddress(settings.text("alertmanager.url"), setting: "alertmanager.url")
        return AlertmanagerRelay(
            AlertmanagerSettings(
                url: address.base, isPlainAllowed: address.isPlain, caFile: try roots(settings),
                intervalMs: settings.integer("alertmanager.interval_s") * 1_000, site: site(settings),
                conninfo: conninfo(settings)), metrics: MetricsRole.of("alertmanager"), log: log)
    }

    package static func check(_ settings: Settings) throws -> String {
        let codeKey = try MailRole.codeKey(settings)
        let (webhooks, pushes) = (try hosts("notices.webhook_hosts", settings), try pushKey(settings))
        _ = try settings.noticeReach()
        if codeKey == nil, !webhooks.isEmpty || pushes != nil {
            throw Failure("people.code_key_file: webhooks and pushes need it: make it with `openssl rand -out FILE 32`")
        }
        let ways = [
            settings.text("mail.server").isEmpty ? nil : "mail", webhooks.isEmpty ? nil : "webhooks",
            pushes == nil ? nil : "pushes",
            try alertmanager(settings, log: ServiceRoles.log) == nil ? nil : "Alertmanager",
        ].compactMap(\.self)
        return ways.isEmpty ? "nobody is told of alerts beside the pages" : "by " + ways.joined(separator: ", ")
    }

    /// The ways to be told that pages offer.
    package static func ways(_ settings: Settings) throws -> NoticeRoutes.Ways {
        let codeKey = try MailRole.codeKey(settings)
        return NoticeRoutes.Ways(
            hasMail: MailRole.isSet(settings),
            webhookHosts: codeKey == nil ? try AllowedHosts("") : try hosts("notices.webhook_hosts", settings),
            pushHosts: try hosts("notices.push_hosts", settings),
            pushKey: codeKey == nil ? nil : try pushKey(settings)?.publicKey, codeKey: codeKey)
    }

    static func hosts(_ name: String, _ settings: Settings) throws -> AllowedHosts {
        do throws(AllowedHosts.Fault) { return try AllowedHosts(settings.text(name)) } catch {
            throw Failure("\(name): \(error)")
        }
    }

    /// Nil: none is set.
    static func pushKey(_ settings: Settings) throws -> PushKey? {
        let file = settings.text("notices.push_key_file")
        guard !file.isEmpty else { return nil }
        let contact = settings.text("outside.contact", or: "mail.from")
        guard !contact.isEmpty, contact.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
        else {
            throw Failure("outside.contact: push services want to know whom to reach: set a mail address or page")
        }
        do { return try PushKey(pem: Files.read(file), contact: contact) } catch let fault as PushKey.Fault {
            throw Failure("notices.push_key_file: \(file) \(fault)")
        }
    }

    private static func conninfo(_ settings: Settings) -> String {
        settings.relayConninfo
    }

    private static func roots(_ settings: Settings) throws -> String? {
        let file = settings.text("notices.ca_file")
        guard !file.isEmpty else { return nil }
        _ = try Files.read(file)
        return file
    }

    /// Without a slash at the end.
    private static func site(_ settings: Settings) -> String {
        var site = settings.text("web.public_url")
        while site.hasSuffix("/") { site.removeLast() }
        return site
    }
}
