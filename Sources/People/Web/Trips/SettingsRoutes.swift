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
                let isSaved = request.query["said"] == "taken"
                return page(
                    caller, settings, isSaved: isSaved,
                    saved: isSaved ? SettingsRoutes.named(request.query["changed"] ?? "") : [])
            }
        }
        router.add("POST", "/settings") { request in
            access.form(request, for: WebRoutes.fleetReaders) { caller, fields, connection in
                let known = try AccountStore.settings(of: caller.account, on: connection)?.settings ?? .standard
                return save(caller, fields, known: known)
            }
        }
    }

    private static let form = SettingsForm(settings: DriverSetting.allCases)

    /// In the address: what was saved is said by its name; what it is now stands in its field.
    private static func named(_ text: String) -> [DriverSetting] {
        let names = Set(text.prefix(1_000).split(separator: ",").map(String.init))
        return DriverSetting.allCases.filter { names.contains($0.rawValue) }
    }

    private func save(_ caller: PageCaller, _ fields: FormFields, known: DriverSettings) -> Response {
        let typed = SettingsRoutes.form.typed(fields)
        switch SettingsRoutes.form.read(typed) {
        case .faults(let faults):
            var response = page(caller, known, typed: typed, faults: faults)
            response.status = 422
            return response
        case .settings(let settings):
            let upload = Upload(settings: settings.text, account: caller.account, nowMs: Clock.nowMs())
            let changed = DriverSetting.allCases.filter { settings.said[$0] != known.said[$0] }.map(\.rawValue)
            return uploads.refusal(upload)
                ?? .seeOther(
                    "/settings?said=taken\(changed.isEmpty ? "" : "&changed=\(changed.joined(separator: ","))")")
        }
    }

    /// - Parameter typed: what somebody wrote, to be shown again; nil: show `settings`.
    private func page(
        _ caller: PageCaller, _ settings: DriverSettings, typed: SettingsForm.Typed? = nil,
        faults: [DriverSetting: String] = [:], isSaved: Bool = false, saved: [DriverSetting] = []
    ) -> Response {
        let form = SettingsRoutes.form.html(
            settings, typed: typed, faults: faults, units: caller.units,
            without: caller.roles.contains(.surveyor) ? [] : [.forwardSurveys],
            isFolded: caller.roles.isDisjoint(with: FleetRoutes.drivers.union([.surveyor])), action: "/settings",
            mark: caller.mark)
        return PageShell(caller: caller, assets: assets).page(
            t("settings"), at: "/settings",
            heading: PageHeading(
                t("Settings"), status: "<span class=\"faint small hide-phone\">Of your drives</span>",
                actions: "<a class=\"btn hide-phone\" href=\"/account\">\(HTML.icon(.person))Account</a>"),
            main: """
                \(SettingsRoutes.notice(faults, isSaved: isSaved, saved: saved))
                <p class="soft">Alerts of your drives, and what they cost. Units and time zone of pages are on <a href="/account">your account</a>.</p>
                \(form)
                """)
    }

    /// What became of what was sent.
    static func notice(
        _ faults: [DriverSetting: String], isSaved: Bool, saved: [DriverSetting] = []
    ) -> HTML {
        if !faults.isEmpty {
            return HTML.fault(
                t(
                    faults.count, one: "Nothing was saved: one field needs another value.",
                    many: "Nothing was saved: \(faults.count) fields need another value."))
        }
        guard isSaved else { return "" }
        // Two groups have a field of the same name: both are named by their group.
        let names = saved.map { setting -> String in
            let label = SettingsWords.of(setting).label
            let group = SettingsWords.groups.first { group in
                (group.settings + group.finer).contains { $0 == setting || $0.row.twin == setting }
            }
            return group.map { t("\($0.title): \(label)") } ?? label
        }.joined(separator: "; ")
        return HTML.notice(
            .done(
                names.isEmpty
                    ? t("Saved. It holds from now on, and shows here in a moment.")
                    : t("Saved: \(names). It holds from now on, and shows here in a moment.")))
    }
}
