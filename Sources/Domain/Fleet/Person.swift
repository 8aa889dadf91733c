/// A person's roles on a campus.
public enum PersonRole: String, CaseIterable, Sendable {
    case rider
    case rideDriver = "ride_driver"
    case dispatcher
}

/// A person on a campus's roster.
public struct RosterEntry: Equatable, Sendable {
    /// As the campus calls them: 1 to 64 letters, digits, `-`, `_` or `.`.
    public var id: String
    public var role: PersonRole
    public var name: String
    /// Where codes are mailed to.
    public var mail: String

    public init(id: String, role: PersonRole, name: String, mail: String) {
        self.id = id
        self.role = role
        self.name = name
        self.mail = mail
    }
}

/// Mail addresses as they go into a header and to a server.
public enum MailAddress {
    /// RFC 5321, 4.5.3.1: 64 bytes before the `@`, 254 in all.
    public static let bytesMax = 254

    /// The plain form, `dot-atom@host.name` in ASCII (RFC 5322, 3.4.1): nothing in it can end a header or a command.
    public static func isValid(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: 0x40, omittingEmptySubsequences: false)
        guard text.utf8.count <= bytesMax, parts.count == 2, (1...64).contains(parts[0].count) else { return false }
        let hosts = parts[1].split(separator: 0x2E, omittingEmptySubsequences: false)
        let atoms = parts[0].split(separator: 0x2E, omittingEmptySubsequences: false)
        return hosts.count >= 2 && hosts.allSatisfy(isLabel)
            && atoms.allSatisfy { !$0.isEmpty && $0.allSatisfy(isAtom) }
    }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        (1...63).contains(label.count) && label.first != 0x2D && label.last != 0x2D
            && label.allSatisfy { isAlphanumeric($0) || $0 == 0x2D }
    }

    private static func isAtom(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
