internal import ExternalServices
package import Gateways
internal import Ingest
package import Settings
internal import Sockets
internal import Storage
package import Telemetry
package import Threads

extension ServiceRoles {
    /// Runs the gateway until it is to stop.
    package static func gateway(_ settings: Settings) throws {
        SettingFiles.warn(settings, of: .gateway, log: ServiceRoles.log)
        Signals.install()
        try MetricsRole.serving(settings, log: ServiceRoles.log) {
            // The spool keeps what the broker does not take.
            try HealthRole.watch(
                settings, of: .gateway, database: settings.gatewayConninfo, needsBroker: false)
            let gateway = try ServiceRoles.gateway(settings, log: ServiceRoles.log)
            let hours = try ServiceRoles.campusHours(settings, log: ServiceRoles.log)
            defer { hours.stop() }
            let filling = try ServiceRoles.weatherBackfill(settings, log: ServiceRoles.log)
            defer { filling?.stop() }
            HealthRole.shared.started()
            try ServiceRoles.withTicks(settings, of: "gateway", log: ServiceRoles.log) { _ in
                gateway.run { StopFlag.isSet }
            }
        }
    }

    /// - Parameter pagePort: of a page in this process, whose settings may have left it open.
    package static func gateway(
        _ settings: Settings, asksAgain: Bool = false, pagePort: UInt16? = nil, log: Log
    ) throws -> Gateway {
        let kafka = try kafka(settings, clientID: "drover-gateway", log: log)
        let shape = settings.topicShape
        let connectionsMax = Int(settings.integer("gateway.connections_max"))
        let descriptors = Descriptors.raiseLimit()
        let needed = 2 * connectionsMax + 100
        guard descriptors >= needed else {
            throw Failure(
                "gateway.connections_max: \(connectionsMax) boxes and as many adapters need \(needed) open files, "
                    + "\(descriptors) are allowed. Raise `ulimit -n` or lower the setting")
        }
        var made = GatewaySettings(
            kafka: kafka, conninfo: settings.gatewayConninfo,
            spoolPath: try Files.spool(settings), reach: try settings.deviceReach(pagePort: pagePort),
            prepareTopics: { _ = try Topics.ensure(kafka, shape, timeoutMs: 3_000) })
        made.registryIntervalS = settings.integer("gateway.registry_interval_s")
        made.pollIntervalMs = settings.integer("gateway.poll_interval_s") * 1_000
        made.backOffMsMax = settings.integer("gateway.back_off_s_max") * 1_000
        made.answerTimeoutMs = settings.integer("gateway.answer_timeout_ms")
        made.connectionMsMax = settings.integer("gateway.connection_s_max") * 1_000
        made.contactLostMs = settings.integer("gateway.contact_lost_s") * 1_000
        made.connectionsMax = connectionsMax
        made.spoolBytesMax = settings.integer("gateway.spool_bytes_max")
        made.plain = try settings.plainNetworks()
        made.failureToldMs = settings.integer("gateway.failure_told_s") * 1_000
        made.debugConninfo = settings.debugConninfo
        made.debugKeysFolder = settings.text("gateway.debug_keys_dir")
        made.asksAgain = asksAgain
        made.pollSchedule = try settings.pollSchedule()
        made.parkedMs = settings.integer("gateway.obd_parked_s") * 1_000
        return try Gateway(made, metrics: MetricsRole.of("gateway"), health: HealthRole.shared, log: log)
    }

    /// Surge and speed of each campus by the hour, on a thread of its own.
    package static func campusHours(_ settings: Settings, log: Log) throws -> WorkerThread {
        let kafka = try kafka(settings, clientID: "drover-campus-hours", log: log)
        let weather = try settings.weather()
        let database = settings.outsideDatabase()
        // Faults of the settings are told before the thread begins.
        let client = try weather.map { try WeatherClient($0, database: database) }
        let hours = CampusHours(
            .init(
                kafka: kafka, conninfo: settings.gatewayConninfo, weather: client,
                intervalMs: settings.integer("dispatch.weather_interval_s") * 1_000),
            log: log)
        return WorkerThread("hours", loop: HealthRole.shared.loop("hours", patience: 10)) { shouldStop in
            hours.run(shouldStop: shouldStop)
        }
    }

    /// The weather of surveys and trips that lack it, on a thread of its own; nil: no service is set.
    package static func weatherBackfill(_ settings: Settings, log: Log) throws -> WorkerThread? {
        guard let weather = try settings.weather() else { return nil }
        let filling = WeatherBackfill(
            .init(
                kafka: try kafka(settings, clientID: "drover-weather", log: log),
                conninfo: settings.gatewayConninfo,
                weather: try WeatherClient(weather, database: settings.outsideDatabase()),
                intervalMs: settings.integer("weather.backfill_interval_s") * 1_000),
            log: log)
        return WorkerThread("weather", loop: HealthRole.shared.loop("weather", patience: 10)) { shouldStop in
            filling.run(shouldStop: shouldStop)
        }
    }
}
