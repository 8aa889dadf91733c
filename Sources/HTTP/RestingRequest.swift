internal import CMicrohttpd
internal import Synchronization

/// A request whose handler is at work on another thread. Its connection rests meanwhile.
@safe
final class RestingRequest: Sendable {
    private struct State {
        var response: Response?
        /// Address of the library's connection object, as long as it rests.
        var connection: UInt?
    }

    private let state = Mutex(State())

    /// The first one counts.
    func give(_ response: Response) {
        state.withLock { state in
            guard state.response == nil else { return }
            state.response = response
            guard let connection = state.connection.take() else { return }
            unsafe MHD_resume_connection(OpaquePointer(bitPattern: connection))
        }
    }

    // MARK: On the server's threads

    /// The response when it is there; else the connection rests until it is, and the library asks again.
    func taken(on connection: UInt) -> Response? {
        state.withLock { state in
            if let response = state.response { return response }
            // Under the lock: whoever gives it next finds the connection suspended and wakes it.
            state.connection = connection
            unsafe MHD_suspend_connection(OpaquePointer(bitPattern: connection))
            return nil
        }
    }

    /// The request has ended.
    func close() { state.withLock { $0.connection = nil } }
}
