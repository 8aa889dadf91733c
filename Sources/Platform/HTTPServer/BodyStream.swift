internal import CMicrohttpd
internal import Glibc
internal import Synchronization

/// A response body that continues: pieces go out as fast as the client reads. Any thread may send.
///
/// While there is nothing to send the connection is suspended and costs no thread. Whether the client is still there shows
/// in sending, or when it is asked for: heartbeats are the caller's.
@safe
package final class BodyStream: Sendable {
    private struct State {
        var pending: [UInt8] = []
        /// Address of the library's connection object; nil before the answer and after its end.
        var connection: UInt?
        var isSuspended = false
        var isEnded = false
        var isFailed = false
        var closed: (@Sendable () -> Void)?
        var socket: Int32 = -1
    }

    private let bytesMax: Int
    private let state = Mutex(State())

    /// - Parameter bytesMax: what may wait for a client that does not read; beyond it the stream ends.
    package init(bytesMax: Int = 256 << 10) { self.bytesMax = bytesMax }

    /// False: the stream has ended, nobody gets it.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        state.withLock { state in
            guard !state.isEnded else { return false }
            state.isEnded = state.pending.count + bytes.count > bytesMax
            if !state.isEnded { state.pending += bytes }
            BodyStream.resume(&state)
            return !state.isEnded
        }
    }

    /// Bytes sent before still go out.
    package func end() {
        state.withLock { state in
            state.isEnded = true
            BodyStream.resume(&state)
        }
    }

    /// Cuts the connection, so that the client does not take what it got for all.
    package func fail() {
        state.withLock { state in (state.pending, state.isFailed) = ([], true) }
        end()
    }

    /// Waits until no more than `bytesMax` wait for the client; false: the stream has ended, or the client takes nothing.
    package func waitForRoom(bytesMax: Int, timeoutMs: Int) -> Bool {
        var waitedMs = 0
        while true {
            let (waiting, isEnded) = state.withLock { ($0.pending.count, $0.isEnded) }
            if isEnded { return false }
            if waiting <= bytesMax { return true }
            guard waitedMs < timeoutMs else { return false }
            usleep(2_000)
            waitedMs += 2
        }
    }

    package var isEnded: Bool { state.withLock(\.isEnded) }

    /// Ends it if the client has closed its side; true: it has ended. It costs a call of the system.
    package func endsIfLeft() -> Bool {
        state.withLock { state in
            // The library closes the socket after it has let go of this stream, which takes this lock.
            guard !state.isEnded, state.connection != nil, state.socket >= 0 else { return state.isEnded }
            guard drover_peer_has_left(state.socket) == 1 else { return false }
            state.isEnded = true
            BodyStream.resume(&state)
            return true
        }
    }

    /// A client that takes nothing for so long is hung up on, however little waits for it: the kernel asks it again and
    /// again whether it has room (tcp(7), TCP_USER_TIMEOUT).
    static let patienceMs: Int32 = 60_000

    /// The kernel keeps no more for the client than we do: what waits there would be as much again, and unseen.
    func bound(_ socket: Int32) {
        guard socket >= 0 else { return }
        state.withLock { $0.socket = socket }
        var (patience, room) = (BodyStream.patienceMs, Int32(clamping: bytesMax))
        let size = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &patience, size)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &room, size)
    }

    // MARK: On the server's threads

    /// - Parameter closed: called once, when the connection is done with it.
    func begin(on connection: UInt, closed: @escaping @Sendable () -> Void) {
        state.withLock { state in (state.connection, state.closed) = (connection, closed) }
    }

    /// The result of the library's reader: the number of bytes, 0 for none yet, -1 at the end, -2 on failure.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        state.withLock { state in
            guard state.pending.isEmpty else {
                let count = min(buffer.count, state.pending.count)
                unsafe buffer.copyBytes(from: state.pending.prefix(count))
                state.pending.removeFirst(count)
                return count
            }
            if state.isFailed { return -2 }
            guard !state.isEnded, let connection = state.connection else { return -1 }
            // Under the lock: whoever sends next finds it suspended and wakes it.
            state.isSuspended = true
            unsafe MHD_suspend_connection(OpaquePointer(bitPattern: connection))
            return 0
        }
    }

    func close() {
        let closed = state.withLock { state in
            state.isEnded = true
            state.connection = nil
            state.isSuspended = false
            defer { state.closed = nil }
            return state.closed
        }
        closed?()
    }

    private static func resume(_ state: inout State) {
        guard state.isSuspended, let connection = state.connection else { return }
        state.isSuspended = false
        unsafe MHD_resume_connection(OpaquePointer(bitPattern: connection))
    }
}

extension BodyStream {
    /// The library's answer that reads from it.
    func answer() -> OpaquePointer? {
        let retained = unsafe Unmanaged.passRetained(self)
        let made = unsafe MHD_create_response_from_callback(
            UInt64.max, 16 << 10, readStream, retained.toOpaque(), closeStream)
        // Released in closeStream, which the library calls when the answer is gone.
        if unsafe made == nil { unsafe retained.release() }
        return unsafe made
    }
}

private let readStream: @convention(c) (UnsafeMutableRawPointer?, UInt64, UnsafeMutablePointer<CChar>?, Int) -> Int = {
    stream, _, buffer, count in
    unsafe Unmanaged<BodyStream>.fromOpaque(stream!).takeUnretainedValue()
        .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
}

private let closeStream: @convention(c) (UnsafeMutableRawPointer?) -> Void = { stream in
    unsafe Unmanaged<BodyStream>.fromOpaque(stream!).takeRetainedValue().close()
}
