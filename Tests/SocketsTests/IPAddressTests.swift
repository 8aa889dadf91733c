import Sockets
import Testing

struct IPAddressTests {
    @Test(
        arguments: [
            ("192.168.0.0/16", "192.168.255.1", true), ("192.168.0.0/16", "192.169.0.1", false),
            ("10.1.2.3", "10.1.2.3", true), ("10.1.2.3", "10.1.2.4", false), ("0.0.0.0/0", "8.8.8.8", true),
            ("127.0.0.0/9", "127.127.0.1", true), ("127.0.0.0/9", "127.128.0.1", false),
            ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe80::1", false), ("0.0.0.0/0", "::1", false),
            // The same address in IPv6's clothes.
            ("10.0.0.0/8", "::ffff:10.9.8.7", true),
        ])
    func networks(_ network: String, _ address: String, _ isInside: Bool) throws {
        #expect(try #require(CIDR(network)).contains(#require(IPAddress(address))) == isInside)
    }

    @Test(arguments: [
        "", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/+8", "box.local/8", "10.0.0/8", "fd00::/129",
    ])
    func refuses(_ network: String) { #expect(CIDR(network) == nil) }

    @Test func addressesAreWrittenAsTheyAreRead() {
        for text in ["127.0.0.1", "fd00::1"] { #expect(IPAddress(text)?.description == text) }
        #expect(IPAddress("box.local") == nil)
        #expect(throws: Never.self) { try IPAddress.resolve("localhost") }
        #expect(throws: SocketError.self) { try IPAddress.resolve("no such name") }
    }
}
