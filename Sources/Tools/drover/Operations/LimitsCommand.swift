import Alerts
import App
import Codecs
import Fleet
import Formats
import Postgres
import Reports
import Settings
import Storage
import Telemetry

extension Command {
    static let limits = Command(
        name: "limits", operands: "show | set KEY=VALUE…",
        summary: "What judges cars that nobody drives or owns: limits of the installation. alerts=off ends them.",
        options: [
            .init("--format", "F", "show: table or json (default table)"),
            .init("--by", "NAME", "set: who says it (default: the login's name, or operator)"),
        ] + SettingsSource.options,
        example: "drover limits set alerts=on coolant_limit_c=105",
        run: { arguments in
            let words = arguments.operands
            return words.first == "set" ? try set(words.dropFirst(), arguments) : try show(arguments)
        })

    private static func known(_ arguments: Arguments) throws -> DriverSettings? {
        let conninfo = try SettingsSource.load(arguments).readerConninfo
        return try AccountStore.installation(on: Connection(conninfo: conninfo))?.settings
    }

    private static func show(_ arguments: Arguments) throws -> ExitCode {
        let isJSON = try arguments.one("--format", of: ["table": false, "json": true], standard: "table")
        guard let settings = try known(arguments) else {
            Out.note("nothing is set: nobody's limits hold for cars that nobody drives or owns")
            Out.result(isJSON ? "null" : DriverSettings.off.table(DriverSetting.limits).text())
            return .done
        }
        let limits = DriverSetting.limits
        Out.result(isJSON ? settings.whole(limits).rendered(indent: true) : settings.table(limits).text())
        return .done
    }

    private static func set(_ words: ArraySlice<String>, _ arguments: Arguments) throws -> ExitCode {
        var settings = try known(arguments) ?? .standard
        do throws(DriverSettings.Fault) {
            for word in words { try settings.set(limit: word) }
        } catch {
            throw UsageError(error.description)
        }
        let action = try ActionPush.action(arguments, vehicle: nil, kind: .limits(settings))
        let push = try ActionPush(settings: SettingsSource.load(arguments), topic: Topic.cars)
        try CommandAudit.run(
            .rulesPublished, arguments, by: action.by, [("of", "installation"), ("limits", settings.text)]
        ) { try push.push(action) }
        return .done
    }
}

extension Action.Kind {
    /// The limits that hold for cars that nobody answers for.
    static func limits(_ settings: DriverSettings) -> Self {
        .settings(account: InstallationLimits.account, text: settings.text)
    }
}
