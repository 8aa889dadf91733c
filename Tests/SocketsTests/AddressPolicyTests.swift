import Sockets
import Testing

struct AddressPolicyTests {
    @Test(
        "each class of RFC 6890",
        arguments: [
            ("0.0.0.0", .unspecified), ("0.1.2.3", .unspecified), ("::", .unspecified), ("127.0.0.1", .loopback),
            ("127.255.255.254", .loopback), ("::1", .loopback), ("::ffff:127.0.0.1", .loopback),
            ("10.0.0.1", .privateUse), ("172.16.0.1", .privateUse), ("172.31.255.255", .privateUse),
            ("192.168.1.1", .privateUse), ("fd12::1", .privateUse), ("fec0::1", .privateUse), ("100.64.0.1", .shared),
            ("100.127.255.255", .shared), ("169.254.169.254", .linkLocal), ("fe80::1", .linkLocal),
            ("192.0.0.8", .reserved), ("192.88.99.1", .reserved), ("240.0.0.1", .reserved), ("100::1", .reserved),
            ("2001:20::1", .reserved), ("5f00::1", .reserved), ("4000::1", .reserved), ("192.0.2.1", .documentation),
            ("198.51.100.1", .documentation), ("203.0.113.1", .documentation), ("2001:db8::1", .documentation),
            ("3fff::1", .documentation), ("198.18.0.1", .benchmarking), ("198.19.255.255", .benchmarking),
            ("2001:2::1", .benchmarking), ("224.0.0.1", .multicast), ("239.255.255.255", .multicast),
            ("ff02::1", .multicast), ("255.255.255.255", .broadcast), ("64:ff9b::7f00:1", .translated),
            ("64:ff9b:1::1", .translated), ("2002:7f00:1::", .translated), ("2001::1", .translated),
            ("::127.0.0.1", .translated), ("::ffff:0:127.0.0.1", .translated), ("8.8.8.8", .public),
            ("172.32.0.1", .public), ("100.128.0.1", .public), ("::ffff:8.8.8.8", .public), ("2a00::1", .public),
        ] as [(String, AddressKind)])
    func kinds(_ text: String, _ kind: AddressKind) throws { #expect(try #require(IPAddress(text)).kind == kind) }

    private static func refusal(_ networks: [String], _ address: String, _ port: UInt16 = 7701) throws -> AddressPolicy
        .Refusal?
    {
        let reach = AddressPolicy(
            networks: try networks.map { try #require(CIDR($0)) }, takesPublic: true, ownPorts: [5432])
        return reach.refusal(of: try #require(IPAddress(address)), port: port)
    }

    @Test(arguments: [
        "127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "192.168.1.1", "fd00::1", "100.64.0.1", "169.254.169.254",
        "fe80::1", "240.0.0.1", "203.0.113.1", "198.18.0.1", "64:ff9b::a00:1", "2002:a00:1::",
    ])
    func whatTheOperatorHasNotNamedIsRefused(_ address: String) throws {
        let kind = try #require(IPAddress(address)).kind
        #expect(try Self.refusal([], address) == .unnamed(kind))
        // All at once is not named.
        #expect(try Self.refusal(["0.0.0.0/0", "::/0"], address) == .unnamed(kind))
    }

    @Test(arguments: [
        ("127.0.0.0/8", "127.0.0.1"), ("127.0.0.0/8", "::ffff:127.0.0.1"), ("::1", "::1"),
        ("192.168.40.0/24", "192.168.40.7"), ("169.254.0.0/16", "169.254.1.1"), ("fd00::/8", "fd00::7"),
    ])
    func whatIsNamedIsReachedButForOurOwnPorts(_ network: String, _ address: String) throws {
        #expect(try Self.refusal([network], address) == nil)
        #expect(try Self.refusal([network], address, 5432) == .ownPort(5432))
    }

    @Test(arguments: ["0.0.0.0", "::", "224.0.0.1", "ff02::1", "255.255.255.255"])
    func whatIsNobodysIsNeverReached(_ address: String) throws {
        let kind = try #require(IPAddress(address)).kind
        #expect(try Self.refusal([address], address) == .never(kind))
    }

    @Test func theInternetIsReachedUnlessItIsTakenAway() throws {
        #expect(try Self.refusal([], "8.8.8.8") == nil)
        #expect(try Self.refusal([], "8.8.8.8", 5432) == .ownPort(5432))
        let reach = AddressPolicy(networks: [try #require(CIDR("8.8.0.0/16"))], takesPublic: false, ownPorts: [])
        #expect(reach.refusal(of: try #require(IPAddress("8.8.8.8")), port: 7701) == nil)
        #expect(reach.refusal(of: try #require(IPAddress("9.9.9.9")), port: 7701) == .unnamed(.public))
    }
}
