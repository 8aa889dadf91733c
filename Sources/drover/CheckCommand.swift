import Alerts
import Kafka
import Observe
import Outside
import Postgres
import Reports
import Settings
import Trips
import Wire

extension Command {
    static let check = Command(
        name: "check", operands: "[options]",
        summary: "Checks settings, thresholds, PostgreSQL and the broker, and says what is wrong with each.",
        options: [.init("--settings-help", nil, "list all settings instead")] + SettingsSource.options,
        example: "drover check --settings drover.yaml",
        run: { arguments in
            if arguments.has("--settings-help") {
                Out.result(settingsTable().text())
                return .done
            }
            let settings = try SettingsSource.load(arguments)
            var faults = 0
            for (name, look) in looks {
                do {
                    Out.result("\(name): ok, \(try look(settings))")
                } catch {
                    Out.result("\(name): \(error)")
                    faults += 1
                }
            }
            return faults == 0 ? .done : .failed
        })

    /// Whether the settings hold together; nobody outside is asked.
    private static func servicesOfOthers(_ settings: Settings) throws -> String {
        let weather = try settings.weather().map { "weather from \($0.provider.rawValue)" } ?? "no weather"
        let travel = try settings.travel().service == nil ? "travel times by distance" : "travel times from a service"
        let places = try settings.geocoder() == nil ? "no addresses" : "addresses from a geocoder"
        return "\(weather), \(travel), \(places); `drover outside check` asks them"
    }

    /// What is looked at, in the order of what needs what.
    private static let looks: [(name: String, look: @Sendable (Settings) throws -> String)] = [
        (
            "trip rules",
            { settings in
                let rules = try settings.tripRules()
                return "holes beyond \(rules.gapMs / 1_000) s, trips end after \(rules.tripGapMs / 60_000) min"
            }
        ),
        (
            "thresholds",
            { settings in
                let rules = try Rules.load(Home.path(settings.text("alerts.thresholds_dir")))
                return "version \(rules.version), models \(rules.modelNames.joined(separator: ", "))"
            }
        ),
        (
            "trouble codes",
            { settings in
                let folder = TroubleCodeFolder(try Home.path(settings.text("cars.trouble_codes_dir")))
                let makes = try folder.makes()
                for make in makes { _ = try folder.meanings(make: make) }
                let of = makes.isEmpty ? "" : ", of \(makes.joined(separator: ", "))"
                return "\(try folder.meanings().codes.count) generic meanings\(of)"
            }
        ),
        ("apps", { settings in try AppsRole.check(settings) }),
        (
            "mail",
            { settings in
                let codes = try MailRole.codeKey(settings) == nil ? "no codes for people" : "codes for people"
                return try MailRole.relay(settings, log: Roles.log) == nil
                    ? "none goes out, \(codes)" : "by \(settings.text("mail.server")), \(codes)"
            }
        ),
        ("notices", { settings in try NoticeRole.check(settings) }),
        ("collector", { settings in try ForwardRole.check(settings) }),
        ("services of others", { settings in try servicesOfOthers(settings) }),
        (
            "PostgreSQL",
            { settings in
                let connection = try Connection(conninfo: settings.text("postgres.url"))
                let last = try connection.query("SELECT max(number) AS last FROM drover.migration")[0].int("last")
                return "server \(connection.serverVersion / 10_000), migration \(last ?? 0)"
            }
        ),
        (
            "broker",
            { settings in
                let topics = try Admin(settings.kafka(clientID: "drover-check")).topics(timeoutMs: 5_000)
                return "\(topics.count) topics"
            }
        ),
    ]

    private static func settingsTable() -> Table {
        var table = Table(["setting", "default", "what"])
        for row in SettingRow.table {
            table.rows.append([row.key, row.standard.isEmpty ? nil : row.standard, row.help])
        }
        return table
    }
}
