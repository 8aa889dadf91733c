internal import Synchronization

/// A response that comes later. Its request holds no thread while it waits; any thread may supply it. Whoever returns one supplies it in
/// bounded time: the server sets no limit.
package final class DeferredResponse: Sendable {
    private struct State {
        var response: Response?
        var then: (@Sendable (Response) -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// The first one counts.
    package func give(_ response: Response) {
        let then = state.withLock { state -> (@Sendable (Response) -> Void)? in
            guard state.response == nil else { return nil }
            state.response = response
            return state.then.take()
        }
        then?(response)
    }

    /// Calls it once, here or on the thread of whoever gives the response. To be called once.
    func whenGiven(_ then: @escaping @Sendable (Response) -> Void) {
        let response = state.withLock { state in
            if state.response == nil { state.then = then }
            return state.response
        }
        if let response { then(response) }
    }
}
