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
package struct SettingsRoutes: Sendable {
    private let access: AccessControl
    private let assets: AssetFiles
    private let uploads: UploadSender

    package init(access: AccessControl, assets: AssetFiles, uploads: UploadSender) {
        self.access = access
        self.assets = assets
        self.uploads = uploads
    }

    package func add(to router: inout Router) {
        router.add("GET", "/settings") { request in
            access.page(request, for: WebRoutes.fleetReaders) { caller, connection in
                let settings = try AccountStore.settings(of: caller.account, on: connection)?.settings ?? .standard
                let notice: FormView.Notice? =
                    request.query["said"] == "taken"
                    ? .done("Saved. It holds from now on, and shows here when it is committed: look again in a moment.")
                    : nil
                return page(caller, settings, typed: [:], notice)
            }
        }
        router.add("POST", "/settings") { request in
            access.form(request, for: WebRoutes.fleetReaders) { caller, fields, _ in save(caller, fields) }
        }
    }

    private static let form = SettingsForm(settings: DriverSetting.allCases)

    private func save(_ caller: PageCaller, _ fields: FormFields) -> Response {
        let typed = SettingsRoutes.form.typed(fields)
        switch SettingsRoutes.form.read(typed) {
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
        _ caller: PageCaller, _ settings: DriverSettings, typed: [DriverSetting: String], _ notice: FormView.Notice?
    ) -> Response {
        let fields = SettingsRoutes.form.fields(settings, typed: typed)
        return PageShell(caller: caller, assets: assets).page(
            "settings", at: "/settings",
            main: FormView.main(
                "Settings of your drives", notice,
                """
                <p>Alerts of your drives, and what they cost. Leave empty for the default. Units and time zone of pages are on <a href="/account">your account</a>.</p>
                \(FormView.form("/settings", [.hidden(name: CSRFGuard.field, value: caller.mark)] + fields, "Save"))
                """))
    }
}
