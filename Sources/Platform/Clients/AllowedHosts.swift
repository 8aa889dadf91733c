internal import Foundation
package import Sockets

/// The servers that people may have us send to: without this, who gives an address could make us ask any server that we
/// reach and they do not. Pure.
package struct AllowedHosts: Sendable {
    package struct Fault: Error, Equatable, CustomStringConvertible { public let description: String }

    private let entries: [(host: String, port: Int?, isSuffix: Bool)]
    package var isEmpty: Bool { entries.isEmpty }

    /// - Parameter text: hosts separated by commas: `hooks.example.org`, `*.sms.example`, `127.0.0.1:8443`.
    package init(_ text: String) throws(Fault) {
        var entries: [(host: String, port: Int?, isSuffix: Bool)] = []
        for part in text.split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces).lowercased() }) {
            let isSuffix = part.hasPrefix("*.")
            let words = part.dropFirst(isSuffix ? 1 : 0).split(separator: ":", omittingEmptySubsequences: false)
            let port = words.count == 2 ? Int(words[1]) : nil
            let isHost = words.first.map { word in
                word.utf8.count > (isSuffix ? 1 : 0)
                    && word.utf8.allSatisfy {
                        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x2E
                    }
            }
            guard words.count <= 2, isHost == true, words.count == 1 || port.map({ (1...65_535).contains($0) }) == true
            else {
                throw Fault(
                    description: "`\(part)`: write hosts like hooks.example.org, *.sms.example or 127.0.0.1:8443")
            }
            entries.append((String(words[0]), port, isSuffix))
        }
        self.entries = entries
    }

    /// Whether we may send to `url`: HTTPS, plain HTTP to this machine, no user in it, and one of the hosts.
    package func allow(_ url: String) -> Bool {
        guard url.utf8.count <= 1_000, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts = URLComponents(string: url), let host = parts.host?.lowercased(), parts.user == nil,
            parts.password == nil, parts.fragment == nil
        else { return false }
        guard parts.scheme == "https" || AllowedHosts.isPlain(url) else { return false }
        return entries.contains { entry in
            (entry.isSuffix ? host.hasSuffix(entry.host) : host == entry.host) && entry.port == parts.port
        }
    }

    /// The address that a URL names literally: listing `127.0.0.1:8443` as a host means this machine. A name may resolve to anything, so
    /// it names none.
    package static func networks(of url: String) -> [CIDR] {
        guard let host = URLComponents(string: url)?.host?.lowercased() else { return [] }
        if host == "localhost" { return ["127.0.0.0/8", "::1"].compactMap { CIDR($0) } }
        return [CIDR(host.filter { !"[]".contains($0) })].compactMap(\.self)
    }

    /// Plain HTTP, to this machine: the only one that it is allowed to.
    package static func isPlain(_ url: String) -> Bool {
        guard let parts = URLComponents(string: url), parts.scheme == "http" else { return false }
        return parts.host == "localhost"
            || parts.host?.hasPrefix("127.") == true
                && parts.host!.utf8.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) }
    }
}
