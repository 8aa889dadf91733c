internal import Foundation

/// Where a service is: `https://service.example/prefix`, or plain `http` on this machine.
public struct ServiceAddress: Sendable {
    public struct Fault: Error, CustomStringConvertible { public let description: String }

    /// Without a slash at the end.
    public let base: String
    /// Names what the service is in the cache: another server has other answers.
    package let name: String
    public let isPlain: Bool

    public init(_ text: String, setting: String) throws(Fault) {
        let url = URLComponents(string: text)
        guard let url, let host = url.host, !host.isEmpty, url.user == nil, url.password == nil, url.query == nil,
            url.fragment == nil, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw Fault(
                description: "\(setting): must be an address like https://service.example, without user and query")
        }
        isPlain = url.scheme == "http"
        guard url.scheme == "https" || isPlain && ServiceAddress.isLoopback(host) else {
            throw Fault(
                description: "\(setting): must begin with https://; plain http:// only to this machine (127.0.0.1)")
        }
        var base = text
        while base.hasSuffix("/") { base.removeLast() }
        self.base = base
        name = String(base.drop { $0 != ":" }.dropFirst(3))
    }

    static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let isV4 = parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
        return isV4 || host == "localhost" || host == "::1" || host == "[::1]"
    }

    /// RFC 3986, 2.3: everything else is escaped.
    static func escaped(_ text: String) -> String {
        let hex = Array("0123456789ABCDEF")
        return text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: String(UnicodeScalar(byte))
            default: "%\(hex[Int(byte >> 4)])\(hex[Int(byte & 15)])"
            }
        }.joined()
    }
}
