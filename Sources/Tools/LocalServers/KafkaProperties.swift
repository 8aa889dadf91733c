/// One of Apache Kafka's nodes: a broker and a controller in one process (KRaft).
package struct KafkaNode: Equatable, Sendable {
    let id: Int
    /// Of 127.0.0.1: what Drover reaches, what the other brokers reach, and what controllers reach.
    let clientPort, brokerPort, controllerPort: UInt16

    package init(id: Int, clientPort: UInt16, brokerPort: UInt16, controllerPort: UInt16) {
        (self.id, self.clientPort, self.brokerPort, self.controllerPort) = (id, clientPort, brokerPort, controllerPort)
    }
}

/// Files of a cluster's TLS, in PEM.
package struct KafkaKeys: Equatable, Sendable {
    let roots: String
    /// Private key and certificate of the nodes.
    let node: String
    let user: String
    let password: String

    package init(roots: String, node: String, user: String, password: String) {
        (self.roots, self.node, self.user, self.password) = (roots, node, user, password)
    }
}

/// The `server.properties` of a node. Settings: https://kafka.apache.org/documentation/#brokerconfigs
package struct KafkaProperties {
    private static let host = "127.0.0.1"

    let nodes: [KafkaNode]
    /// Nil: open to every program of this machine.
    let keys: KafkaKeys?

    package init(nodes: [KafkaNode], keys: KafkaKeys?) { (self.nodes, self.keys) = (nodes, keys) }

    func text(of node: KafkaNode, logs: String) -> String {
        entries(of: node, logs: logs).map { "\($0.0)=\(KafkaProperties.escaped($0.1))\n" }.joined()
    }

    package func entries(of node: KafkaNode, logs: String) -> [(String, String)] {
        let copies = "\(nodes.count)"
        // With three, a record counts as written when two have it.
        let acknowledging = "\(max(1, nodes.count - 1))"
        func at(_ name: String, _ port: UInt16) -> String { "\(name)://\(KafkaProperties.host):\(port)" }
        let listeners = [at("CLIENT", node.clientPort), at("BROKER", node.brokerPort)]
        let wire = keys == nil ? ("PLAINTEXT", "PLAINTEXT") : ("SASL_SSL", "SSL")
        var all = [
            ("process.roles", "broker,controller"), ("node.id", "\(node.id)"),
            (
                "controller.quorum.voters",
                nodes.map { "\($0.id)@\(KafkaProperties.host):\($0.controllerPort)" }.joined(separator: ",")
            ),
            ("listeners", (listeners + [at("CONTROLLER", node.controllerPort)]).joined(separator: ",")),
            ("advertised.listeners", listeners.joined(separator: ",")),
            ("listener.security.protocol.map", "CLIENT:\(wire.0),BROKER:\(wire.1),CONTROLLER:\(wire.1)"),
            ("controller.listener.names", "CONTROLLER"), ("inter.broker.listener.name", "BROKER"), ("log.dirs", logs),
            ("min.insync.replicas", acknowledging), ("default.replication.factor", copies),
            ("offsets.topic.num.partitions", "4"), ("offsets.topic.replication.factor", copies),
            ("transaction.state.log.num.partitions", "4"), ("transaction.state.log.replication.factor", copies),
            ("transaction.state.log.min.isr", acknowledging),
            ("share.coordinator.state.topic.replication.factor", copies),
            ("share.coordinator.state.topic.min.isr", acknowledging),
            // Drover makes its topics; a name that is mistyped shall not make one.
            ("auto.create.topics.enable", "false"),
            // A worker that is alone need not wait for others.
            ("group.initial.rebalance.delay.ms", "0"),
            // All nodes stop together: the last one would ask a quorum that is gone, for minutes.
            ("controlled.shutdown.enable", "false"),
            ("log.cleaner.dedupe.buffer.size", "\(4 << 20)"),
        ]
        if let keys {
            all += [
                ("ssl.keystore.type", "PEM"), ("ssl.keystore.location", keys.node), ("ssl.truststore.type", "PEM"),
                ("ssl.truststore.location", keys.roots), ("listener.name.broker.ssl.client.auth", "required"),
                ("listener.name.controller.ssl.client.auth", "required"),
                ("listener.name.client.sasl.enabled.mechanisms", "PLAIN"),
                (
                    "listener.name.client.plain.sasl.jaas.config",
                    "org.apache.kafka.common.security.plain.PlainLoginModule required user_\(keys.user)=\"\(keys.password)\";"
                ),
            ]
        }
        return all
    }

    /// Java reads the file as Latin-1, with escapes.
    package static func escaped(_ value: String) -> String {
        value.utf16.map { unit in
            if unit == 0x5C { return "\\\\" }
            if (0x20...0x7E).contains(unit) { return String(UnicodeScalar(UInt8(unit))) }
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}
