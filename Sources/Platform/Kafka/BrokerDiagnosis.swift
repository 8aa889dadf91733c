internal import CRdkafka
internal import Synchronization
internal import Telemetry

/// Why brokers are not reached: librdkafka's lines and certificate checks, explained by the setting to correct. Its threads write, readers
/// of an error read.
package final class BrokerDiagnosis: Sendable {
    private struct State {
        var text = ""
        var atMs: Int64 = 0
        /// OpenSSL's result for the last rejected certificate.
        var certificate = ""
    }

    /// Older findings explain no error. A refused client tries again within 10 s.
    private static let freshMs: Int64 = 25_000

    private let state = Mutex(State())

    /// Nil: nothing that is known to be in the way.
    var latest: String? {
        state.withLock { $0.text.isEmpty || Clock.steadyMs() - $0.atMs > BrokerDiagnosis.freshMs ? nil : $0.text }
    }

    func clear() { state.withLock { $0.text = "" } }

    /// Why the certificate is rejected, from OpenSSL's code (openssl/x509_vfy.h); also for librdkafka's own line.
    func certificateRefused(_ code: Int32) -> String {
        let why = BrokerDiagnosis.certificate(code)
        state.withLock { $0.certificate = why }
        return why
    }

    /// Reads librdkafka's line about a failed connection; nil: we have no explanation.
    func read(_ line: String) -> String? {
        let certificate = state.withLock { $0.certificate }
        guard let text = BrokerDiagnosis.text(line, certificate: certificate, librdkafka: rd_kafka_version()) else {
            return nil
        }
        state.withLock { ($0.text, $0.atMs) = (text, Clock.steadyMs()) }
        return text
    }

    static func certificate(_ code: Int32) -> String {
        switch code {
        case 10: "its certificate has run out. Renew it at the broker, or set this machine's clock"
        case 9: "its certificate is not valid yet. Set the clock of this machine, or of the one that made it"
        case 62, 64:
            "its certificate is another host's. Name the broker in kafka.brokers and in its advertised.listeners as its certificate does"
        case 2, 18, 19, 20, 21:
            "its certificate is not signed by the roots of kafka.ca_file (empty: the system's). Correct them, or the broker's certificate"
        case 23: "its certificate is revoked. Renew it at the broker"
        default: "its certificate is refused (OpenSSL's verification error \(code))"
        }
    }

    /// The explanation of a line such as `…: ssl://broker-1:9093/bootstrap: SSL handshake failed: …`. Nil: we have none.
    package static func text(_ line: String, certificate: String, librdkafka version: Int32) -> String? {
        guard let meaning = meanings.first(where: { line.contains($0.0) })?.1 ?? hungUp(line) else { return nil }
        let broker = line.broker ?? "a broker"
        switch meaning {
        case .certificate: return "\(broker) is not believed: \(certificate)"
        case .says(let text): return "\(broker) \(text)"
        case .login:
            let words = line.behind("SASL authentication error: ") ?? ""
            let said = words.isEmpty ? "" : " (\(words))"
            // https://github.com/confluentinc/librdkafka/pull/4895; Kafka before 4 lets it pass.
            let fault =
                words.contains("SCRAM") && version < 0x0206_01FF
                ? ". Or it is Kafka 4, which takes SCRAM from librdkafka 2.6.1 on and refuses the right password of this older one: "
                    + "then PLAIN with sasl_ssl, or a newer librdkafka"
                : ""
            return "\(broker) refuses the login\(said). "
                + "Correct kafka.sasl_user and the password, or give the user this kafka.sasl_mechanism\(fault)"
        }
    }

    private enum Meaning { case certificate, login, says(String) }

    /// Fragments of lines and their meanings, for librdkafka 2.0.2 to 2.16 with OpenSSL 3.
    private static let meanings: [(String, Meaning)] = [
        ("certificate verify failed", .certificate),
        ("SASL authentication error", .login),
        (
            "mechanism handshake failed",
            .says("does not offer this way to log in. Set kafka.sasl_mechanism to one that it has")
        ),
        (
            "alert certificate required",
            .says("wants a certificate of ours. Set kafka.certificate_file and kafka.key_file")
        ),
        (
            "alert certificate expired",
            .says("refuses our certificate, which has run out. Renew kafka.certificate_file and kafka.key_file")
        ),
        (
            "alert unknown ca",
            .says("refuses our certificate, which none of its roots has signed. Correct kafka.certificate_file")
        ),
        (
            "alert certificate revoked",
            .says("refuses our certificate, which is revoked. Renew kafka.certificate_file and kafka.key_file")
        ),
        (" alert ", .says("refuses our TLS or our certificate. Correct kafka.certificate_file; its log says why")),
        (
            "PLAINTEXT broker listener",
            .says("does not speak TLS there. Correct the port in kafka.brokers, or kafka.security_protocol")
        ),
        (
            "wrong version number",
            .says("does not speak TLS there. Correct the port in kafka.brokers, or kafka.security_protocol")
        ),
        (
            "might require SASL authentication",
            .says("hangs up on who does not log in. Set kafka.security_protocol to one with sasl")
        ),
    ]

    /// Connections that end before the first answer have no better reason: the peer gave none.
    private static func hungUp(_ line: String) -> Meaning? {
        guard line.contains("in state APIVERSION_QUERY") else { return nil }
        return line.contains("ssl://")
            ? .says(
                "hangs up after the TLS handshake. Does it want a certificate of ours (kafka.certificate_file), or another one? "
                    + "Its log says")
            : .says(
                "hangs up at once. Does it speak TLS there? Correct kafka.security_protocol, or the port in kafka.brokers"
            )
    }
}

extension String {
    /// The text after the last occurrence, up to librdkafka's ` (after 5ms in state …)`.
    fileprivate func behind(_ text: String) -> Substring? {
        guard let start = ranges(of: text).last?.upperBound else { return nil }
        let rest = self[start...]
        return rest[..<(rest.firstRange(of: " (after ")?.lowerBound ?? rest.endIndex)]
    }

    /// `broker-1:9093` of `[thrd:…]: ssl://broker-1:9093/bootstrap: …`, and of the same without `ssl://`.
    fileprivate var broker: String? {
        guard let start = firstRange(of: "]: ")?.upperBound else { return nil }
        let name = self[start...].prefix { $0 != " " }
        let address = (name.firstRange(of: "://").map { name[$0.upperBound...] } ?? name).prefix { $0 != "/" }
        return address.contains(":") ? String(address) : nil
    }
}
