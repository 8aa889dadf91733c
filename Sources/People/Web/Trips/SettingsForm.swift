internal import Alerts
internal import Basics
internal import Codecs

/// A form with all fields of some settings, so that it replaces them all: an account's own, or the installation's limits.
struct SettingsForm {
    let settings: [DriverSetting]

    enum Read {
        case settings(DriverSettings)
        case fault(String)
    }

    func typed(_ fields: FormFields) -> [DriverSetting: String] {
        settings.reduce(into: [:]) { $0[$1] = fields[$1.rawValue] ?? "" }
    }

    func read(_ typed: [DriverSetting: String]) -> Read {
        var said = DriverSettings.standard
        for setting in settings where typed[setting] != "" {
            if let twin = setting.row.twin, said.said[twin] != nil {
                return .fault("`\(setting.rawValue)` and `\(twin.rawValue)` say the same: leave one of them empty")
            }
            do throws(DriverSettings.Fault) {
                try said.set("\(setting.rawValue)=\(typed[setting] ?? "")")
            } catch {
                return .fault(error.description)
            }
        }
        return .settings(said)
    }

    /// - Parameter typed: what somebody wrote, to be shown again; empty: show `known`.
    func fields(_ known: DriverSettings, typed: [DriverSetting: String]) -> [FormView.Field] {
        settings.map { setting in
            let shown = typed[setting] ?? SettingsForm.text(known.said[setting])
            let standard = setting.row.standard.map { ", standard \(SettingsForm.text($0))" } ?? ""
            let label = "\(setting.row.help) (\(setting.rawValue)\(standard))"
            return switch setting.row.kind {
            case .flag:
                .choice(
                    name: setting.rawValue, label: label, of: [("", "standard"), ("on", "on"), ("off", "off")],
                    chosen: shown)
            case .choice(let words):
                .choice(
                    name: setting.rawValue, label: label, of: [("", "standard")] + words.map { ($0, $0) }, chosen: shown
                )
            case .number, .currency: .optional(name: setting.rawValue, label: label, value: shown, autocomplete: "off")
            }
        }
    }

    private static func text(_ value: DriverSettings.Value?) -> String {
        switch value {
        case nil: ""
        case .flag(let flag): flag ? "on" : "off"
        case .number(let thousandths): Decimal.text(thousandths, decimals: 3)
        case .text(let text): text
        }
    }
}
