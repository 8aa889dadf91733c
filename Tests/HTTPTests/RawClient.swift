import Glibc

/// One raw connection to the loopback: bytes out, everything until the server closes or falls silent back.
enum RawClient {
    /// `patience`: seconds of silence until reading gives up.
    static func connect(_ port: UInt16, patience: Int = 5) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            close(descriptor)
            return -1
        }
        return descriptor
    }

    static func send(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Until the other side closes, or for the connection's patience of silence.
    static func receive(_ descriptor: Int32) -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return all }
            all += buffer[..<count]
        }
    }

    /// What comes next; empty when the other side has closed or stays silent.
    static func some(_ descriptor: Int32) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        return Array(buffer[..<max(0, count)])
    }

    /// One request; the connection is closed after it. Nil: no connection.
    static func exchange(_ port: UInt16, _ request: [UInt8]) -> Answer? {
        let descriptor = connect(port)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        send(request, to: descriptor)
        return Answer(receive(descriptor))
    }
}

/// An answer taken apart.
struct Answer: Sendable {
    let bytes: [UInt8]
    let status: Int
    let headers: [(String, String)]
    let body: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))
        body = end.map { Array(bytes[$0.upperBound...]) } ?? []
        let lines = String(decoding: bytes[..<(end?.lowerBound ?? bytes.count)], as: UTF8.self).split(separator: "\r\n")
        let first = lines.first?.split(separator: " ") ?? []
        status = first.count > 1 ? Int(first[1]) ?? 0 : 0
        headers = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (parts[0].lowercased(), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
    }

    func header(_ name: String) -> [String] { headers.filter { $0.0 == name }.map(\.1) }
    var text: String { String(decoding: body, as: UTF8.self) }
}
