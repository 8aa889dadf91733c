import Kafka
import Testing

/// Lines of librdkafka 2.0.2 and 2.16 as they came.
struct BrokerDiagnosisTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let line: String
        let wanted: String?
        init(_ story: String, _ line: String, _ wanted: String?) {
            (testDescription, self.line, self.wanted) = (story, line, wanted)
        }
    }

    static let cases = [
        Case(
            "a login that is refused",
            "[thrd:sasl_ssl://b-1:9093/bootstrap]: sasl_ssl://b-1:9093/bootstrap: SASL authentication error: Authentication failed: Invalid username or password (after 0ms in state AUTH_REQ)",
            "b-1:9093 refuses the login (Authentication failed: Invalid username or password). Correct kafka.sasl_user and the password, or give the user this kafka.sasl_mechanism"
        ),
        Case(
            "no TLS in the question, TLS in the answer",
            "[thrd:b-1:9093/bootstrap]: b-1:9093/bootstrap: Disconnected: connection closed by peer: receive 0 after POLLIN (after 4ms in state APIVERSION_QUERY)",
            "b-1:9093 hangs up at once. Does it speak TLS there? Correct kafka.security_protocol, or the port in kafka.brokers"
        ),
        Case(
            "a broker that ends an idle connection",
            "[thrd:ssl://b-1:9093/bootstrap]: ssl://b-1:9093/1: Disconnected: SSL connection closed by peer (after 26195ms in state UP)",
            nil),
        Case(
            "a broker that is away",
            "[thrd:ssl://b-1:9093/bootstrap]: ssl://b-1:9093/bootstrap: Connect to ipv4#10.0.0.1:9093 failed: Connection refused (after 0ms in state CONNECT)",
            nil),
    ]

    @Test(arguments: cases) func aLine(_ c: Case) {
        #expect(BrokerDiagnosis.text(c.line, certificate: "", librdkafka: 0x0210_00FF) == c.wanted)
    }

    @Test func onlyAnOlderLibraryIsSaidToBeTheReasonOfARefusedSCRAM() {
        let line =
            "[thrd:x]: sasl_ssl://b:1/1: SASL authentication error: Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-512 (after 1ms in state AUTH_REQ)"
        func isNamed(_ version: Int32) -> Bool {
            BrokerDiagnosis.text(line, certificate: "", librdkafka: version)!.contains("librdkafka 2.6.1")
        }
        #expect(isNamed(0x0200_02FF) && isNamed(0x0206_00FF) && !isNamed(0x0206_01FF))
    }
}
