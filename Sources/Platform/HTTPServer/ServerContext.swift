internal import Synchronization

/// State that the callbacks of one server share.
final class ServerContext: Sendable {
    /// The last one is in use. The others stay as long as the server: sessions under way may need them, and a renewal
    /// is a few kilobytes every few weeks.
    private let credentials = Mutex<(all: [Credentials], clients: ClientAuthority?)>(([], nil))
    let limits: Limits
    private let handler: @Sendable (Request) -> Response
    private let admit: (@Sendable (Request) -> Admission)?
    let connections: Connections
    let held: BodyMemory
    /// Bodies that go on, by what they are.
    private let streams = Mutex<(open: [ObjectIdentifier: BodyStream], isOver: Bool)>(([:], false))
    /// Answers that handlers promised.
    private let laters = Mutex<(open: [ObjectIdentifier: DeferredResponse], isOver: Bool)>(([:], false))
    /// Ends the waits of requests whose response or admission is pending.
    private let resting = Mutex<(open: [ObjectIdentifier: @Sendable () -> Void], isOver: Bool)>(([:], false))
    let handlers: HandlerThreads
    let refused: @Sendable (_ why: String, _ address: String) -> Void
    let isStopping = Atomic(false)

    init(
        limits: Limits, threads: Int, admit: (@Sendable (Request) -> Admission)?,
        refused: @escaping @Sendable (_ why: String, _ address: String) -> Void,
        handler: @escaping @Sendable (Request) -> Response
    ) {
        self.limits = limits
        self.refused = refused
        self.admit = admit
        self.handler = handler
        held = BodyMemory(limits)
        handlers = HandlerThreads(threads)
        connections = Connections(limits)
    }

    /// Whether other clients are let in than before.
    @discardableResult
    func renew(_ certificate: Certificate, _ clients: ClientAuthority?) throws -> Bool {
        let made = try Credentials(certificate, clients: clients)
        return credentials.withLock { credentials in
            defer { credentials = (credentials.all + [made], clients) }
            return !credentials.all.isEmpty && credentials.clients != clients
        }
    }

    /// Calls the handler on a thread of its own.
    func handle(_ request: Request) -> PendingValue<Response> {
        let rest = PendingValue<Response>()
        guard begin(rest, whenOver: ServerContext.stopping) else { return rest }
        handlers.run { [self] in
            let response = handler(request)
            guard let later = response.later else { return rest.give(response) }
            begin(later)
            later.whenGiven { [weak self] given in
                _ = self?.laters.withLock { $0.open.removeValue(forKey: ObjectIdentifier(later)) }
                rest.give(given)
            }
        }
        return rest
    }

    /// Asks who sends a large body: a query, so it needs a thread that may wait. Nil: the server does not ask.
    func admission(of request: Request) -> PendingValue<Admission>? {
        guard let admit else { return nil }
        let rest = PendingValue<Admission>()
        guard begin(rest, whenOver: .stranger(ServerContext.stopping)) else { return rest }
        handlers.run { rest.give(admit(request)) }
        return rest
    }

    /// False: the server stops, and it was told so.
    private func begin<Value>(_ rest: PendingValue<Value>, whenOver last: Value) -> Bool {
        let isOver = resting.withLock { resting in
            if !resting.isOver { resting.open[ObjectIdentifier(rest)] = { rest.give(last) } }
            return resting.isOver
        }
        if isOver { rest.give(last) }
        return !isOver
    }

    func ended<Value>(_ rest: PendingValue<Value>) {
        rest.close()
        _ = resting.withLock { $0.open.removeValue(forKey: ObjectIdentifier(rest)) }
    }

    /// All that rest, and those that begin to: the library must not be stopped while a connection is suspended.
    func endResting() {
        let open = resting.withLock { resting in
            resting.isOver = true
            return Array(resting.open.values)
        }
        for end in open { end() }
    }

    private func begin(_ later: DeferredResponse) {
        let isOver = laters.withLock { laters in
            if !laters.isOver { laters.open[ObjectIdentifier(later)] = later }
            return laters.isOver
        }
        if isOver { later.give(ServerContext.stopping) }
    }

    /// All that wait, and those that begin to.
    func endLaters() {
        let open = laters.withLock { laters in
            laters.isOver = true
            return Array(laters.open.values)
        }
        for later in open { later.give(ServerContext.stopping) }
    }

    private static let stopping = Response.problem(
        503, type: "stopping", detail: "The server stops. Send this again in a moment."
    ).with("Retry-After", "1")

    /// To be called before the library reads from the stream.
    func begin(_ stream: BodyStream, on connection: Connections.ID) {
        let key = ObjectIdentifier(stream)
        let isOver = streams.withLock { streams in
            if !streams.isOver { streams.open[key] = stream }
            return streams.isOver
        }
        stream.begin(on: connection) { [weak self] in
            _ = self?.streams.withLock { $0.open.removeValue(forKey: key) }
        }
        if isOver { stream.end() }
    }

    /// All that are open, and those that begin later.
    func endStreams() {
        let open = streams.withLock { streams in
            streams.isOver = true
            return Array(streams.open.values)
        }
        for stream in open { stream.end() }
    }

    /// The certificate for new connections; nil over plain HTTP.
    var currentCredentials: Credentials? { credentials.withLock { $0.all.last } }

    static func of(_ pointer: UnsafeMutableRawPointer) -> ServerContext {
        unsafe Unmanaged<ServerContext>.fromOpaque(pointer).takeUnretainedValue()
    }
}
