import Basics
import ExternalServices
import Fleet
import Gateways
import Ingest
import Kafka
import Settings
import Sockets
import Storage
import Telemetry
import Threads

extension Roles {
    /// - Parameter pagePort: of a page in this process, whose settings may have left it open.
    static func gateway(
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
        made.asksAgain = asksAgain
        made.pollSchedule = try settings.pollSchedule()
        made.parkedMs = settings.integer("gateway.obd_parked_s") * 1_000
        return try Gateway(made, metrics: MetricsRole.of("gateway"), health: HealthRole.shared, log: log)
    }

    /// Surge and speed of each campus by the hour, on a thread of its own.
    static func campusHours(_ settings: Settings, log: Log) throws -> WorkerThread {
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
    static func weatherBackfill(_ settings: Settings, log: Log) throws -> WorkerThread? {
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

extension Settings {
    func pollSchedule() throws -> PollSchedule {
        do throws(PollScheduleFault) { return try PollSchedule(text("gateway.obd_schedule")) } catch {
            throw Failure("gateway.obd_schedule: \(error)")
        }
    }

    /// Networks in which boxes and adapters may be reached without TLS.
    func plainNetworks() throws -> [CIDR] {
        try networks("gateway.plain_tcp_cidrs", words(of: "gateway.plain_tcp_cidrs"))
    }

    /// Where boxes and adapters may be, whoever registers them.
    func deviceReach(pagePort: UInt16? = nil) throws -> Reach {
        let words = words(of: "gateway.device_cidrs")
        let named = try networks("gateway.device_cidrs", words.filter { $0 != "public" })
        return Reach(
            networks: try plainNetworks() + named, takesPublic: words.contains("public"),
            ownPorts: ownPorts.union([pagePort].compactMap(\.self)))
    }

    /// What pages refuse when it is typed. A private network may be one that only the gateway's own settings name.
    func mayBeAt() throws -> @Sendable (_ host: String, _ port: Int32) -> Bool {
        let reach = try deviceReach()
        return { host, port in
            guard let address = Address(host), let port = UInt16(exactly: port),
                let refusal = reach.refusal(of: address, port: port)
            else { return true }
            return refusal == .unnamed(.privateUse)
        }
    }

    /// Where people's webhooks and browsers' push services may be.
    func noticeReach() throws -> Reach {
        Reach(
            networks: try networks("notices.webhook_cidrs", words(of: "notices.webhook_cidrs")), takesPublic: true,
            ownPorts: ownPorts)
    }

    private func words(of key: String) -> [String] {
        text(key).split(separator: ",").map { String($0.filter { $0 != " " }) }
    }

    private func networks(_ key: String, _ words: [String]) throws -> [CIDR] {
        try words.map { text in
            guard let network = CIDR(text) else {
                throw Failure(
                    "\(key): `\(text)` is no network: write addresses like 192.168.40.0/24 or fd00::/8, "
                        + "without bits beyond the length")
            }
            return network
        }
    }
}

extension Command {
    static let gateway = Command(
        name: "gateway", operands: "[options]",
        summary: "Polls boxes (MTG) and cars' adapters (OBD-II), and pushes what they say. Stops on SIGTERM.",
        options: SettingsSource.options,
        example: "drover gateway --set gateway.plain_tcp_cidrs=192.168.40.0/24",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            SettingFiles.warn(settings, of: .gateway, log: Roles.log)
            Signals.install()
            try MetricsRole.serving(settings, log: Roles.log) {
                // The spool keeps what the broker does not take.
                try HealthRole.watch(
                    settings, database: settings.gatewayConninfo, needsBroker: false)
                let gateway = try Roles.gateway(settings, log: Roles.log)
                let hours = try Roles.campusHours(settings, log: Roles.log)
                defer { hours.stop() }
                let filling = try Roles.weatherBackfill(settings, log: Roles.log)
                defer { filling?.stop() }
                HealthRole.shared.started()
                try Roles.withTicks(settings, of: "gateway", log: Roles.log) { _ in gateway.run { StopFlag.isSet } }
            }
            return .done
        })

    static let gatewayLog = Command(
        name: "gateway log", operands: "HOST:PORT --key FILE [options]",
        summary:
            "Fetches the debug log of a box (MTG), and prints or keeps it. For developers: it needs the box's own key.",
        options: [
            .init("--key", "FILE", "the box's key, 64 hexadecimal digits; it is proved, never sent"),
            .init("--certificate-sha256", "HEX", "the box's certificate, pinned (default: plain TCP)"),
            .init("--vehicle", "V", "keep it as this vehicle's for `drover log`, instead of printing it"),
        ] + SettingsSource.options,
        example: "drover gateway log 192.168.40.7:4021 --key box.key",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            let (address, port) = try place(arguments)
            let vehicle = try arguments.text("--vehicle").map { text in
                guard let id = VehicleID(text) else {
                    throw UsageError("--vehicle \(text): must be 1 to 64 letters, digits, -, _ or .")
                }
                return id
            }
            let pinned = arguments.text("--certificate-sha256")?.lowercased()
            guard try pinned != nil || settings.plainNetworks().contains(where: { $0.contains(address) }) else {
                throw Failure(
                    "plain TCP to \(address) is not allowed: name --certificate-sha256, or add its network to "
                        + "gateway.plain_tcp_cidrs")
            }
            if let refusal = try settings.deviceReach().refusal(of: address, port: port) {
                throw Failure("\(address): \(refusal). Name it in gateway.device_cidrs if boxes are there")
            }
            var box = try DebugLog(
                address, port: port, pinned: pinned, timeoutMs: settings.integer("gateway.answer_timeout_ms"))
            let log = try box.fetch(key: key(arguments))
            if let vehicle { try keep(log, of: vehicle, settings) } else { Out.result(log) }
            return .done
        })

    static let gatewayPoll = Command(
        name: "gateway poll", operands: "VEHICLE",
        summary: "Asks the gateway to download now what a machine's box has, and says how it went.",
        options: [.init("--wait", "S", "how long the answer is waited for (default 30)")] + ActionPush.options
            + SettingsSource.options,
        example: "drover gateway poll 8R-0001",
        run: { arguments in
            guard arguments.operands.count == 1, let vehicle = VehicleID(arguments.operands[0]) else {
                throw UsageError("one VEHICLE is to be named")
            }
            let waitS = try arguments.integer("--wait", in: 1...3_600) ?? 30
            let connection = try Command.machineReader(vehicle, arguments)
            let settings = try SettingsSource.load(arguments)
            let action = try ActionPush.action(
                arguments, vehicle: vehicle, kind: .pollRequest(untilMs: Clock.nowMs() + waitS * 1_000))
            try ActionPush(settings: settings).push(action)
            let patience = Stopwatch()
            while patience.seconds < Double(waitS) {
                if let answer = try DeviceStore.answer(to: action.id, of: vehicle, on: connection) {
                    let text = "\(vehicle): \(answer.text)"
                    guard answer.isDone else { throw Failure(text) }
                    Out.result(text)
                    return .done
                }
                guard !StopFlag.wait(timeoutMs: 100) else { break }
            }
            throw Failure("\(vehicle): no gateway has answered within \(waitS) s. Is `drover gateway` up? See its log")
        })

    private static func keep(_ log: [UInt8], of vehicle: VehicleID, _ settings: Settings) throws {
        guard log.count <= DebugLogStore.bytesMax else {
            throw Failure(
                "the log has \(log.count) bytes, at most \(DebugLogStore.bytesMax) are kept. Without --vehicle it is printed"
            )
        }
        let id = try DebugLogStore.add(log, of: vehicle, on: debugLogs(settings))
        Out.note("kept: `drover log show \(id)` prints it")
    }

    private static func place(_ arguments: Arguments) throws -> (Address, UInt16) {
        guard arguments.operands.count == 1, let colon = arguments.operands[0].lastIndex(of: ":"),
            let port = UInt16(arguments.operands[0][colon...].dropFirst()), port > 0
        else { throw UsageError("one HOST:PORT is to be named") }
        return (try Address.resolve(String(arguments.operands[0][..<colon])), port)
    }

    private static func key(_ arguments: Arguments) throws -> [UInt8] {
        guard let path = arguments.text("--key") else { throw UsageError("--key is missing") }
        let text = String(decoding: try Files.read(path), as: UTF8.self).filter { !$0.isWhitespace }
        guard let key = Hex.bytes(of: text), key.count == DebugLog.keyBytes else {
            throw Failure("\(path): is no key: write \(DebugLog.keyBytes * 2) hexadecimal digits")
        }
        return key
    }
}
