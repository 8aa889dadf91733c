import App
import Crypto
import Delivery
import Fleet
import Foundation
import Gateways
import Kafka
import LocalServers
import Postgres
import Reports
import Settings
import Sockets
import Storage
import Telemetry
import Threads
import Worker

extension Command {
    static let up = Command(
        name: "up", operands: "[options]",
        summary: "Everything on this machine: servers of its own, a worker, a gateway and the page, until Ctrl-C.",
        options: [
            .init("--data", "DIR", "where the embedded servers keep their data (default .drover/data)")
        ] + brokerOptions + [
            .init("--port", "N", "port of the page on the loopback (default: any free one)"),
            .init(
                "--sample", nil,
                "a place that lives: cars, machines and a campus at work, recordings, and who to be among its people"),
            .init("--once", nil, "end when that is printed"),
        ] + SettingsSource.options,
        example: "drover up --sample",
        run: runUp)

    private static let brokerOptions: [Option] = [
        .init(
            "--broker", "B", "embedded, or kafka: Apache Kafka of $DROVER_KAFKA_HOME, .drover/kafka or ../shared/kafka"),
        .init("--nodes", "N", "kafka: 1 or 3, of which one may be away (default 1)"),
        .init("--secure", nil, "kafka: TLS, and a log-in (PLAIN)"),
    ]

    private static func localServers(_ arguments: Arguments, data: String) throws -> LocalServerSettings {
        let nodes = try arguments.integer("--nodes", in: 1...3) ?? 1
        let broker: BrokerChoice
        do {
            broker = try BrokerChoice(
                arguments.text("--broker"), nodes: Int(nodes), isSecure: arguments.has("--secure"))
        } catch let error as LocalServerError {
            throw UsageError(error.description)
        }
        return LocalServerSettings(dataDirectory: data, broker: broker, log: { Out.note($0) })
    }

    static let servers = Command(
        name: "servers", operands: "--data DIR",
        summary: "Only the embedded servers, for tests: prints how to reach them and stays up until SIGTERM.",
        options: [.init("--data", "DIR", "where the servers keep their data")] + brokerOptions,
        example: "drover servers --data /tmp/drover-servers",
        run: { arguments in
            guard let data = arguments.text("--data") else { throw UsageError("--data is missing") }
            try LocalServerGroup.serve(localServers(arguments, data: data)) { lines in
                Out.result(lines.joined(separator: "\n"))
            }
            return .done
        })

    private static func runUp(_ arguments: Arguments) throws -> ExitCode {
        let port = try arguments.integer("--port", in: 0...65_535) ?? 0
        Signals.install()
        let data = arguments.text("--data") ?? ".drover/data"
        Out.note("drover \(try Home.version())")
        try refuseTakenPort(port)
        let servers = try localServers(arguments, data: data)
        let embedded = try LocalServerGroup.start(servers)
        defer { embedded.stop() }
        let folder = UpFolder(data)
        let logins = upLogins(embedded)
        let settings = try upSettings(
            arguments, folder,
            logins.merging(SettingsSource.ownBroker(embedded.brokerSettings)) { $1 }
                .merging(["web.port": String(port), "gateway.spool_path": data + "/spool.sqlite"]) { $1 })
        try folder.prepare(for: settings)
        _ = try migrate(settings.text("postgres.owner_url"))
        try embedded.grantRoles()
        try loadShippedTaxonomy(settings, isSample: arguments.has("--sample"))
        let log = ServiceRoles.log(standard: .warning)
        try HealthRole.watch(
            settings, database: settings.text("postgres.url"),
            logins: [.reader, .page, .query, .relay, .gateway, .survey])
        let people = arguments.has("--sample") ? try SamplePeople(settings, data: data) : nil
        if people == nil { try SamplePeople.shut(settings) }
        let page = try PageRole(settings, sample: people?.accounts, log: log)
        defer { page.stop() }
        // The port: links of `drover account` lead to this page.
        let beside = try RunningServerSettings.write(
            logins.merging(embedded.brokerSettings) { $1 }.merging(["web.port": String(page.port)]) { $1 }
                .merging(try folder.beside(settings)) { $1 }, to: data)
        let lost = try Offsets(settings).resetLost().count
        if lost > 0 { Out.note("the embedded broker lost \(lost) partitions when it was killed; they are read anew") }
        // Asked before anything is taken.
        let isFresh = try InitialLimits.areMissing(settings)
        // Static membership: a restart takes its partitions back at once, and the embedded broker expires nobody.
        let worker = try ServiceRoles.worker(settings, instanceID: "drover-up", log: log)
        let running = WorkerThread("worker") { shouldStop in worker.run(shouldStop: shouldStop) }
        defer { running.stop() }
        let relay = try ServiceRoles.relay(settings, log: log)
        let relaying = WorkerThread("relay", loop: HealthRole.shared.loop("relay", patience: 10)) { shouldStop in
            relay.run(shouldStop: shouldStop)
        }
        defer { relaying.stop() }
        let others = try RelayRole.start(settings, log: log)
        defer { for other in others { other.stop() } }

        return try MetricsRole.serving(settings, log: log) {
            try ServiceRoles.withTicks(settings, of: "work", log: log) { _ in
                Out.note("other commands find all of this with --settings \(quoted(beside))")
                if !arguments.has("--secure") {
                    Out.note(
                        "the broker knows no passwords: other users of this machine can read and write its topics (docs/security.md)"
                    )
                }
                if isFresh { try InitialLimits.set(settings) }
                return try stay(
                    arguments, settings, embedded, page, people, beside: beside, data: data, lost: lost, log: log)
            }
        }
    }

    private static func upLogins(_ embedded: LocalServerGroup) -> [String: String] {
        [
            "postgres.url": "drover_worker", "postgres.reader_url": "drover_web", "postgres.page_url": "drover_pages",
            "postgres.query_url": "drover_asker", "postgres.relay_url": "drover_notify",
            "postgres.survey_url": "drover_surveyors", "postgres.gateway_url": "drover_poller",
            "postgres.debug_url": "drover_developer", "postgres.owner_url": "drover_owner",
        ].mapValues { embedded.conninfo(user: $0) }
    }

    private static func upSettings(
        _ arguments: Arguments, _ folder: UpFolder, _ overrides: [String: String]
    ) throws -> Settings {
        try SettingsSource.load(
            arguments,
            // For few boxes and somebody who watches.
            defaults: [
                "gateway.poll_interval_s": "10", "gateway.connections_max": "256",
                // Emulated boxes and cars are here.
                "gateway.plain_tcp_cidrs": "127.0.0.0/8",
            ].merging(folder.defaults) { $1 }, overrides: overrides)
    }

    private static func stay(
        _ arguments: Arguments, _ settings: Settings, _ embedded: LocalServerGroup, _ page: PageRole,
        _ people: SamplePeople?, beside: String, data: String, lost: Int, log: Log
    ) throws -> ExitCode {
        if arguments.has("--once") {
            if people != nil { try Sample(settings, data: data, again: lost > 0).run(failure: embedded.failure) }
            try sayWhere(settings, page, people)
            return .done
        }
        let sample = try people.map {
            try LiveSample(settings, $0, data: data, again: lost > 0, failure: embedded.failure, log: log)
        }
        defer { sample?.stop() }
        // The embedded broker may have lost what it acknowledged last: boxes still have it.
        let gateway = try ServiceRoles.gateway(settings, asksAgain: true, pagePort: UInt16(page.port), log: log)
        let polling = WorkerThread("gateway") { shouldStop in gateway.run(shouldStop: shouldStop) }
        defer { polling.stop() }
        let hours = try ServiceRoles.campusHours(settings, log: log)
        defer { hours.stop() }
        let filling = try ServiceRoles.weatherBackfill(settings, log: log)
        defer { filling?.stop() }
        try sayWhere(settings, page, people)
        if people != nil { sayWhatToTry(page, beside: beside) }
        Out.note(
            "Ctrl-C stops everything. "
                + (arguments.text("--broker") == "kafka"
                    ? "What Kafka holds survives a stop, and a kill."
                    : "What the embedded broker holds survives a stop; a kill -9 of it may lose its last second."))
        sample?.begin()
        var watch = try RulesFolderMonitor(settings, log: log)
        HealthRole.shared.started()
        while !StopFlag.wait(timeoutMs: 1_000) {
            watch?.look()
            if let failure = embedded.failure() ?? sample?.failure() { throw Failure(failure) }
        }
        Out.note("stopping")
        return .done
    }

    /// Before anything is started for nothing.
    private static func refuseTakenPort(_ port: Int64) throws {
        guard port != 0 else { return }
        do {
            _ = try Listening(IPAddress("127.0.0.1")!, port: UInt16(port))
        } catch {
            throw Failure("--port \(port): something else listens there: end it, or choose another port. \(error)")
        }
    }
}

extension Command {
    private static func sayWhere(_ settings: Settings, _ page: PageRole, _ people: SamplePeople?) throws {
        Out.note("the page is at \(page.address)")
        people?.say(page.address)
        if let link = try firstLogIn(settings, page) {
            Out.note(
                "\(people == nil ? "nobody can log in yet" : "an account of your own"). The administrator's password is chosen here, once, within a day: \(link)"
            )
        } else {
            Out.note("log in at \(page.address)login")
        }
    }

    private static func sayWhatToTry(_ page: PageRole, beside: String) {
        let program = quoted(CommandLine.arguments.first ?? "drover")
        let things = [
            (
                "\(page.address)map",
                "cars on the streets of Helsinki, machines in fields; within two minutes a combine runs hot"
            ),
            ("\(page.address)trips?date=2020-03-25", "a real drive of 42 km: choose it, and see its way on the map"),
            (
                "\(program) dispatch why r-020 --settings \(quoted(beside))",
                "why this vehicle took this ride of the emulated campus, yesterday"
            ),
        ]
        Out.note("three things to try:")
        for (what, why) in things { Out.note("  \(what)\n    \(why)") }
    }

    /// As a shell takes it.
    private static func quoted(_ path: String) -> String { path.contains(" ") ? "'\(path)'" : path }

    /// A new link with each start until it was used; nil: it was.
    private static func firstLogIn(_ settings: Settings, _ page: PageRole) throws -> String? {
        let (account, link) = ("administrator", Token.random())
        let owner = try Connection(conninfo: settings.text("postgres.owner_url"))
        guard try !OperatorAccountStore.hasAdministrator(on: owner) else { return nil }
        if try !OperatorAccountStore.add(account, mail: nil, roles: [account], link: link.digest, on: owner) {
            guard try OperatorAccountStore.link(account, link.digest, on: owner) else { return nil }
        }
        return address(of: link, settings, page: page.address)
    }
}
