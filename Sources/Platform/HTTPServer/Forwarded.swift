/// The client's address behind proxies: `X-Forwarded-For`, to which each proxy appends the address that it saw. Clients may forge the
/// header, so it is read from the right, and only as far as our own proxies wrote it.
package enum Forwarded {
    /// - Parameters:
    ///   - peer: the connection's other end.
    ///   - header: nil: there was none.
    ///   - trusted: addresses of the proxies that are believed.
    package static func client(peer: String, header: String?, trusted: Set<String>) -> String {
        var client = peer
        for part in (header ?? "").split(separator: ",").reversed() {
            guard trusted.contains(client) else { break }
            let address = part.filter { $0 != " " && $0 != "\t" }
            guard isAddress(address) else { break }
            client = address
        }
        return client
    }

    /// Only characters of IPv4 and IPv6 addresses; some proxies write other values, such as `unknown`.
    private static func isAddress(_ text: String) -> Bool {
        (2...45).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x3A, 0x41...0x46, 0x61...0x66, UInt8(ascii: "."): true
                default: false
                }
            }
    }
}
