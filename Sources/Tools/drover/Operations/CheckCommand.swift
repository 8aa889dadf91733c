import Alerts
import App
import Codecs
import ExternalServices
import Formats
import Gateways
import Ingest
import Kafka
import Postgres
import Reports
import Settings
import Storage
import Trips
import Web

extension Command {
    static let check = Command(
        name: "check", operands: "[options]",
        summary:
            "Checks settings, their files, thresholds, PostgreSQL and the broker, and says all that is wrong at once.",
        options: [
            .init("--offline", nil, "only settings and files: neither PostgreSQL nor the broker is asked"),
            .init("--format", "FORMAT", "table (default) or json"),
        ] + SettingsSource.options,
        example: "drover check --settings drover.yaml",
        run: { arguments in
            let isJSON = try arguments.one("--format", of: ["table": false, "json": true], standard: "table")
            guard arguments.operands.isEmpty else { throw UsageError("it takes no operand") }
            let findings = findings(try SettingsSource.said(arguments), isOffline: arguments.has("--offline"))
            Out.result(isJSON ? json(findings) : findings.map(\.line).joined(separator: "\n"))
            return findings.allSatisfy { $0.state == .ok } ? .done : .failed
        })

    private struct Finding {
        enum State: String { case ok, wrong, unknown }
        let check: String
        let state: State
        let message: String

        var line: String { check + (state == .ok ? ": ok, " : ": ") + message }

        init(check: String, state: State, message: String) {
            self.check = check
            self.state = state
            // An error of PostgreSQL names it, too.
            self.message = message.hasPrefix(check + ": ") ? String(message.dropFirst(check.count + 2)) : message
        }
    }

    private static func json(_ findings: [Finding]) -> String {
        let items = findings.map {
            JSONValue.object([
                ("check", .text($0.check)), ("message", .text($0.message)), ("state", .text($0.state.rawValue)),
            ])
        }
        return JSONValue.list(items).rendered(indent: true)
    }

    private static func findings(_ sources: [SettingSource], isOffline: Bool) -> [Finding] {
        let reading = Settings.read(sources)
        let settings = reading.settings
        let files =
            SettingFiles.faults(settings)
            + KafkaRules.faults(settings).map {
                SettingFiles.Fault(key: $0.key, text: settings.located($0.text), isInTheWay: true)
            }
        let faults = reading.faults + files.map(\.text)
        let inTheWay = reading.keys.union(files.filter(\.isInTheWay).map(\.key))
        var findings = faults.map { Finding(check: "settings", state: .wrong, message: $0) }
        if faults.isEmpty {
            let names = sources.filter { !$0.values.isEmpty }.map(\.name)
            findings.append(
                Finding(
                    check: "settings", state: .ok,
                    message: names.isEmpty ? "all are defaults" : "from \(names.joined(separator: ", "))"))
        }
        let isWhole = sources.allSatisfy(\.isWhole)
        for look in isOffline ? looks : looks + serverLooks {
            let bad = inTheWay.filter { key in look.needs.contains { key.hasPrefix($0) } }.sorted()
            guard isWhole, bad.isEmpty else {
                let first = isWhole ? bad.joined(separator: ", ") : "the file's syntax"
                findings.append(
                    Finding(check: look.name, state: .unknown, message: "not looked at: mend \(first) first"))
                continue
            }
            do {
                findings.append(Finding(check: look.name, state: .ok, message: try look.look(settings)))
            } catch {
                findings.append(Finding(check: look.name, state: .wrong, message: settings.located("\(error)")))
            }
        }
        return findings
    }

    /// Whether the settings hold together; nobody outside is asked.
    private static func servicesOfOthers(_ settings: Settings) throws -> String {
        let weather = try settings.weather().map { "weather from \($0.provider.rawValue)" } ?? "no weather"
        let travel = try settings.travel().service == nil ? "travel times by distance" : "travel times from a service"
        let places = try settings.geocoder() == nil ? "no addresses" : "addresses from a geocoder"
        return "\(weather), \(travel), \(places); `drover outside check` asks them"
    }

    private static func page(_ settings: Settings) throws -> String {
        _ = try PageRole.nodes(settings)
        let address = try PageRole.listens(settings)
        let mails = try PageRole.accountMail(settings) == nil ? "no mails of accounts" : "mails of accounts"
        let provider = try settings.openIDProvider()?.name
        _ = try settings.secondFactorRule()
        return "\(address), \(mails), \(provider.map { "log-in also at \($0)" } ?? "log-in by password")"
    }

    private static func gateway(_ settings: Settings) throws -> String {
        _ = try settings.pollSchedule()
        let networks = try settings.plainNetworks().count
        _ = try settings.deviceReach()
        return "without TLS in \(networks) networks, cars asked by the schedule"
    }

    private struct Look: Sendable {
        let name: String
        /// Beginnings of the settings that it goes by.
        let needs: [String]
        let look: @Sendable (Settings) throws -> String
    }

    /// Checks, in the order of what needs what.
    private static let looks = [
        Look(name: "trip rules", needs: ["trips."]) { settings in
            let rules = try settings.tripRules()
            return "holes beyond \(rules.gapMs / 1_000) s, trips end after \(rules.tripGapMs / 60_000) min"
        },
        Look(name: "thresholds", needs: ["alerts."]) { settings in
            let rules = try Rules.load(Home.path(settings.text("alerts.thresholds_dir")))
            return "version \(rules.version), models \(rules.modelNames.joined(separator: ", "))"
        },
        Look(name: "trouble codes", needs: ["cars."]) { settings in
            let folder = TroubleCodeFolder(try Home.path(settings.text("cars.trouble_codes_dir")))
            let makes = try folder.makes()
            for make in makes { _ = try folder.meanings(make: make) }
            let of = makes.isEmpty ? "" : ", of \(makes.joined(separator: ", "))"
            return "\(try folder.meanings().codes.count) generic meanings\(of)"
        },
        Look(name: "ticks", needs: ["ticks."]) { settings in
            "from \(try ServiceRoles.tickRoles(settings).joined(separator: ", "))"
        },
        Look(name: "gateway", needs: ["gateway."], look: gateway),
        Look(name: "page", needs: ["web.", "oidc.", "people.", "surveys."], look: page),
        Look(name: "map", needs: ["map.", "outside."]) { settings in
            let map = try PageRole.baseMap(settings, Home.assets(), log: ServiceRoles.log)
            defer { map.stop() }
            return "by \(map.attribution)"
        },
        Look(name: "languages", needs: []) { _ in try Home.assets().languages.list },
        Look(name: "apps", needs: ["apps."]) { settings in try AppsRole.check(settings) },
        Look(name: "mail", needs: ["mail.", "people."]) { settings in
            let key = try MailRole.codeKey(settings)
            guard try MailRole.relay(settings, log: ServiceRoles.log) != nil else {
                return "none goes out, no codes for people"
            }
            let codes = key == nil ? "no codes for people" : "codes for people"
            return "by \(settings.text("mail.server")), \(codes)"
        },
        Look(name: "notices", needs: ["notices.", "people.", "mail.", "alertmanager.", "outside."]) { settings in
            try NoticeRole.check(settings)
        },
        Look(name: "collector", needs: ["forward."]) { settings in try ForwardRole.check(settings) },
        Look(name: "fleets of other makers", needs: ["iso."]) { settings in
            try settings.text("iso.endpoint").isEmpty ? "none" : isoSettings(settings).endpoint
        },
        Look(
            name: "services of others", needs: ["weather.", "travel.", "geocoder.", "outside."],
            look: servicesOfOthers),
    ]

    private static let loginLooks = DatabaseLoginSetting.all.map { login in
        Look(name: login.key, needs: [login.key]) { try look(at: login, $0) }
    }

    private static func look(at login: DatabaseLoginSetting, _ settings: Settings) throws -> String {
        let conninfo = settings.text(login.key)
        guard !conninfo.isEmpty else { return "not set" }
        let (user, isMember) = try login.look(on: Connection(conninfo: conninfo))
        guard isMember else {
            throw Failure(
                "the login \(user) is not in the role \(login.role): name another one in \(login.key), or as the owner: "
                    + "GRANT \(login.role) TO \(user)")
        }
        return "\(user), in \(login.role)"
    }

    private static let serverLooks =
        loginLooks + [
            Look(name: "PostgreSQL", needs: ["postgres.url"]) { settings in
                let connection = try Connection(conninfo: settings.text("postgres.url"))
                let last = try Migrator.applied(on: connection).max()
                return "server \(connection.serverVersion / 10_000), migration \(last ?? 0)"
            },
            Look(name: "key from before", needs: ["people.", "postgres."]) { settings in try keyBefore(settings) },
            Look(name: "broker", needs: ["kafka."]) { settings in
                let standing = try Topics.standing(
                    settings.kafka(clientID: "drover-check"), settings.topicShape, timeoutMs: 5_000)
                if let remedy = standing.remedy { throw Failure(remedy) }
                return standing.text
            },
            Look(name: "topics", needs: ["kafka.", "postgres.url"]) { settings in
                let standing = try TopicsStatus(
                    settings, clientID: "drover-check", on: Connection(conninfo: settings.text("postgres.url")))
                guard standing.faults.isEmpty else { throw Failure(standing.faults.joined(separator: "; ")) }
                return "\(standing.topics) that workers read are what they were"
            },
            Look(name: "trip rules in force", needs: ["trips.", "postgres.url"]) { settings in
                let standing = try TripRulesStatus(on: Connection(conninfo: settings.text("postgres.url")))
                if let difference = try standing.difference(settings.tripRules()) {
                    throw Failure("\(difference); \(TripRulesStatus.remedy)")
                }
                return standing.partitions.isEmpty ? "none yet: a worker begins with the settings'" : "the settings'"
            },
        ]
}
