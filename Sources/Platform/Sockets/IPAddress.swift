internal import Glibc

/// An IPv4 or IPv6 address: 4 or 16 bytes in network order.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// Nil when the text is no address; names are for `resolve`.
    package init?(_ text: String) {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if unsafe inet_pton(family, text, &bytes) == 1 {
                self.init(bytes)
                return
            }
        }
        return nil
    }

    /// An IPv4 address in IPv6's clothes is the IPv4 address: a list of one form must hold for both.
    private init(_ bytes: [UInt8]) {
        let mapped = bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10..<12] == [0xFF, 0xFF]
        self.bytes = mapped ? Array(bytes[12...]) : bytes
    }

    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        _ = unsafe inet_ntop(family, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The address, or the first one of a name. Blocks while the name is looked up.
    package static func resolve(_ host: String) throws(SocketError) -> IPAddress {
        if let address = IPAddress(host) { return address }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, nil, &hints, &list)
        guard code == 0, let first = unsafe list else {
            throw unsafe SocketError("\(host): \(String(cString: gai_strerror(code)))")
        }
        defer { unsafe freeaddrinfo(first) }

        guard let address = unsafe IPAddress(first.pointee.ai_addr) else { throw SocketError("\(host): no IP address") }
        return address
    }

    private init?(_ pointer: UnsafePointer<sockaddr>) {
        switch unsafe Int32(pointer.pointee.sa_family) {
        case AF_INET:
            self.init(
                unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    unsafe withUnsafeBytes(of: address.pointee.sin_addr) { unsafe Array($0) }
                })
        case AF_INET6:
            self.init(
                unsafe pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                    unsafe withUnsafeBytes(of: address.pointee.sin6_addr) { unsafe Array($0) }
                })
        default: return nil
        }
    }

    /// Calls with the C form of address and port.
    func withSocketAddress<R>(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        if bytes.count == 4 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &address.sin_addr) { unsafe $0.copyBytes(from: bytes) }
            return unsafe IPAddress.rebound(address, body)
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: bytes) }
        return unsafe IPAddress.rebound(address, body)
    }

    private static func rebound<S, R>(_ address: S, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<S>.size))
            }
        }
    }
}

/// A range of addresses: `192.168.0.0/16`, `fd00::/8`, or a single address.
package struct CIDR: Hashable, Sendable, CustomStringConvertible {
    let base: IPAddress
    private let bits: Int

    /// Nil when the text is no range, or has bits beyond its length: most likely it is not what was meant.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let base = IPAddress(String(parts[0])) else { return nil }
        let width = base.bytes.count * 8
        guard parts.count == 1 || parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let bits = parts.count == 1 ? width : Int(parts[1]), (0...width).contains(bits)
        else { return nil }
        self.base = base
        self.bits = bits
        guard CIDR.masked(base.bytes, bits) == base.bytes else { return nil }
    }

    package func contains(_ address: IPAddress) -> Bool {
        address.bytes.count == base.bytes.count && CIDR.masked(address.bytes, bits) == base.bytes
    }

    package var description: String { "\(base)/\(bits)" }

    private static func masked(_ bytes: [UInt8], _ bits: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let kept = max(0, min(8, bits - index * 8))
            return kept == 0 ? 0 : byte & (0xFF << (8 - kept))
        }
    }
}
