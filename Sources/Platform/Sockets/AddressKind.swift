/// The purpose of an address, by IANA's registries of special-purpose addresses (RFC 6890, RFC 8190; tables of 2024).
package enum AddressKind: String, CaseIterable, Sendable {
    case unspecified, loopback, multicast, broadcast, reserved, documentation, benchmarking
    case linkLocal = "link-local"
    case privateUse = "private"
    /// Carrier-grade NAT (RFC 6598).
    case shared
    /// IPv6 addresses that contain anybody's IPv4 address: NAT64, 6to4, Teredo and their predecessors.
    case translated
    /// Reached from everywhere.
    case `public`
}

extension IPAddress {
    package var kind: AddressKind {
        IPAddress.kinds.first { $0.network.contains(self) }?.kind ?? (bytes.count == 4 ? .public : .reserved)
    }

    /// The first match wins. Everything else is public in IPv4; in IPv6 only `2000::/3` has been allocated.
    private static let kinds: [(network: CIDR, kind: AddressKind)] = [
        ("0.0.0.0/8", .unspecified), ("10.0.0.0/8", .privateUse), ("100.64.0.0/10", .shared),
        ("127.0.0.0/8", .loopback), ("169.254.0.0/16", .linkLocal), ("172.16.0.0/12", .privateUse),
        ("192.0.0.0/24", .reserved), ("192.0.2.0/24", .documentation), ("192.88.99.0/24", .reserved),
        ("192.168.0.0/16", .privateUse), ("198.18.0.0/15", .benchmarking), ("198.51.100.0/24", .documentation),
        ("203.0.113.0/24", .documentation), ("224.0.0.0/4", .multicast), ("255.255.255.255/32", .broadcast),
        ("240.0.0.0/4", .reserved),
        ("::/128", .unspecified), ("::1/128", .loopback), ("::/96", .translated), ("::ffff:0:0:0/96", .translated),
        ("64:ff9b::/96", .translated), ("64:ff9b:1::/48", .translated), ("100::/64", .reserved),
        ("100:0:0:1::/64", .reserved), ("2001::/32", .translated), ("2001:2::/48", .benchmarking),
        ("2001:db8::/32", .documentation), ("2001::/23", .reserved), ("2002::/16", .translated),
        ("3fff::/20", .documentation), ("5f00::/16", .reserved), ("fc00::/7", .privateUse),
        ("fe80::/10", .linkLocal), ("fec0::/10", .privateUse), ("ff00::/8", .multicast), ("2000::/3", .public),
    ].map { text, kind in
        guard let network = CIDR(text) else { preconditionFailure("\(text) is a network") }
        return (network, kind)
    }
}
