internal import CMicrohttpd
internal import Glibc
internal import Synchronization

/// An HTTP/1.1 server. Handlers run on its threads and may block; while one does, other connections of that thread wait.
@safe
public final class Server: @unchecked Sendable {
    // Written once; `stopped` guards what ends.
    private let daemon: OpaquePointer
    private let listener: Int32
    private let context: ServerContext
    private let retained: Unmanaged<ServerContext>
    private let watch: pthread_t
    private let stopped = Mutex(false)

    /// The port that is listened on.
    public let port: UInt16

    /// Starts.
    /// - Parameters:
    ///   - host: address to listen on; keep to loopback or a private one, with a proxy in front of anything public.
    ///   - port: 0 lets the system choose.
    ///   - threads: at least 1.
    /// - Throws: `ServerError`.
    public init(
        host: String = "127.0.0.1", port: UInt16, threads: Int = 2, limits: Limits = Limits(),
        handler: @escaping @Sendable (Request) -> Response
    ) throws {
        let (listener, bound) = try Listener.open(host: host, port: port)
        let context = ServerContext(limits: limits, handler: handler)
        let retained = unsafe Unmanaged.passRetained(context)
        guard let daemon = unsafe Server.start(listener, max(1, threads), limits, retained.toOpaque()) else {
            close(listener)
            unsafe retained.release()
            throw ServerError(
                description:
                    "the HTTP server did not start on port \(bound) on \(host): too few descriptors or threads?")
        }
        unsafe self.daemon = daemon
        self.listener = listener
        self.context = context
        unsafe self.retained = unsafe retained
        self.port = bound
        var watch = pthread_t()
        // The thread's own reference; it lets go of it when it ends.
        unsafe pthread_create(&watch, nil, watchDeadlines, Unmanaged.passRetained(context).toOpaque())
        self.watch = watch
    }

    deinit { stop() }

    /// Refuses new connections, lets requests in flight finish for at most `graceMs`, then closes all. Safe to call
    /// twice.
    public func stop(graceMs: Int = 5000) {
        let isFirst = stopped.withLock { stopped in
            defer { stopped = true }
            return !stopped
        }
        guard isFirst else { return }
        context.isStopping.store(true, ordering: .releasing)
        _ = unsafe MHD_quiesce_daemon(daemon)
        // Open but unserved it would let clients hang.
        close(listener)
        let deadlineMs = Connections.nowMs() + Int64(graceMs)
        // Connections that rest never end by themselves: only requests count.
        while context.connections.inFlight > 0, Connections.nowMs() < deadlineMs { usleep(10_000) }
        unsafe MHD_stop_daemon(daemon)
        context.isStopped.store(true, ordering: .releasing)
        pthread_join(watch, nil)
        // No callback runs any more.
        unsafe retained.release()
    }

    /// Open connections.
    public var connectionCount: Int { context.connections.count }

    private static func start(
        _ listener: Int32, _ threads: Int, _ limits: Limits, _ context: UnsafeMutableRawPointer
    ) -> OpaquePointer? {
        func item(_ option: MHD_OPTION, _ value: Int, _ pointer: UnsafeMutableRawPointer? = nil) -> MHD_OptionItem {
            unsafe MHD_OptionItem(option: option, value: value, ptr_value: pointer)
        }
        var options = unsafe [
            item(.LISTEN_SOCKET, Int(listener)),
            item(.THREAD_POOL_SIZE, threads),
            // Our own checks are stricter; this one also refuses what never reaches them.
            item(.STRICT_FOR_CLIENT, 1),
            // The same memory holds what is read of the body: twice the headers' limit leaves room for it.
            item(.CONNECTION_MEMORY_LIMIT, limits.headerBytesMax + 4096),
            item(.CONNECTION_LIMIT, max(limits.connectionsMax, threads)),
            item(.PER_IP_CONNECTION_LIMIT, limits.connectionsPerAddressMax),
            item(.CONNECTION_TIMEOUT, max(1, (limits.idleMs + 999) / 1000)),
            item(.UNESCAPE_CALLBACK, unsafeBitCast(keepEscapes, to: Int.self), nil),
            item(.URI_LOG_CALLBACK, unsafeBitCast(requestBegan, to: Int.self), context),
            item(.NOTIFY_COMPLETED, unsafeBitCast(requestEnded, to: Int.self), context),
            item(.NOTIFY_CONNECTION, unsafeBitCast(connectionChanged, to: Int.self), context),
            item(.END, 0),
        ]
        // USE_ITC: quiesce needs it to wake the threads.
        let flags = MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_USE_ITC.rawValue
        return unsafe options.withUnsafeMutableBufferPointer { options in
            // The library copies the options.
            let arguments: [any CVarArg] = unsafe [
                Int32(bitPattern: MHD_OPTION.ARRAY.rawValue), OpaquePointer(options.baseAddress!),
                Int32(bitPattern: MHD_OPTION.END.rawValue),
            ]
            return unsafe withVaList(arguments) {
                unsafe MHD_start_daemon_va(flags, 0, nil, nil, requestArrived, context, $0)
            }
        }
    }
}

/// What the callbacks of one server share.
final class ServerContext: Sendable {
    let limits: Limits
    let handler: @Sendable (Request) -> Response
    let connections: Connections
    let isStopping = Atomic(false)
    let isStopped = Atomic(false)

    init(limits: Limits, handler: @escaping @Sendable (Request) -> Response) {
        self.limits = limits
        self.handler = handler
        connections = Connections(limits)
    }

    static func of(_ pointer: UnsafeMutableRawPointer) -> ServerContext {
        unsafe Unmanaged<ServerContext>.fromOpaque(pointer).takeUnretainedValue()
    }
}

private let watchDeadlines: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { pointer in
    let context = unsafe Unmanaged<ServerContext>.fromOpaque(pointer!).takeRetainedValue()
    while !context.isStopped.load(ordering: .acquiring) {
        context.connections.cutLate()
        usleep(100_000)
    }
    return nil
}

/// Escapes stay: decoded in place an encoded NUL would cut the text short, an encoded slash make two segments of one.
private let keepEscapes:
    @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int = { _, _, text in
        unsafe text.map { unsafe strlen($0) } ?? 0
    }
