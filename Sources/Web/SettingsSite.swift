internal import Alerts
public import Gateways
public import HTTP
internal import Observe
internal import Fleet
internal import Postgres
internal import Reports
internal import Storage
internal import Wire

/// An account's own switches, limits and fuel price of its drives: a page for what `/v1/settings` is for programs.
public struct SettingsSite: Sendable {
    private let door: Door
    private let assets: AssetFiles
    private let uploads: UploadSender

    public init(door: Door, assets: AssetFiles, uploads: UploadSender) {
        (self.door, self.assets, self.uploads) = (door, assets, uploads)
    }

    public func add(to router: inout Router) {
        router.add("GET", "/settings") { request in
            door.page(request, for: Site.fleetReaders) { caller, connection in
                let settings = try AccountStore.settings(of: caller.account, on: connection)?.settings ?? .standard
                let notice: FormPage.Notice? =
                    request.query["said"] == "taken"
                    ? .done("Taken. It holds from now on, and shows here when it is committed: look again in a moment.")
                    : nil
                return page(caller, settings, typed: [:], notice)
            }
        }
        router.add("POST", "/settings") { request in
            door.form(request, for: Site.fleetReaders) { caller, fields, _ in save(caller, fields) }
        }
    }

    /// The form has all settings, so what it says is all that is said.
    private func save(_ caller: PageCaller, _ fields: Fields) -> Response {
        var settings = DriverSettings.standard
        let typed = DriverSetting.allCases.reduce(into: [:]) { $0[$1] = fields[$1.rawValue] ?? "" }
        func again(_ why: String) -> Response {
            var response = page(caller, settings, typed: typed, .fault("Nothing was changed: \(why)."))
            response.status = 422
            return response
        }
        for setting in DriverSetting.allCases where typed[setting] != "" {
            if let twin = setting.row.twin, settings.said[twin] != nil {
                return again("`\(setting.rawValue)` and `\(twin.rawValue)` say the same: leave one of them empty")
            }
            do throws(DriverSettings.Fault) {
                try settings.set("\(setting.rawValue)=\(typed[setting]!)")
            } catch {
                return again(error.description)
            }
        }
        let upload = Upload(settings: settings.text, account: caller.account, nowMs: Clock.nowMs())
        return uploads.refusal(upload) ?? .seeOther("/settings?said=taken")
    }

    /// - Parameter typed: what somebody wrote, to be shown again; empty: show `settings`.
    private func page(
        _ caller: PageCaller, _ settings: DriverSettings, typed: [DriverSetting: String], _ notice: FormPage.Notice?
    ) -> Response {
        let fields: [FormPage.Field] = DriverSetting.allCases.map { setting in
            let shown = typed[setting] ?? SettingsSite.text(settings.said[setting])
            let standard = setting.row.standard.map { ", standard \(SettingsSite.text($0))" } ?? ""
            let label = "\(setting.row.help) (\(setting.rawValue)\(standard))"
            return switch setting.row.kind {
            case .flag: .choice(setting.rawValue, label, [("", "standard"), ("on", "on"), ("off", "off")], shown)
            case .choice(let words):
                .choice(setting.rawValue, label, [("", "standard")] + words.map { ($0, $0) }, shown)
            case .number, .currency: .optional(setting.rawValue, label, shown, "off")
            }
        }
        return PageShell(caller: caller, assets: assets).page(
            "settings", at: "/settings",
            main: FormPage.main(
                "Settings of your drives", notice,
                "<p>Alerts of your drives, and what they cost. Empty takes the standard. Units and time zone of pages are "
                    + "on <a href=\"/account\">your account</a>.</p>\n"
                    + FormPage.form("/settings", [.hidden(FormGuard.field, caller.mark)] + fields, "Save")))
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
