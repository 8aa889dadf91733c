import LocalServers
import Testing

struct KafkaPropertiesTests {
    private static let nodes = (1...3).map {
        KafkaNode(
            id: $0, clientPort: UInt16(9_000 + $0), brokerPort: UInt16(9_100 + $0), controllerPort: UInt16(9_200 + $0))
    }

    private func settings(_ count: Int, _ keys: KafkaKeys? = nil) -> [String: String] {
        let nodes = Array(KafkaPropertiesTests.nodes.prefix(count))
        let entries = KafkaProperties(nodes: nodes, keys: keys).entries(of: nodes[0], logs: "/data/kafka/1")
        return Dictionary(uniqueKeysWithValues: entries)
    }

    @Test func threeNodesAcknowledgeWithTwoCopies() {
        let (one, three) = (settings(1), settings(3))
        #expect(one["min.insync.replicas"] == "1" && three["min.insync.replicas"] == "2")
        #expect(one["offsets.topic.replication.factor"] == "1" && three["offsets.topic.replication.factor"] == "3")
        #expect(three["controller.quorum.voters"] == "1@127.0.0.1:9201,2@127.0.0.1:9202,3@127.0.0.1:9203")
        #expect(three["listeners"] == "CLIENT://127.0.0.1:9001,BROKER://127.0.0.1:9101,CONTROLLER://127.0.0.1:9201")
    }

    @Test func withKeysNothingIsPlain() {
        let keys = KafkaKeys(roots: "/k/roots.pem", node: "/k/node.pem", user: "drover", password: "p")
        let secure = settings(3, keys)
        #expect(secure["listener.security.protocol.map"] == "CLIENT:SASL_SSL,BROKER:SSL,CONTROLLER:SSL")
        #expect(secure["listener.name.broker.ssl.client.auth"] == "required")
        #expect(secure["listener.name.client.sasl.enabled.mechanisms"] == "PLAIN")
        #expect(secure["listener.name.controller.ssl.client.auth"] == "required")
        #expect(
            settings(3)["listener.security.protocol.map"] == "CLIENT:PLAINTEXT,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT")
    }

    /// Java's own rules: java.util.Properties, `load`.
    @Test(arguments: [
        ("/plain/path", "/plain/path"), ("/Bär", "/B\\u00e4r"), ("a\\b", "a\\\\b"), ("🦋", "\\ud83e\\udd8b"),
    ])
    func valuesAreWrittenAsJavaReadsThem(value: String, written: String) {
        #expect(KafkaProperties.escaped(value) == written)
    }
}
