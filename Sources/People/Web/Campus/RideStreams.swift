internal import Codecs
internal import HTTPServer
internal import Postgres
internal import Storage
internal import Synchronization
internal import Telemetry

/// Open apps of riders and ride drivers: a stream sends the present state, and again when it changes. Each message is complete, so a
/// client that returns has missed nothing.
final class RideStreams: Sendable {
    static let limits = StreamLimits(inAll: 2_000, ofOne: 4)
    static let heartbeatMs: Int64 = 10_000
    /// All streams are looked at together, so often at most: each commit alone would be too often.
    static let lookMs: Int64 = 100
    /// Then it ends, and who comes back shows a token that still holds.
    static let lifeMs: Int64 = 900_000

    /// The subject of a stream, and who listens.
    struct Subject: Hashable, Sendable {
        enum What: String, Hashable, Sendable { case ride, itinerary, campus }
        let what: What
        /// The key of the request or the vehicle; of a campus its own.
        let key: RideQueries.Key
        let person: String
    }

    private struct Subscriber: StreamSubscriber {
        let subject: Subject
        let access: StreamAccess
        let stream: BodyStream
        let endMs: Int64
        /// The last document sent.
        var json = ""
    }

    private struct State {
        var subscribers: [Subscriber] = []
        var isDue = false
        var lookedMs: Int64 = 0
        var beatMs: Int64 = 0
    }

    private let state = Mutex(State())
    private let sign: @Sendable (Subject, _ signMs: Int64) -> Void

    init(sign: @escaping @Sendable (Subject, _ signMs: Int64) -> Void) { self.sign = sign }

    /// - Parameters:
    ///   - access: what it is opened with.
    ///   - first: what it begins with.
    func open(_ subject: Subject, by access: StreamAccess, first json: String) -> Result<
        BodyStream, StreamLimits.Refusal
    > {
        state.withLock { state in
            Result { () throws(StreamLimits.Refusal) in
                try RideStreams.limits.room(in: &state.subscribers) {
                    ($0.subject.person, $0.subject.key.campus) == (subject.person, subject.key.campus)
                }
                var subscriber = Subscriber(
                    subject: subject, access: access, stream: BodyStream(), endMs: Clock.steadyMs() + RideStreams.lifeMs
                )
                subscriber.stream.greet(againMs: 1_000)
                RideStreams.send(json, to: &subscriber)
                state.subscribers.append(subscriber)
                // Commits since `json` was read.
                state.isDue = true
                return subscriber.stream
            }
        }
    }

    func stop() {
        for subscriber in state.withLock({ $0.subscribers }) { subscriber.stream.end() }
    }

    // MARK: On the listener's thread

    func look(_ connection: Connection, isNews: Bool) throws {
        let nowMs = Clock.steadyMs()
        if state.withLock({ nowMs - $0.beatMs >= RideStreams.heartbeatMs }) {
            let shut = try StreamAccessQueries.shut(
                Set(state.withLock { $0.subscribers.map(\.access) }), on: connection)
            state.withLock { $0.subscribers.end(shut) }
        }
        let (subjects, isBeat) = state.withLock { state -> (Set<Subject>?, Bool) in
            state.isDue = state.isDue || isNews
            let isBeat = nowMs - state.beatMs >= RideStreams.heartbeatMs
            guard isBeat || state.isDue && nowMs - state.lookedMs >= RideStreams.lookMs else { return (nil, false) }
            state.isDue = false
            state.lookedMs = nowMs
            if isBeat { state.beatMs = nowMs }
            state.subscribers.removeAll { $0.stream.isEnded }
            return (Set(state.subscribers.map(\.subject)), isBeat)
        }
        guard let subjects, !subjects.isEmpty else { return }
        let told: [Subject: RideStatus]
        do {
            told = try RideStatus.read(subjects, on: connection)
        } catch {
            state.withLock { $0.isDue = true }
            throw error
        }
        state.withLock { state in
            for index in state.subscribers.indices {
                guard let story = told[state.subscribers[index].subject] else { continue }
                RideStreams.send(story.json, to: &state.subscribers[index])
                let subscriber = state.subscribers[index]
                if isBeat { subscriber.stream.beat() }
                if story.isOver || subscriber.endMs <= nowMs { subscriber.stream.end() }
            }
        }
        for (subject, story) in told where !story.isOver { sign(subject, story.signMs) }
    }

    /// WHATWG HTML, 9.2.5.
    private static func send(_ json: String, to subscriber: inout Subscriber) {
        guard json != subscriber.json else { return }
        subscriber.json = json
        subscriber.stream.send(Array("event: \(subscriber.subject.what.rawValue)\ndata: \(json)\n\n".utf8))
    }
}
