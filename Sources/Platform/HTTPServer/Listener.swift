internal import Glibc

/// Why a server did not start, and what to do.
package struct ServerError: Error, Sendable, CustomStringConvertible {
    package let description: String
}

/// A listening socket. We make it ourselves to say exactly what is wrong and to learn the port that was chosen.
enum Listener {
    static func open(host: String, port: UInt16) throws -> (descriptor: Int32, port: UInt16) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_PASSIVE
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, String(port), &hints, &found) == 0, let address = unsafe found else {
            throw ServerError(description: "\(host) is no address of this machine: give an address such as 127.0.0.1")
        }
        defer { unsafe freeaddrinfo(found) }

        let descriptor = unsafe socket(address.pointee.ai_family, address.pointee.ai_socktype, 0)
        guard descriptor >= 0 else { throw failure(host, port, errno) }
        // A restart must not wait for connections of the last run to be forgotten.
        var on: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        // Its connections take this over: a client that vanished is noticed when what is sent stays unconfirmed so long.
        var patienceMs: Int32 = 30_000
        unsafe setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &patienceMs, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        guard unsafe bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0,
            listen(descriptor, 511) == 0
        else {
            let reason = errno
            close(descriptor)
            throw failure(host, port, reason)
        }
        return (descriptor, boundPort(descriptor))
    }

    private static func failure(_ host: String, _ port: UInt16, _ reason: Int32) -> ServerError {
        let text =
            switch reason {
            case EADDRINUSE:
                "port \(port) on \(host) is taken: stop the program that has it (ss -ltnp shows which) or choose another port"
            case EACCES: "port \(port) on \(host) needs more rights: choose a port from 1024 on, with a proxy in front"
            case EADDRNOTAVAIL: "\(host) is no address of this machine: give one that `ip addr` shows"
            default: "cannot listen on port \(port) on \(host): \(unsafe String(cString: strerror(reason)))"
            }
        return ServerError(description: text)
    }

    private static func boundPort(_ descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe getsockname(descriptor, $0, &length)
            }
            // The port stands at the same place in both address families.
            return unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt16(bigEndian: unsafe $0.pointee.sin_port)
            }
        }
    }

    /// The peer of a connection in numbers; `?` when it has none.
    static func peer(_ descriptor: Int32) -> String {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let failed = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe getpeername(descriptor, address, &length) == 0 else { return true }
                return unsafe getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) != 0
            }
        }
        return failed ? "?" : String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
