internal import Fleet
internal import HTTP
public import Observe
internal import Postgres
internal import Synchronization

/// Open pages of fleets: each is told that there is news, and asks for it with its own rights. A thread of its own waits for
/// the database to say so.
public final class LiveStreams: Sendable {
    static let limits = StreamLimits(inAll: 1_000, ofOne: 8)
    static let heartbeatMs: Int64 = 15_000
    /// Commits come many times a second; people read more slowly.
    static let newsMs: Int64 = 1_000
    /// Then it ends, and who comes back shows a session that still holds.
    static let lifeMs: Int64 = 900_000
    static let channel = "drover_fleet"

    private struct Subscriber: StreamSubscriber {
        let account: String
        let stream: BodyStream
        let endMs: Int64
    }

    private struct State {
        var subscribers: [Subscriber] = []
        var isNews = false
        var toldMs: Int64 = 0
        var beatMs = Clock.steadyMs()
    }

    private let listener: DatabaseListener
    private let state = Mutex(State())

    public init(conninfo: String, log: Log) {
        listener = DatabaseListener(
            name: "live-streams", channel: LiveStreams.channel, conninfo: conninfo,
            trouble: "open pages are not told of news", log: log)
        // The thread keeps this alive until it is stopped.
        listener.start { [self] _, told in look(isNews: told?.isEmpty != true) }
    }

    /// To be called once.
    public func stop() {
        listener.stop()
        for subscriber in state.withLock({ $0.subscribers }) { subscriber.stream.end() }
    }

    func open(_ account: String) -> Result<BodyStream, StreamLimits.Refusal> {
        state.withLock { state in
            Result { () throws(StreamLimits.Refusal) in
                try LiveStreams.limits.room(in: &state.subscribers) { $0.account == account }
                let stream = BodyStream(bytesMax: 16 << 10)
                stream.greet(againMs: 3_000)
                state.subscribers.append(
                    Subscriber(account: account, stream: stream, endMs: Clock.steadyMs() + LiveStreams.lifeMs))
                // What was committed since the page was made.
                state.isNews = true
                return stream
            }
        }
    }

    /// On the listener's thread. WHATWG HTML, 9.2.5: an event, or a comment that keeps the connection.
    private func look(isNews: Bool) {
        let nowMs = Clock.steadyMs()
        state.withLock { state in
            state.isNews = state.isNews || isNews
            var text = ""
            if nowMs - state.beatMs >= LiveStreams.heartbeatMs {
                state.beatMs = nowMs
                text = ": \n\n"
            }
            if state.isNews, nowMs - state.toldMs >= LiveStreams.newsMs {
                (state.isNews, state.toldMs) = (false, nowMs)
                text = "event: fleet\ndata: {\"as_of\":\"\(UTC.text(Clock.nowMs() / 1_000 * 1_000))\"}\n\n"
            }
            guard !text.isEmpty else { return }
            for subscriber in state.subscribers {
                subscriber.stream.send(Array(text.utf8))
                if subscriber.endMs <= nowMs { subscriber.stream.end() }
            }
            state.subscribers.removeAll { $0.stream.isEnded }
        }
    }
}
