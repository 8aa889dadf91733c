internal import Codecs
internal import Ingest
internal import Kafka
package import Settings
internal import Telemetry
internal import Worker

extension ServiceRoles {
    /// Runs a worker until it is to stop.
    package static func work(_ settings: Settings) throws {
        SettingFiles.warn(settings, of: .work, log: ServiceRoles.log)
        Signals.install()
        let instance = settings.text("kafka.instance_id")
        try MetricsRole.serving(settings, log: ServiceRoles.log) {
            try HealthRole.watch(settings, of: .work, database: settings.text("postgres.url"))
            HealthRole.shared.started()
            HealthRole.shared.check("partitions") { .ill("the worker cannot start yet: see its log") }
            try ServiceRoles.withTicks(settings, of: "work", log: ServiceRoles.log) { ticker in
                while !StopFlag.isSet {
                    // Until the worker is there and says so itself.
                    _ = HealthRole.shared.loop("poll", patience: 10)
                    do {
                        let worker = try ServiceRoles.worker(
                            settings, instanceID: instance.isEmpty ? nil : instance, ticker: ticker,
                            log: ServiceRoles.log)
                        worker.run { StopFlag.isSet }
                    } catch  where error is KafkaError || error is TopicFault {
                        // A worker that is started before its broker waits for it, as it would later on.
                        ServiceRoles.log.error(
                            "the worker cannot start yet", ["error": "\(error)", "retry_in_ms": "3000"])
                        _ = StopFlag.wait(timeoutMs: 3_000)
                    }
                }
            }
        }
    }
}
