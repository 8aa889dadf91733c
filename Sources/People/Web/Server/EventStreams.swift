internal import HTTPServer
internal import Storage

/// Limits of server-sent event streams (WHATWG HTML, 9.2), in all and per person.
struct StreamLimits: Sendable {
    let inAll, ofOne: Int

    enum Refusal: Error {
        case tooMany
        case tooManyOfOne(most: Int)
    }

    /// Makes room for one more in `subscribers`, or says why there is none. Closed ones are removed first: going from page to page leaves
    /// a stream behind on each.
    func room<Subscriber: StreamSubscriber>(
        in subscribers: inout [Subscriber], isOfSame: (Subscriber) -> Bool
    ) throws(Refusal) {
        subscribers.removeAll { $0.stream.isEnded }
        if subscribers.count >= inAll || subscribers.count(where: isOfSame) >= ofOne {
            subscribers.removeAll { $0.stream.endsIfLeft() }
        }
        guard subscribers.count < inAll else { throw .tooMany }
        guard subscribers.count(where: isOfSame) < ofOne else { throw .tooManyOfOne(most: ofOne) }
    }
}

protocol StreamSubscriber {
    var stream: BodyStream { get }
    /// The credentials that it was opened with.
    var access: StreamAccess { get }
}

extension Array where Element: StreamSubscriber {
    /// At each heartbeat: those whose door is shut end.
    func end(_ shut: Set<StreamAccess>) {
        for subscriber in self where shut.contains(subscriber.access) { subscriber.stream.end() }
    }
}

extension BodyStream {
    /// A comment: it keeps the connection, and shows whether the client is there.
    @discardableResult
    func beat() -> Bool { send(Array(": \n\n".utf8)) }

    /// - Parameter againMs: after which the client comes back when the stream broke.
    func greet(againMs: Int) { send(Array("retry: \(againMs)\n: connected\n\n".utf8)) }
}

extension Response {
    /// The stream that `open` makes, or why there is none.
    static func events(
        _ request: Request, _ open: () throws -> Result<BodyStream, StreamLimits.Refusal>
    ) rethrows -> Response {
        let type = "text/event-stream"
        guard request.method == "GET" else { return Response(200, headers: [("Content-Type", type)]) }
        switch try open() {
        case .success(let stream):
            return .streaming(stream, type: type).with("Cache-Control", "no-store")
                // nginx would keep events back until its buffer is full.
                .with("X-Accel-Buffering", "no")
        case .failure(.tooManyOfOne(let most)):
            return .problem(
                429, type: "too-many-streams",
                detail: "You have \(most) pages or apps open that are told of news. Close one of them."
            ).with("Retry-After", "10")
        case .failure(.tooMany):
            return .problem(
                503, type: "busy",
                detail: "Too many pages and apps are open that are told of news. Try again in a moment."
            ).with("Retry-After", "10")
        }
    }
}
