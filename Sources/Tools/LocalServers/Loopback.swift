internal import Foundation

/// Ports of 127.0.0.1.
package enum Loopback {
    /// A port that was free a moment ago: the preferred one if it is, else one of the system's choice.
    package static func freePort(preferring wanted: UInt16) throws -> UInt16 {
        for candidate in wanted == 0 ? [0] : [wanted, 0] {
            let descriptor = stream()
            defer { close(descriptor) }
            var address = loopback(candidate)
            guard unsafe withSocketAddress(&address, { unsafe bind(descriptor, $0, $1) }) == 0 else { continue }
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let read = unsafe withSocketAddress(&address) { pointer, _ in
                unsafe getsockname(descriptor, pointer, &length)
            }
            if read == 0 { return UInt16(bigEndian: address.sin_port) }
        }
        throw LocalServerError("127.0.0.1: no port is free for the broker: \(errorText(errno)).")
    }

    /// Asks for the API versions (key 18, version 0), the first request of every client, and checks that the answer
    /// carries our number: an open port alone could belong to anybody. https://kafka.apache.org/protocol
    package static func speaksKafka(_ port: UInt16) -> Bool {
        let descriptor = stream()
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = loopback(port)
        guard unsafe withSocketAddress(&address, { unsafe connect(descriptor, $0, $1) }) == 0 else { return false }
        let correlation: [UInt8] = [0x44, 0x72, 0x6f, 0x76]
        // Size, key, version, our number, no client name.
        let request: [UInt8] = [0, 0, 0, 10, 0, 18, 0, 0] + correlation + [0xff, 0xff]
        guard unsafe send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            return false
        }
        var answer = [UInt8](repeating: 0, count: 8)
        guard unsafe recv(descriptor, &answer, answer.count, Int32(MSG_WAITALL)) == answer.count else { return false }
        return Array(answer[4...]) == correlation
    }

    private static func stream() -> Int32 {
        socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func withSocketAddress(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
