internal import Alerts
internal import Fleet
package import HTTPServer
package import Ingest
internal import Presentation
internal import Storage
internal import Telemetry

/// The installation's own limits, for cars that nobody drives or owns: the page for `drover limits`.
package struct LimitsRoutes: Sendable {
    static let people: Set<Role> = [.operator, .administrator]
    private static let form = SettingsForm(settings: DriverSetting.limits)

    private let access: AccessControl
    private let assets: AssetFiles
    private let uploads: UploadSender

    package init(access: AccessControl, assets: AssetFiles, uploads: UploadSender) {
        self.access = access
        self.assets = assets
        self.uploads = uploads
    }

    package func add(to router: inout Router) {
        router.add("GET", "/limits") { request in
            access.page(request, for: LimitsRoutes.people) { caller, connection in
                let known = try AccountStore.installation(on: connection)
                return page(
                    caller, known?.settings ?? .off, isSet: known != nil, isSaved: request.query["said"] == "taken")
            }
        }
        router.add("POST", "/limits") { request in
            access.saying(request, for: LimitsRoutes.people, to: uploads) { caller, fields, _ in
                save(caller, fields, from: request)
            }
        }
    }

    private func save(_ caller: PageCaller, _ fields: FormFields, from request: Request) -> FormOutcome {
        let typed = LimitsRoutes.form.typed(fields)
        switch LimitsRoutes.form.read(typed) {
        case .faults(let faults):
            var response = page(caller, .standard, isSet: true, typed: typed, faults: faults)
            response.status = 422
            return .answer(response)
        case .settings(let settings):
            let upload = Upload(
                settings: settings.text, account: InstallationLimits.account, by: caller.account, nowMs: Clock.nowMs())
            return .say(
                upload,
                told: AuditedOperation(
                    .rulesPublished, by: caller.account, from: request.remote,
                    [("of", "installation"), ("limits", settings.text)]),
                then: .seeOther("/limits?said=taken"))
        }
    }

    /// - Parameter typed: what somebody wrote, to be shown again; nil: show `settings`.
    private func page(
        _ caller: PageCaller, _ settings: DriverSettings, isSet: Bool, typed: SettingsForm.Typed? = nil,
        faults: [DriverSetting: String] = [:], isSaved: Bool = false
    ) -> Response {
        let form = LimitsRoutes.form.html(
            settings, typed: typed, faults: faults, units: caller.units, action: "/limits", mark: caller.mark)
        let standing: HTML =
            isSet && settings.isOn(.alerts)
            ? ""
            : "<p class=\"strip warning\">\(HTML.icon(.warn))<span>They are off: nothing judges such cars.</span></p>\n"
        return PageShell(caller: caller, assets: assets).page(
            t("Limits"), at: "/limits", heading: PageHeading(t("Limits of the installation")),
            main: """
                \(SettingsRoutes.notice(faults, isSaved: isSaved))\(standing)
                <p class="soft">They judge a car while nobody uploads for it, is assigned to it or owns it. Its alerts show to who sees the \
                car, and go to the keepers of its fleets.</p>
                \(form)
                """)
    }
}
