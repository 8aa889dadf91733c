package import Settings
internal import Telemetry

extension ServiceRoles {
    /// Serves the page and apps until it is to stop.
    /// - Parameter tell: where they are.
    package static func serve(_ settings: Settings, _ tell: (String) -> Void) throws {
        SettingFiles.warn(settings, of: .serve, log: ServiceRoles.log)
        Signals.install()
        Signals.installReload()
        try MetricsRole.serving(settings, log: ServiceRoles.log) {
            // Pages are there without the broker; only what is handed in has to wait.
            try HealthRole.watch(
                settings, of: .serve, database: settings.readerConninfo, logins: [.page, .survey, .query],
                needsBroker: false)
            let page = try PageRole(settings, log: ServiceRoles.log)
            defer { page.stop() }
            tell("the page is at \(page.address)")
            if let address = page.appsAddress { tell("apps are served at \(address)") }
            var watch = try RulesFolderMonitor(settings, log: ServiceRoles.log)
            // It waits for the broker and PostgreSQL when threshold files have changed.
            let loop = HealthRole.shared.loop("files", patience: 10)
            HealthRole.shared.started()
            try ServiceRoles.withTicks(settings, of: "serve", log: ServiceRoles.log) { _ in
                repeat {
                    loop.turned()
                    let isReload = ReloadFlag.consume()
                    if isReload { page.renewCertificates() }
                    watch?.look(isReload: isReload)
                } while !StopFlag.wait(timeoutMs: 200)
            }
        }
    }
}
