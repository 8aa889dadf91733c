internal import Foundation

/// The address of a service: `https://service.example/prefix`, or plain `http` on this machine.
package struct ServiceAddress: Sendable {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    /// Without a slash at the end.
    package let base: String
    /// Names what the service is in the cache: another server has other answers.
    package let name: String
    package let isPlain: Bool

    package init(_ text: String, setting: String) throws(Fault) {
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
}
