internal import Foundation
internal import Synchronization

/// Apache Kafka of one data folder: one node, or three of which one may be away. It keeps what it acknowledged, however it ends.
final class KafkaServer: LocalBroker {
    private static let startSeconds = 120.0
    /// A node that ends again so soon does not run for long at all.
    private static let mendSeconds = 60.0
    private static let ready = "Kafka Server started"
    private static let logging = """
        status = error
        appender.console.type = Console
        appender.console.name = console
        appender.console.layout.type = PatternLayout
        appender.console.layout.pattern = [%d] %p %m (%c)%n
        rootLogger.level = warn
        rootLogger.appenderRef.console.ref = console
        logger.server.name = kafka.server.KafkaRaftServer
        logger.server.level = info
        """
    /// The same for Kafka 3.
    private static let loggingOfOld = """
        log4j.rootLogger=WARN, console
        log4j.appender.console=org.apache.log4j.ConsoleAppender
        log4j.appender.console.layout=org.apache.log4j.PatternLayout
        log4j.appender.console.layout.ConversionPattern=[%d] %p %m (%c)%n
        log4j.logger.kafka.server.KafkaRaftServer=INFO
        """

    private let folder: DataFolder
    private let installation: KafkaInstallation
    private let nodes: [KafkaNode]
    private let keys: KafkaKeys?
    /// In the order of `nodes`.
    private let running: Mutex<[Child]>
    /// When a node was started again, by its id.
    private let mended = Mutex<[Int: Double]>([:])

    let stopSeconds = 30.0
    var children: [Child] { running.withLock { $0 } }
    var address: String { nodes.map { "127.0.0.1:\($0.clientPort)" }.joined(separator: ",") }

    var settings: [String: String] {
        guard let keys else { return [:] }
        return [
            "kafka.security_protocol": "sasl_ssl", "kafka.ca_file": keys.roots, "kafka.sasl_mechanism": "PLAIN",
            "kafka.sasl_user": keys.user, "kafka.sasl_password_file": folder.file("kafka/password"),
        ]
    }

    private init(
        _ folder: DataFolder, _ installation: KafkaInstallation, _ nodes: [KafkaNode], _ keys: KafkaKeys?
    ) {
        (self.folder, self.installation, self.nodes, self.keys) = (folder, installation, nodes, keys)
        running = Mutex([])
    }

    /// Returns when each node says that it has started. Nothing is left running when it throws.
    static func start(
        folder: DataFolder, nodes count: Int, isSecure: Bool, log: (String) -> Void
    ) throws -> KafkaServer {
        let installation = try KafkaInstallation.find()
        try folder.makeFolder("kafka")
        let ports = try Ports.take(3 * count, kept: folder.read("kafka/ports"))
        let nodes = (0..<count).map {
            KafkaNode(
                id: $0 + 1, clientPort: ports[3 * $0], brokerPort: ports[3 * $0 + 1], controllerPort: ports[3 * $0 + 2])
        }
        let keys = isSecure ? try KafkaCertificates.keys(in: folder) : nil
        let server = KafkaServer(folder, installation, nodes, keys)
        try folder.write("kafka/log4j2.properties", logging)
        try folder.write("kafka/log4j.properties", loggingOfOld)
        let cluster =
            try folder.read("kafka/cluster") ?? folder.writing("kafka/cluster", KafkaCertificates.random(bytes: 16))
        for node in nodes { try server.prepare(node, cluster: cluster) }
        log("starting Apache Kafka, \(count == 1 ? "one node" : "\(count) nodes"), from \(installation.libraries)")
        do {
            try server.running.withLock { running in
                for node in nodes { running.append(try server.begin(node)) }
            }
            for (node, child) in zip(nodes, server.children) { try server.await(node, child) }
            try folder.write("kafka/ports", ports.map(String.init).joined(separator: " "))
        } catch {
            for child in server.children {
                child.signal(SIGKILL)
                _ = child.waitForExit(seconds: 5)
            }
            throw error
        }
        return server
    }

    /// Its settings, and its folder where there is none.
    private func prepare(_ node: KafkaNode, cluster: String) throws {
        let (settings, logs) = ("kafka/\(node.id).properties", folder.file("kafka/\(node.id)"))
        try folder.write(settings, KafkaProperties(nodes: nodes, keys: keys).text(of: node, logs: logs))
        guard unsafe access(logs + "/meta.properties", F_OK) != 0 else { return }
        // No user for SCRAM: its password would stand in the list of processes.
        let command = [
            "kafka.tools.StorageTool", "format", "-t", cluster, "-c", folder.file(settings), "--ignore-formatted",
        ]
        let output = folder.startLog("kafka/format-\(node.id)")
        let child = try Child(
            "kafka-format", java(heapMB: 128) + command, user: nil, directory: folder.path, output: output)
        guard child.waitForExit(seconds: KafkaServer.startSeconds) == 0 else {
            child.signal(SIGKILL)
            throw LocalServerError(
                "Kafka's folder \(logs) could not be made. The end of \(output):\n\(tail(of: output, lines: 12))")
        }
    }

    private func java(heapMB: Int) -> [String] {
        [
            installation.java, "-Xmx\(heapMB)m", "-XX:+UseSerialGC", "-Xshare:auto",
            // What it unpacks while it runs stays in its folder, also when it is killed.
            "-Djava.io.tmpdir=\(folder.file("kafka"))",
            "-Dlog4j2.configurationFile=file:\(folder.file("kafka/log4j2.properties"))",
            "-Dlog4j.configuration=file:\(folder.file("kafka/log4j.properties"))", "-cp",
            "\(installation.libraries)/*",
        ]
    }

    private func begin(_ node: KafkaNode) throws -> Child {
        try Child(
            "kafka-\(node.id)",
            java(heapMB: 384) + ["kafka.Kafka", folder.file("kafka/\(node.id).properties")], user: nil,
            directory: folder.path, output: folder.startLog("kafka-\(node.id)"))
    }

    private func await(_ node: KafkaNode, _ child: Child) throws {
        let output = folder.file("kafka-\(node.id).log")
        let deadline = Monotonic.now + KafkaServer.startSeconds
        while !tail(of: output, lines: 1_000).contains(KafkaServer.ready) {
            guard child.waitForExit(seconds: 0.05) == nil, Monotonic.now < deadline else {
                throw LocalServerError(
                    "Kafka's node \(node.id) on 127.0.0.1:\(node.clientPort) did not start. The end of \(output):\n"
                        + tail(of: output, lines: 12))
            }
        }
    }

    /// One of three that ended is started again; the others serve meanwhile. One that ends again at once stays away, and
    /// `ended` says it.
    func mend(log: (String) -> Void) throws -> Bool {
        guard nodes.count > 1 else { return false }
        return try running.withLock { running in
            var isMended = false
            for (index, node) in nodes.enumerated() where running[index].exitStatus() != nil {
                let now = Monotonic.now
                let isAtOnce = mended.withLock { mended in
                    defer { mended[node.id] = now }
                    return mended[node.id].map { now - $0 < KafkaServer.mendSeconds } ?? false
                }
                guard !isAtOnce else { continue }
                log("\(running[index].name), process \(running[index].pid), ended by itself and is started again")
                running[index] = try begin(node)
                isMended = true
            }
            return isMended
        }
    }
}

/// Ports of 127.0.0.1, different ones.
private enum Ports {
    static func take(_ count: Int, kept: String?) throws -> [UInt16] {
        let before = (kept ?? "").split(separator: " ").compactMap { UInt16($0) }
        var taken: [UInt16] = []
        for index in 0..<count {
            var port: UInt16
            repeat {
                port = try Loopback.freePort(
                    preferring: before.count == count && !taken.contains(before[index]) ? before[index] : 0)
            } while taken.contains(port)
            taken.append(port)
        }
        return taken
    }
}
