internal import Glibc

/// A TCP connection that never blocks, inside TLS or not. It owns its descriptor. One thread.
package final class Stream {
    package enum Reading: Equatable, Sendable { case bytes([UInt8]), nothingYet, ended, failed(SocketError) }
    package enum Progress: Equatable, Sendable {
        case done, waiting, failed(SocketError)
        /// The other side is not the one that was pinned.
        case distrusted(SocketError)
    }

    package let descriptor: Int32
    private var tls: TLSStream?
    private let pinned: String?
    private var isOpening: Bool
    private var isShakingHands: Bool
    /// TLS may have to write in order to read, and the other way round.
    private var tlsWantsWriting = false
    private var unsent: ArraySlice<UInt8> = []

    /// Begins to connect; `open` says when it is done.
    /// - Parameter pinned: SHA-256 of the only certificate that is taken, in hexadecimal; needed with TLS.
    package init(to address: IPAddress, port: UInt16, tls context: TLSContext?, pinned: String?) throws {
        let family = address.bytes.count == 4 ? AF_INET : AF_INET6
        descriptor = socket(family, Stream.kind, 0)
        self.pinned = pinned
        isOpening = true
        isShakingHands = context != nil
        guard descriptor >= 0 else { throw SocketError(doing: "socket") }
        let code = unsafe address.withSocketAddress(port: port) { unsafe connect(descriptor, $0, $1) }
        guard code == 0 || errno == EINPROGRESS else { throw SocketError(doing: "connecting") }
        Stream.sendAtOnce(descriptor)
        tls = try context.map { try TLSStream($0, descriptor: descriptor) }
    }

    /// A connection that a listener accepted.
    init(accepted descriptor: Int32, tls context: TLSContext?) throws {
        self.descriptor = descriptor
        pinned = nil
        isOpening = false
        isShakingHands = context != nil
        Stream.sendAtOnce(descriptor)
        tls = try context.map { try TLSStream($0, descriptor: descriptor) }
    }

    // TLS goes first: it knows the descriptor's number.
    deinit {
        tls = nil
        if descriptor >= 0 { close(descriptor) }
    }

    static let kind =
        Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)

    /// Requests and answers are small and waited for.
    private static func sendAtOnce(_ descriptor: Int32) {
        var one: Int32 = 1
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Whether to wait for room to write; for reading is always waited.
    package var wantsWriting: Bool { isOpening || tlsWantsWriting || (!unsent.isEmpty && !isShakingHands) }

    /// Goes on with connecting and the handshake; `.done` when bytes can flow.
    package func open() -> Progress {
        if isOpening {
            var (code, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
            _ = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
            guard code == 0 else { return .failed(SocketError(doing: "connecting", code)) }
            var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard unsafe poll(&ready, 1, 0) == 1 else { return .waiting }
            isOpening = false
        }
        guard isShakingHands, let tls else { return .done }
        switch tls.handshake() {
        case .done: break
        case .wantsReading: return waiting(writing: false)
        case .wantsWriting: return waiting(writing: true)
        case .ended: return .failed(SocketError("closed during the TLS handshake"))
        case .failed(let error): return .failed(error)
        }
        isShakingHands = false
        tlsWantsWriting = false
        if let pinned, let fault = tls.faultOfCertificate(pinned: pinned) { return .distrusted(fault) }
        return .done
    }

    private func waiting(writing: Bool) -> Progress {
        tlsWantsWriting = writing
        return .waiting
    }

    /// The bytes that have arrived, at most 64 KiB.
    package func read() -> Reading {
        var failure: Reading?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            switch unsafe receive(into: UnsafeMutableRawBufferPointer(buffer)) {
            case .done(let taken): count = taken
            case .wantsReading: (failure, tlsWantsWriting) = (.nothingYet, false)
            case .wantsWriting: (failure, tlsWantsWriting) = (.nothingYet, true)
            case .ended: failure = .ended
            case .failed(let error): failure = .failed(error)
            }
        }
        return failure ?? .bytes(bytes)
    }

    private func receive(into buffer: UnsafeMutableRawBufferPointer) -> TLSStream.Result {
        if let tls { return unsafe tls.read(into: buffer) }
        let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 { return .done(count) }
        if count == 0 { return .ended }
        return errno == EAGAIN || errno == EINTR ? .wantsReading : .failed(SocketError(doing: "reading"))
    }

    /// Bytes that wait to be sent.
    package var unsentCount: Int { unsent.count }

    /// Puts bytes behind those that wait, and sends what goes.
    package func send(_ bytes: [UInt8]) -> Progress {
        unsent += bytes
        return flush()
    }

    package func flush() -> Progress {
        while !unsent.isEmpty {
            switch unsafe unsent.withUnsafeBytes({ unsafe put($0) }) {
            case .done(let count):
                unsent = unsent.dropFirst(count)
                tlsWantsWriting = false
            case .wantsReading: return waiting(writing: false)
            case .wantsWriting: return waiting(writing: tls != nil)
            case .ended: return .failed(SocketError("closed by the other side"))
            case .failed(let error): return .failed(error)
            }
        }
        unsent = []
        return .done
    }

    private func put(_ buffer: UnsafeRawBufferPointer) -> TLSStream.Result {
        if let tls { return unsafe tls.write(buffer) }
        let count = unsafe Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
        if count >= 0 { return .done(count) }
        return errno == EAGAIN || errno == EINTR ? .wantsWriting : .failed(SocketError(doing: "writing"))
    }
}

/// A listening port of the loopback or another address.
package final class Listening {
    package let descriptor: Int32
    package let port: UInt16

    /// - Parameter port: 0: any free one.
    package init(_ address: IPAddress, port: UInt16) throws {
        descriptor = socket(address.bytes.count == 4 ? AF_INET : AF_INET6, Stream.kind, 0)
        self.port = try Listening.listen(descriptor, address, port)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private static func listen(_ descriptor: Int32, _ address: IPAddress, _ port: UInt16) throws -> UInt16 {
        let name = "\(address):\(port)"
        guard descriptor >= 0 else { throw SocketError(doing: "a socket for \(name)") }
        var one: Int32 = 1
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        let bound = unsafe address.withSocketAddress(port: port) { unsafe bind(descriptor, $0, $1) }
        guard bound == 0, Glibc.listen(descriptor, 128) == 0 else { throw SocketError(doing: "listening on \(name)") }
        // Both families have the port at the same place.
        var (found, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        let asked = unsafe withUnsafeMutablePointer(to: &found) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard asked == 0 else { throw SocketError(doing: "the port of \(name)") }
        return UInt16(bigEndian: found.sin_port)
    }

    /// The next connection that waits; nil when there is none.
    package func accept(tls: TLSContext?) throws -> Stream? {
        let accepted = Glibc.accept(descriptor, nil, nil)
        guard accepted >= 0 else {
            // The client left before it was accepted.
            guard [EAGAIN, EINTR, ECONNABORTED].contains(errno) else { throw SocketError(doing: "accepting") }
            return nil
        }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
        return try Stream(accepted: accepted, tls: tls)
    }
}
