import Alerts
import App
import Codecs
import Fleet
import Postgres
import Reports
import Settings
import Storage
import Telemetry

internal import Formats
import Postgres
import Reports
import Settings
import Storage
import Telemetry

extension Command {
    static let account = Command(
        name: "account",
        operands:
            "list | add ID | link ID | roles ID | disable ID | enable ID | erase ID | export ID | second-factor ID | psql ID | no-psql ID | copy ID "
            + "| reseal | settings show ID | settings set ID KEY=VALUE…",
        summary:
            "Who logs in, and an account's own switches, limits, units and fuel price. KEY= takes the standard again.",
        options: [
            .init("--mail", "M", "add: the mail address to log in with (default: whoever opens the link says it)"),
            .init("--role", "R", "add, roles: what it may do; may be given several times"),
            .init("--remove", nil, "second-factor: take it away, of whose phone and recovery codes are lost"),
            .init("--to", "FOLDER", "export: where the archive goes, as ID-DATE.zip"),
            .init("--format", "F", "list, show: table, csv or json (default table)"),
            .init("--by", "NAME", "settings set: who says it (default: the login's name, or operator)"),
        ] + SettingsSource.options,
        example: "drover account add miller --mail miller@example.org --role farmer",
        run: { arguments in
            let words = arguments.operands
            if words == ["list"] { return try listAccounts(arguments) }
            if words == ["reseal"] { return try reseal(arguments) }
            guard words.count >= 2, VehicleID.isValid(words.last(where: { !$0.contains("=") })!.utf8) else {
                throw UsageError("say what, and for which account: 1 to 64 letters, digits, -, _ or .")
            }
            switch (words[0], words.count) {
            case ("add", 2): return try addAccount(words[1], arguments)
            case ("link", 2): return try newLink(words[1], arguments)
            case ("roles", 2): return try setRoles(words[1], arguments)
            case ("disable", 2): return try disableAccount(true, words[1], arguments)
            case ("enable", 2): return try disableAccount(false, words[1], arguments)
            case ("psql", 2): return try databaseLogin(words[1], arguments)
            case ("no-psql", 2): return try endDatabaseLogin(words[1], arguments)
            case ("copy", 2): return try copyRows(of: words[1], arguments)
            case ("erase", 2): return try eraseAccount(words[1], arguments)
            case ("export", 2): return try exportAccount(words[1], arguments)
            case ("second-factor", 2): return try secondFactor(words[1], arguments)
            case ("settings", 3) where words[1] == "show": return try showSettings(of: words[2], arguments)
            case ("settings", 4...) where words[1] == "set": return try set(words[3...], of: words[2], arguments)
            default:
                throw UsageError(
                    "say `list`, `add ID`, `link ID`, `roles ID`, `disable ID`, `enable ID`, `erase ID`, "
                        + "`export ID --to FOLDER`, `second-factor ID`, `psql ID`, `no-psql ID`, `copy ID`, `reseal`, "
                        + "`settings show ID` or `settings set ID KEY=VALUE…`")
            }
        })

    private static func settings(
        of account: String, _ arguments: Arguments
    ) throws -> (settings: DriverSettings, inForceMs: Int64)? {
        let conninfo = try SettingsSource.load(arguments).readerConninfo
        return try AccountStore.settings(of: account, on: Connection(conninfo: conninfo))
    }

    private static func showSettings(of account: String, _ arguments: Arguments) throws -> ExitCode {
        let isJSON = try arguments.one("--format", of: ["table": false, "json": true], standard: "table")
        let settings = try settings(of: account, arguments)?.settings ?? .standard
        Out.result(isJSON ? settings.whole.rendered(indent: true) : settings.table().text())
        return .done
    }

    private static func set(
        _ words: ArraySlice<String>, of account: String, _ arguments: Arguments
    ) throws -> ExitCode {
        try checkName(account)
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
    func table(_ settings: [DriverSetting] = DriverSetting.allCases) -> Table {
        var table = Table(["setting", "value", "said", "meaning"])
        guard case .object(let fields) = whole(settings) else { return table }
        table.rows = fields.map { key, value in
            let setting = DriverSetting(rawValue: key)!
            return [key, value.rendered(), said[setting] == nil ? "standard" : "yes", setting.row.help]
        }
        return table
    }
}
