internal import Alerts
internal import Fleet
package import HTTPServer
package import Ingest
internal import Postgres
internal import Reports
internal import Storage
internal import Telemetry
internal import Presentation

/// An account's own switches, limits and fuel price of its drives: a page for what `/v1/settings` is for programs.
package struct SettingsSite: Sendable {
    private let door: Door
    private let assets: AssetFiles
    private let uploads: UploadSender

    package init(door: Door, assets: AssetFiles, uploads: UploadSender) {
        self.door = door
        self.assets = assets
        self.uploads = uploads
    }

    package func add(to router: inout Router) {
        router.add("GET", "/settings") { request in
            door.page(request, for: Site.fleetReaders) { caller, connection in
                let settings = try AccountStore.settings(of: caller.account, on: connection)?.settings ?? .standard
                let notice: FormPage.Notice? =
                    request.query["said"] == "taken"
                    ? .done("Saved. It holds from now on, and shows here when it is committed: look again in a moment.")
                    : nil
                return page(caller, settings, typed: [:], notice)
            }
        }
        router.add("POST", "/settings") { request in
            door.form(request, for: Site.fleetReaders) { caller, fields, _ in save(caller, fields) }
        }
    }

    private static let form = SettingsForm(settings: DriverSetting.allCases)

    private func save(_ caller: PageCaller, _ fields: Fields) -> Response {
        let typed = SettingsSite.form.typed(fields)
        switch SettingsSite.form.read(typed) {
        case .fault(let why):
            var response = page(caller, .standard, typed: typed, .fault("Nothing was changed: \(why)."))
            response.status = 422
            return response
        case .settings(let settings):
            let upload = Upload(settings: settings.text, account: caller.account, nowMs: Clock.nowMs())
            return uploads.refusal(upload) ?? .seeOther("/settings?said=taken")
        }
    }

    /// - Parameter typed: what somebody wrote, to be shown again; empty: show `settings`.
    private func page(
        _ caller: PageCaller, _ settings: DriverSettings, typed: [DriverSetting: String], _ notice: FormPage.Notice?
    ) -> Response {
        let fields = SettingsSite.form.fields(settings, typed: typed)
        return PageShell(caller: caller, assets: assets).page(
            "settings", at: "/settings",
            main: FormPage.main(
                "Settings of your drives", notice,
                """
                <p>Alerts of your drives, and what they cost. Leave empty for the default. Units and time zone of pages are on <a href="/account">your account</a>.</p>
                \(FormPage.form("/settings", [.hidden(name: FormGuard.field, value: caller.mark)] + fields, "Save"))
                """))
    }
}
