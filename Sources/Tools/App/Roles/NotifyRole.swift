internal import Codecs
internal import Delivery
internal import Ingest
internal import Kafka
package import Settings
internal import Telemetry
internal import Threads
internal import Worker

extension Roles {
    /// Runs all that tells people and topics, until it is to stop.
    package static func notify(_ settings: Settings) throws {
        SettingFiles.warn(settings, of: .notify, log: Roles.log)
        Signals.install()
        try MetricsRole.serving(settings, log: Roles.log) {
            // Reports that fall due are read as their owner reads.
            let isReporting = !settings.text("postgres.page_url").isEmpty
            try HealthRole.watch(settings, database: settings.relayConninfo, logins: isReporting ? [.page] : [])
            let others = try RelayRole.start(settings, log: Roles.log)
            defer { for other in others { other.stop() } }
            try Roles.withTicks(settings, of: "notify", log: Roles.log) { _ in
                let loop = HealthRole.shared.loop("relay", patience: 10)
                let relay = try Roles.relay(settings, log: Roles.log)
                HealthRole.shared.check("turn") { [standing = relay.standing] in standing.finding }
                HealthRole.shared.started()
                relay.run { loop.asking { StopFlag.isSet } }
                loop.ended()
            }
        }
    }
}
