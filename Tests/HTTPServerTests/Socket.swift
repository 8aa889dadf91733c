import Glibc
import HTTPServer
import Synchronization

/// A client that sends exactly what it is told, proper HTTP or not.
final class Socket {
    private let descriptor: Int32
    let isConnected: Bool

    init(port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = unsafe inet_addr("127.0.0.1")
        // A test that waits for ever is worse than one that fails.
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        self.descriptor = descriptor
        self.isConnected = isConnected
    }

    /// Connects and sends.
    convenience init(_ server: Server, _ text: String) {
        self.init(port: server.port)
        send(text)
    }

    deinit { close(descriptor) }

    /// False when the other side has closed.
    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let sent = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress! + done, $0.count - done, Int32(MSG_NOSIGNAL))
            }
            if sent <= 0 { return false }
            done += sent
        }
        return true
    }

    /// Whether the other side has closed, which reading has found.
    private(set) var isClosed = false

    /// Until the other side closes.
    func readAll() -> String {
        var all: [UInt8] = []
        while let piece = read() { all += piece }
        return String(decoding: all, as: UTF8.self)
    }

    /// Until `end` has arrived or the other side closes.
    func read(until end: String) -> String {
        var all: [UInt8] = []
        while !String(decoding: all, as: UTF8.self).contains(end), let piece = read() { all += piece }
        return String(decoding: all, as: UTF8.self)
    }

    private func read() -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(descriptor, &piece, piece.count, 0)
        if count == 0 || count < 0 && errno == ECONNRESET { isClosed = true }
        return count > 0 ? Array(piece.prefix(count)) : nil
    }
}

/// What requests get, each one of its own: the test gets it, too.
final class Handed<Answer: Sendable>: Sendable {
    private let all = Mutex<[Answer]>([])

    func add(_ answer: Answer) -> Answer {
        all.withLock { $0.append(answer) }
        return answer
    }

    /// Waits until so many are there.
    func wait(_ count: Int) -> [Answer] {
        for _ in 0..<20_000 where all.withLock({ $0.count }) < count { usleep(5_000) }
        return all.withLock { $0 }
    }
}
