internal import CMicrohttpd
internal import Synchronization

/// An answer that is not there yet. Its request holds no thread while it waits; any thread may give it. Whoever hands one
/// out gives it in bounded time: the server sets no limit.
@safe
public final class LaterAnswer: Sendable {
    private struct State {
        var response: Response?
        /// Address of the library's connection object; nil before the handler returned and after the request ended.
        var connection: UInt?
        var isSuspended = false
    }

    private let state = Mutex(State())

    public init() {}

    /// The first one counts.
    public func give(_ response: Response) {
        state.withLock { state in
            guard state.response == nil else { return }
            state.response = response
            guard state.isSuspended, let connection = state.connection else { return }
            state.isSuspended = false
            unsafe MHD_resume_connection(OpaquePointer(bitPattern: connection))
        }
    }

    // MARK: On the server's threads

    /// The response when it is there; else the connection rests until it is, and the library asks again.
    func taken(on connection: UInt) -> Response? {
        state.withLock { state in
            if let response = state.response { return response }
            // Under the lock: whoever gives it next finds the connection suspended and wakes it.
            (state.connection, state.isSuspended) = (connection, true)
            unsafe MHD_suspend_connection(OpaquePointer(bitPattern: connection))
            return nil
        }
    }

    /// The request has ended.
    func close() { state.withLock { state in (state.connection, state.isSuspended) = (nil, false) } }
}
