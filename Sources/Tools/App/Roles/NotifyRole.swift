internal import Codecs
internal import Delivery
internal import Ingest
internal import Kafka
package import Settings
internal import Telemetry
internal import Threads
internal import Worker

extension ServiceRoles {
    /// Runs all that tells people and topics, until it is to stop.
    package static func notify(_ settings: Settings) throws {
        SettingFiles.warn(settings, of: .notify, log: ServiceRoles.log)
        Signals.install()
        try MetricsRole.serving(settings, log: ServiceRoles.log) {
            // Reports that fall due are read as their owner reads.
            let isReporting = !settings.text("postgres.page_url").isEmpty
            try HealthRole.watch(
                settings, of: .notify, database: settings.relayConninfo, logins: isReporting ? [.page] : [])
            let others = try RelayRole.start(settings, log: ServiceRoles.log)
            defer { for other in others { other.stop() } }
            try ServiceRoles.withTicks(settings, of: "notify", log: ServiceRoles.log) { _ in
                let loop = HealthRole.shared.loop("relay", patience: 10)
                let relay = try ServiceRoles.relay(settings, log: ServiceRoles.log)
                HealthRole.shared.check("turn") { [readiness = relay.readiness] in readiness.finding }
                HealthRole.shared.started()
                relay.run { loop.asking { StopFlag.isSet } }
                loop.ended()
            }
        }
    }
}
