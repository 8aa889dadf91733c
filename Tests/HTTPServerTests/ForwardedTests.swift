import HTTPServer
import Testing

@Suite struct ForwardedTests {
    private let proxies: Set<String> = ["127.0.0.1", "10.0.0.2"]

    @Test(
        arguments: [
            ("192.0.2.9", "198.51.100.7", "192.0.2.9"),  // a stranger who says that he is somebody else
            ("127.0.0.1", nil, "127.0.0.1"), ("127.0.0.1", "198.51.100.7", "198.51.100.7"),
            // What the client sent stands left of what the proxy saw.
            ("127.0.0.1", "203.0.113.5, 198.51.100.7", "198.51.100.7"),
            ("127.0.0.1", "203.0.113.5,198.51.100.7, 10.0.0.2", "198.51.100.7"),
            ("10.0.0.2", "2001:db8::7", "2001:db8::7"), ("127.0.0.1", "198.51.100.7, unknown", "127.0.0.1"),
            ("127.0.0.1", "<script>", "127.0.0.1"), ("127.0.0.1", ", ,", "127.0.0.1"),
            ("127.0.0.1", String(repeating: "1", count: 46), "127.0.0.1"),
        ] as [(String, String?, String)])
    func isReadFromTheRight(_ peer: String, _ header: String?, _ client: String) {
        #expect(Forwarded.client(peer: peer, header: header, trusted: proxies) == client)
    }
}
