internal import CMicrohttpd
internal import Synchronization

/// A value that another thread computes for a request: the response, or whether the body is accepted. The connection is suspended
/// meanwhile.
@safe
final class PendingValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        /// Address of the library's connection object, as long as it rests.
        var connection: UInt?
    }

    private let state = Mutex(State())

    /// The first one counts.
    func give(_ value: Value) {
        state.withLock { state in
            guard state.value == nil else { return }
            state.value = value
            guard let connection = state.connection.take() else { return }
            unsafe MHD_resume_connection(OpaquePointer(bitPattern: connection))
        }
    }

    // MARK: On the server's threads

    /// The value when it is there; else the connection rests until it is, and the library asks again.
    func value(on connection: UInt) -> Value? {
        state.withLock { state in
            if let value = state.value { return value }
            // Under the lock: whoever gives it next finds the connection suspended and wakes it.
            state.connection = connection
            unsafe MHD_suspend_connection(OpaquePointer(bitPattern: connection))
            return nil
        }
    }

    /// The request has ended.
    func close() { state.withLock { $0.connection = nil } }
}
