/// Kafka settings that must be given together.
package enum KafkaRules {
    package struct Fault: Sendable, Equatable {
        package let key: String
        /// Begins with the key; with the rule and what to do.
        package let text: String
    }

    /// Characters that Kafka allows in a topic's name.
    private static func isPrefix(_ text: String) -> Bool {
        text.utf8.count <= 64
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// All that is wrong, in the order of the table. Files are looked at elsewhere.
    package static func faults(_ settings: Settings) -> [Fault] {
        let wire = settings.text("kafka.security_protocol")
        let (isTLS, isSASL) = (wire.hasSuffix("ssl"), wire.hasPrefix("sasl"))
        func isSet(_ key: String) -> Bool { !settings.text(key).isEmpty }
        var faults: [Fault] = []
        func wrong(_ key: String, _ text: String) { faults.append(Fault(key: key, text: "\(key): \(text)")) }

        if wire == "sasl_plaintext", settings.text("kafka.sasl_mechanism") == "PLAIN",
            let outside = brokers(settings).first(where: { !isLoopback($0) })
        {
            wrong(
                "kafka.security_protocol",
                "is sasl_plaintext: with kafka.sasl_mechanism PLAIN everybody on the way to \(outside) reads the password. "
                    + "Set sasl_ssl, or a SCRAM mechanism")
        }
        for key in ["kafka.ca_file", "kafka.certificate_file", "kafka.key_file"] where isSet(key) && !isTLS {
            wrong(
                key,
                "is set, and kafka.security_protocol is \(wire), which knows no TLS. Set ssl or sasl_ssl, or leave this out"
            )
        }
        if isTLS {
            if isSet("kafka.certificate_file"), !isSet("kafka.key_file") {
                wrong("kafka.certificate_file", "is set without its key. Name it in kafka.key_file")
            }
            if isSet("kafka.key_file"), !isSet("kafka.certificate_file") {
                wrong("kafka.key_file", "is set without its certificate. Name it in kafka.certificate_file")
            }
        }
        let prefix = settings.text("kafka.topic_prefix")
        if !isPrefix(prefix) {
            wrong(
                "kafka.topic_prefix",
                "is `\(prefix)`. Write at most 64 letters, digits, `.`, `_` and `-`, as in `north.`")
        }
        let keyPasswords = ["kafka.key_password", "kafka.key_password_file"]
        if let key = keyPasswords.first(where: isSet), !isSet("kafka.key_file") {
            wrong(key, "is set, and there is no key to open with it. Name it in kafka.key_file, or leave this out")
        }
        let passwords = ["kafka.sasl_password", "kafka.sasl_password_file"]
        for pair in [keyPasswords, passwords] where pair.allSatisfy(isSet) {
            wrong(pair[1], "is set, and so is \(pair[0]). Set one of them")
        }
        if isSASL {
            if !isSet("kafka.sasl_user") {
                wrong("kafka.sasl_user", "is empty, and kafka.security_protocol is \(wire). Set the user's name")
            }
            if !passwords.contains(where: isSet) {
                wrong(
                    "kafka.sasl_password_file",
                    "is empty, and kafka.security_protocol is \(wire). Name a file whose first line is the password")
            }
        } else if let key = (["kafka.sasl_user"] + passwords).first(where: isSet) {
            wrong(
                key,
                "is set, and kafka.security_protocol is \(wire), which logs nobody in. Set sasl_ssl, or leave this out")
        }
        return faults
    }

    private static func brokers(_ settings: Settings) -> [Substring] {
        settings.text("kafka.brokers").split { $0 == "," || $0 == " " }
    }

    /// By what is written: `localhost`, `127.…` and `[::1]`, with or without a port.
    private static func isLoopback(_ broker: Substring) -> Bool {
        if broker.hasPrefix("[::1]") { return true }
        let host = broker.prefix { $0 != ":" }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return host == "localhost"
            || numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
    }
}
