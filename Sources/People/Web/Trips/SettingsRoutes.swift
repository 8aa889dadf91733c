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
                return page(caller, settings, isSaved: request.query["said"] == "taken")
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
        case .faults(let faults):
            var response = page(caller, .standard, typed: typed, faults: faults)
            response.status = 422
            return response
        case .settings(let settings):
            let upload = Upload(settings: settings.text, account: caller.account, nowMs: Clock.nowMs())
            return uploads.refusal(upload) ?? .seeOther("/settings?said=taken")
        }
    }

    /// - Parameter typed: what somebody wrote, to be shown again; nil: show `settings`.
    private func page(
        _ caller: PageCaller, _ settings: DriverSettings, typed: SettingsForm.Typed? = nil,
        faults: [DriverSetting: String] = [:], isSaved: Bool = false
    ) -> Response {
        let form = SettingsRoutes.form.html(
            settings, typed: typed, faults: faults, units: caller.units, action: "/settings", mark: caller.mark)
        return PageShell(caller: caller, assets: assets).page(
            "settings", at: "/settings",
            heading: PageHeading(
                "Settings", status: "<span class=\"faint small hide-phone\">Of your drives</span>",
                actions: "<a class=\"btn hide-phone\" href=\"/account\">\(HTML.icon(.person))Account</a>"),
            main: """
                \(SettingsRoutes.notice(faults, isSaved: isSaved))
                <p class="soft">Alerts of your drives, and what they cost. Units and time zone of pages are on <a href="/account">your account</a>.</p>
                \(form)
                """)
    }

    /// What became of what was sent.
    static func notice(_ faults: [DriverSetting: String], isSaved: Bool) -> HTML {
        if !faults.isEmpty {
            return HTML.fault(
                "Nothing was saved: \(faults.count == 1 ? "one field needs" : "\(faults.count) fields need") another value."
            )
        }
        return isSaved ? HTML.notice(.done("Saved. It holds from now on, and shows here in a moment.")) : ""
    }
}
