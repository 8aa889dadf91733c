import Alerts
import Fleet
import Observe
import Postgres
import Reports
import Settings
import Storage
import Wire

extension Command {
    static let account = Command(
        name: "account", operands: "settings show ACCOUNT | settings set ACCOUNT KEY=VALUE…",
        summary: "An account's own switches, limits, units and fuel price. KEY= takes the standard again.",
        options: [
            .init("--format", "F", "show: table or json (default table)"),
            .init("--by", "NAME", "set: who says it (default: the login's name)"),
        ] + SettingsSource.options,
        example: "drover account settings set miller speed_limit_mph=75 mail=on units=metric",
        run: { arguments in
            let words = arguments.operands
            guard words.count >= 3, words[0] == "settings", VehicleID.isValid(words[2].utf8) else {
                throw UsageError(
                    "say `settings show ACCOUNT` or `settings set ACCOUNT KEY=VALUE…`; an account is 1 to 64 letters, "
                        + "digits, -, _ or .")
            }
            switch (words[1], words.count) {
            case ("show", 3): return try showSettings(of: words[2], arguments)
            case ("set", 4...): return try set(words[3...], of: words[2], arguments)
            default: throw UsageError("say `settings show ACCOUNT` or `settings set ACCOUNT KEY=VALUE…`")
            }
        })

    private static func settings(
        of account: String, _ arguments: Arguments
    ) throws -> (settings: DriverSettings, inForceMs: Int64)? {
        let conninfo = try SettingsSource.load(arguments).text("postgres.reader_url", or: "postgres.url")
        return try AccountStore.settings(of: account, on: Connection(conninfo: conninfo))
    }

    private static func showSettings(of account: String, _ arguments: Arguments) throws -> ExitCode {
        let isJSON = try arguments.one("--format", of: ["table": false, "json": true], standard: "table")
        let settings = try settings(of: account, arguments)?.settings ?? .standard
        Out.result(isJSON ? settings.whole.rendered(indent: true) : settings.table.text())
        return .done
    }

    private static func set(
        _ words: ArraySlice<String>, of account: String, _ arguments: Arguments
    ) throws -> ExitCode {
        var settings = try settings(of: account, arguments)?.settings ?? .standard
        for word in words {
            do throws(DriverSettings.Fault) {
                try settings.set(word)
            } catch {
                throw UsageError(error.description)
            }
        }
        let action = try ActionPush.action(
            arguments, vehicle: nil, kind: .settings(account: account, text: settings.text))
        try ActionPush(settings: SettingsSource.load(arguments), topic: Topic.cars).push(action)
        return .done
    }
}

extension DriverSettings {
    /// Every setting that holds, whether it was said or is the standard, and what it means.
    fileprivate var table: Table {
        var table = Table(["setting", "value", "said", "meaning"])
        guard case .object(let fields) = whole else { return table }
        table.rows = fields.map { key, value in
            let setting = DriverSetting(rawValue: key)!
            return [key, value.rendered(), said[setting] == nil ? "standard" : "yes", setting.row.help]
        }
        return table
    }
}
