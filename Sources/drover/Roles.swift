import Alerts
import Fleet
import Foundation
import Gateways
import HTTP
import Kafka
import Notices
import Observe
import Postgres
import Settings
import Trips
import Web
import Worker

/// The roles that run until they are stopped, wired from settings.
enum Roles {
    /// `ticker`: the worker's process ticks the partitions that the worker owns.
    static func worker(
        _ settings: Settings, instanceID: String?, ticker: Ticker? = nil, log: Log
    ) throws -> Worker {
        let kafka = kafka(settings, clientID: "drover-work", log: log)
        _ = try Topics.ensure(kafka, partitions: Int32(settings.integer("kafka.partitions")))
        var made = try workerSettings(settings, kafka: kafka, instanceID: instanceID)
        if let ticker { made.onAssignment = { ticker.own($0) } }
        return try Worker(made, metrics: Metrics(), log: log)
    }

    static func workerSettings(
        _ settings: Settings, kafka: KafkaSettings, instanceID: String?
    ) throws -> WorkerSettings {
        let lanes = Int(settings.integer("work.lanes"))
        return WorkerSettings(
            kafka: kafka, group: settings.text("kafka.group"), instanceID: instanceID,
            sessionTimeoutMs: settings.integer("kafka.session_timeout_ms"),
            conninfo: settings.text("postgres.url"),
            lanes: lanes == 0 ? ProcessInfo.processInfo.activeProcessorCount : lanes,
            batchMax: Int(settings.integer("kafka.batch_messages_max")),
            commitIntervalMs: settings.integer("work.commit_interval_ms"), tripRules: try settings.tripRules(),
            alertRules: try Rules.load(Home.path(settings.text("alerts.thresholds_dir"))), topics: Topics.readings)
    }

    /// What librdkafka has to say goes to our log, each line once in a while.
    static func kafka(_ settings: Settings, clientID: String, log: Log) -> KafkaSettings {
        var kafka = settings.kafka(clientID: clientID)
        let brokerLines = OncePer(periodMs: 30_000)
        kafka.log = { level, line in
            guard level <= 4, let more = brokerLines.pass(String(line.prefix(40))) else { return }
            log.warning("kafka client", ["line": "\(line)", "repeated": "\(more)"])
        }
        return kafka
    }

    static func relay(_ settings: Settings, log: Log) -> Relay {
        let kafka = kafka(settings, clientID: "drover-notify", log: log)
        let partitions = Int32(settings.integer("kafka.partitions"))
        return Relay(
            RelaySettings(
                kafka: kafka, conninfo: settings.text("postgres.relay_url", or: "postgres.url"),
                rejectedRowsMax: settings.integer("rejected.rows_max"),
                prepareTopics: { _ = try Topics.ensure(kafka, partitions: partitions, timeoutMs: 3_000) }),
            metrics: Metrics(), log: log)
    }

    /// The ticks of a role while `body` runs; none when the settings leave them to others.
    static func withTicks<R>(
        _ settings: Settings, of role: String, log: Log, _ body: (Ticker?) throws -> R
    ) throws -> R {
        let known = ["work", "serve", "notify", "gateway"]
        let wanted = settings.text("ticks.roles").split(separator: ",").map { String($0.filter { $0 != " " }) }
        if let unknown = wanted.first(where: { !known.contains($0) }) {
            throw Failure("ticks.roles: `\(unknown)` is not one of \(known.joined(separator: ", "))")
        }
        guard wanted.contains(role) else { return try body(nil) }
        // The log of the role's own client says already what ails the broker.
        let ticker = Ticker(
            settings.kafka(clientID: "drover-ticks"), intervalS: settings.integer("ticks.interval_s"), log: log)
        ticker.start()
        defer { ticker.stop() }
        return try body(ticker)
    }

    static func page(_ settings: Settings, port: UInt16, log: Log) throws -> Server {
        let site = Site(
            conninfo: settings.text("postgres.reader_url", or: "postgres.url"), rules: try settings.tripRules(),
            price: settings.fuelPrice, queries: try Home.reportQueries(), log: log)
        let router = site.router()
        return try Server(host: settings.text("web.host"), port: port, threads: 4) { router.route($0) }
    }

    static let log = Log(level: ProcessInfo.processInfo.environment["DROVER_LOG"].flatMap(Log.Level.init) ?? .info)
}

/// The rules of all models from a folder: tractors.xml and one file a model.
enum Rules {
    static func load(_ directory: String) throws -> RuleSet {
        var (models, faults): ([String: [Threshold]], [String]) = ([:], [])
        var listed: [String] = []
        for name in try Files.list(directory) where name.hasSuffix(".xml") {
            do throws(ThresholdError) {
                let bytes: [UInt8]
                do { bytes = try Files.read(directory + "/" + name) } catch {
                    faults.append("\(error)")
                    continue
                }
                if name == "tractors.xml" {
                    listed = try ModelList.parse(fileName: name, bytes: bytes)
                } else if let model = ThresholdFile.model(of: name) {
                    models[model] = try ThresholdFile.parse(fileName: name, bytes: bytes)
                }
            } catch {
                faults.append(error.description)
            }
        }
        guard faults.isEmpty else {
            throw Failure("thresholds in \(directory) do not load:\n" + faults.joined(separator: "\n"))
        }
        guard !models.isEmpty else {
            throw Failure(
                "\(directory): holds no `<model>-thresholds.xml`. Name another folder with --thresholds or alerts.thresholds_dir"
            )
        }
        for model in listed where models[model] == nil {
            Out.note("\(directory): model `\(model)` has no thresholds: its machines are shown and raise no alert")
        }
        return RuleSet(models)
    }
}

extension Command {
    static let work = Command(
        name: "work", operands: "[options]",
        summary: "Runs a worker: topics in, results to PostgreSQL, exactly once. Stops on SIGTERM.",
        options: SettingsSource.options,
        example: "drover work --set kafka.instance_id=worker-1",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            Signals.install()
            let instance = settings.text("kafka.instance_id")
            try Roles.withTicks(settings, of: "work", log: Roles.log) { ticker in
                while !StopFlag.isSet {
                    do {
                        let worker = try Roles.worker(
                            settings, instanceID: instance.isEmpty ? nil : instance, ticker: ticker, log: Roles.log)
                        worker.run { StopFlag.isSet }
                    } catch let error as KafkaError {
                        // A worker that is started before its broker waits for it, as it would later on.
                        Roles.log.error("the worker cannot start yet", ["error": "\(error)", "retry_in_ms": "3000"])
                        _ = StopFlag.wait(timeoutMs: 3_000)
                    }
                }
            }
            return .done
        })

    static let serve = Command(
        name: "serve", operands: "[options]",
        summary: "Serves the page: vehicles, last trips, open alerts. Stops on SIGTERM.",
        options: [.init("--port", "N", "port of the page (default 8080; 0: any free one)")] + SettingsSource.options,
        example: "drover serve --port 8080",
        run: { arguments in
            let port = try arguments.integer("--port", in: 0...65_535)
            let settings = try SettingsSource.load(arguments, overrides: port.map { ["web.port": String($0)] } ?? [:])
            Signals.install()
            let server = try Roles.page(settings, port: UInt16(settings.integer("web.port")), log: Roles.log)
            Out.note("the page is at http://\(settings.text("web.host")):\(server.port)/")
            try Roles.withTicks(settings, of: "serve", log: Roles.log) { _ in while !StopFlag.wait(timeoutMs: 60_000) {}
            }
            server.stop()
            return .done
        })

    static let notify = Command(
        name: "notify", operands: "[options]",
        summary:
            "Brings what the workers decided from the outbox to its topics. Of several one is active. Stops on SIGTERM.",
        options: SettingsSource.options,
        example: "drover notify --set postgres.relay_url='dbname=drover user=drover_notify'",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            Signals.install()
            try Roles.withTicks(settings, of: "notify", log: Roles.log) { _ in
                Roles.relay(settings, log: Roles.log).run { StopFlag.isSet }
            }
            return .done
        })
}
