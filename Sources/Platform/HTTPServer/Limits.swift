/// The limits of one server.
package struct Limits: Sendable {
    /// Longer bodies get 413.
    package var bodyBytesMax = 1 << 20
    /// Other limits than that, of the paths that are named.
    package var bodyBytesMaxByPath: [String: Int] = [:]
    /// Accepted from everybody. Senders of more must be known first, where the server asks for that.
    package var smallBodyBytes = 64 << 10
    /// The same for paths at which callers say in the body who they are.
    package var strangersBytesMaxByPath: [String: Int] = [:]
    /// Bodies of all requests that are being received or handled; beyond it the next ones get 503. Many clients that each
    /// keep within their limit must not fill the memory.
    package var allBodiesBytesMax = 96 << 20
    /// Memory that bodies above the smallest size must leave free.
    package var roomForSmallBytes = 8 << 20
    /// Memory that bodies above `bodyBytesMax` must leave free.
    package var roomForUsualBytes = 24 << 20
    /// Per client address before authentication; all clients behind an untrusted proxy count as one. More gets 429.
    package var bodiesPerAddressBytesMax = 4 << 20
    /// Per account: a film and some more.
    package var bodiesPerAccountBytesMax = 34 << 20
    /// Request line and headers of one request; more gets 431 or 414.
    package var headerBytesMax = 16 << 10
    package var connectionsMax = 1000
    /// Connections of one address; behind a proxy all clients are one address.
    package var connectionsPerAddressMax = 200
    /// Proxies in front of us, by address: who asks is whom they name.
    package var trustedProxies: Set<String> = []
    /// A connection on which nothing happens is closed.
    package var idleMs = 15_000
    /// From the first byte of a request line to the last of the body, however busy the connection is.
    package var receiveMs = 20_000
    /// The same for a large body over a thin line, which gets time for what has arrived.
    package var receiveInAllMs = 600_000
    /// From the handler's answer to its last byte.
    package var sendMs = 60_000
    /// Names that `Host` may have, without port, lower case; empty: any. Keeps foreign pages from reaching a server on
    /// the loopback address under a name of theirs.
    package var hosts: Set<String> = []

    package init() {}

    func bodyBytesMax(of path: String) -> Int { bodyBytesMaxByPath[path] ?? bodyBytesMax }
    func strangersBytesMax(of path: String) -> Int { strangersBytesMaxByPath[path] ?? smallBodyBytes }
}

/// Why a request is refused before its body is read. These are the places where two servers in a row could disagree on
/// where a request ends (RFC 9112, 6.3 and 11.2), which the C library lets through.
package enum Refusal {
    static func check(
        version: String, headers: [(name: String, value: String)], bodyBytesMax: Int, limits: Limits
    ) -> Response? {
        func values(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
        let (lengths, encodings, hosts) = (values("content-length"), values("transfer-encoding"), values("host"))
        if !encodings.isEmpty {
            if !lengths.isEmpty { return bad("Content-Length and Transfer-Encoding exclude each other.") }
            guard encodings.count == 1, encodings[0].lowercased() == "chunked", version != "HTTP/1.0" else {
                return bad("The only transfer coding taken is chunked, in HTTP/1.1.")
            }
        }
        if lengths.count > 1 { return bad("There is more than one Content-Length.") }
        if let length = lengths.first {
            guard !length.isEmpty, length.count <= 18, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let bytes = Int(length)
            else { return bad("Content-Length is no number.") }
            if bytes > bodyBytesMax { return tooLarge(bodyBytesMax) }
        }
        guard hosts.count <= 1, hosts.count == 1 || version == "HTTP/1.0" else {
            return bad("HTTP/1.1 wants exactly one Host.")
        }
        if let host = hosts.first {
            guard let name = hostName(host) else { return bad("Host is not a name with an optional port.") }
            if !limits.hosts.isEmpty, !limits.hosts.contains(name) {
                return .problem(421, type: "wrong-host", detail: "This server does not answer under that name.")
            }
        }
        // A name with odd characters is read differently by different servers ("Content-Length :").
        guard headers.allSatisfy({ !$0.name.isEmpty && $0.name.utf8.allSatisfy(isToken) }) else {
            return bad("A header's name has characters that are not allowed.")
        }
        // A lone CR ends the line for some servers, and for others not (RFC 9112, 2.2).
        guard headers.allSatisfy({ $0.value.utf8.allSatisfy(isOfValue) }) else {
            return bad("A header's value holds a control character.")
        }
        return nil
    }

    static let head = bad(
        "The request line or a header holds a NUL, goes on in a second line, or does not end in CR LF.")
    static let busy = Response.problem(
        503, type: "busy", detail: "Too much is being received at once. Send it again in a moment."
    ).with("Retry-After", "1")
    static let busyOfOne = Response.problem(
        429, type: "busy", detail: "Too much of yours is being received at once. Send it again when the rest is done."
    ).with("Retry-After", "1")
    static func bad(_ detail: String) -> Response { .problem(400, type: "bad-request", detail: detail) }
    static func tooLarge(_ bytesMax: Int) -> Response {
        .problem(
            413, type: "body-too-large",
            detail: "A body has at most \(bytesMax) bytes here. Send less at once.")
    }

    /// Lower case, without port; IPv6 addresses keep their brackets.
    package static func hostName(_ host: String) -> String? {
        var name = Substring(host.lowercased())
        var port: Substring = ""
        if name.hasPrefix("[") {
            guard let end = name.firstIndex(of: "]") else { return nil }
            port = name[name.index(after: end)...]
            name = name[...end]
            guard name.dropFirst().dropLast().allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
                return nil
            }
        } else {
            if let colon = name.firstIndex(of: ":") { (port, name) = (name[colon...], name[..<colon]) }
            let isName = name.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F
            }
            guard !name.isEmpty, isName else { return nil }
        }
        guard port.isEmpty || (port.hasPrefix(":") && UInt16(port.dropFirst()) != nil) else { return nil }
        return String(name)
    }

    private static func isOfValue(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == 0x09 }

    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
