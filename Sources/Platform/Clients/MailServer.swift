/// Where mail goes out: `smtp://host:port` (STARTTLS) or `smtps://host:port` (TLS from the first byte).
package struct MailServer: Equatable, Sendable {
    package struct Fault: Error, Equatable, CustomStringConvertible { public let description: String }

    package let host: String
    package let port: UInt16
    /// TLS from the first byte (RFC 8314, 3.3).
    package let isImplicitTLS: Bool
    /// This machine: its own relay may speak plain SMTP.
    package var isLoopback: Bool {
        let isAddress = host.utf8.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) }
        return host == "localhost" || host == "[::1]" || isAddress && host.hasPrefix("127.")
    }
    var url: String { "\(isImplicitTLS ? "smtps" : "smtp")://\(host):\(port)" }

    package init(_ text: String) throws(Fault) {
        let schemes = [("smtp://", false, UInt16(587)), ("smtps://", true, 465)]
        guard let (prefix, isImplicitTLS, standardPort) = schemes.first(where: { text.hasPrefix($0.0) }) else {
            throw Fault(description: "must be smtp://HOST:PORT or smtps://HOST:PORT")
        }
        var rest = text.dropFirst(prefix.count)
        var port = standardPort
        if let colon = rest.lastIndex(of: ":"), !rest[colon...].contains("]") {
            guard let said = UInt16(rest[rest.index(after: colon)...]), said > 0 else {
                throw Fault(description: "its port must be 1 to 65535")
            }
            port = said
            rest = rest[..<colon]
        }
        let isAddress = rest.hasPrefix("[") && rest.hasSuffix("]")
        let name = isAddress ? rest.dropFirst().dropLast() : rest
        let isHost = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E: true
            default: isAddress && byte == 0x3A
            }
        }
        guard (1...253).contains(name.utf8.count), isHost, !name.hasPrefix("-") else {
            throw Fault(
                description: "its host must be a name or an address; user and password are settings of their own")
        }
        host = String(rest)
        self.port = port
        self.isImplicitTLS = isImplicitTLS
    }
}

/// The result of sending a mail. Reasons contain no address and nothing of the mail.
package enum MailOutcome: Equatable, Sendable {
    case taken
    /// For good: this mail will never be taken.
    case refused(String)
    /// This mail not now, such as by greylisting.
    case later(String)
    /// No mail now: the server is away, too busy, not who it should be, or lets us not in.
    case unavailable(String)
}
