internal import CMicrohttpd
internal import Glibc
internal import Synchronization
internal import Threads

/// An HTTP/1.1 server. Handlers run on threads of their own and may block.
@safe
package final class Server: @unchecked Sendable {
    // Written once; `stopped` guards what ends.
    private let daemon: OpaquePointer
    private let listener: Int32
    private let context: ServerContext
    private let retained: Unmanaged<ServerContext>
    private let watch = WorkerThread()
    private let stopped = Mutex(false)

    /// The port that is listened on.
    package let port: UInt16

    /// The threads of libmicrohttpd; they never block.
    private static let ioThreads = 2
    private static let lastAnswersMs: Int64 = 500
    /// The interval at which late connections are looked for.
    private static let cutMs = 100

    /// Starts.
    /// - Parameters:
    ///   - host: address to listen on; without a certificate keep to loopback or a private one.
    ///   - port: 0 lets the system choose.
    ///   - threads: so many handlers run at a time; at least 1.
    ///   - certificate: answers HTTPS (TLS 1.2 and 1.3) and nothing else; nil: plain HTTP.
    ///   - clients: who is let in; needs a certificate. Nil: everybody.
    ///   - admit: who may send more than a small body; asked on a handler's thread. Nil: everybody.
    ///   - refused: told why a client's certificate was not taken, and its address.
    /// - Throws: `ServerError`.
    package init(
        host: String = "127.0.0.1", port: UInt16, threads: Int = 2, limits: Limits = Limits(),
        certificate: Certificate? = nil, clients: ClientAuthority? = nil,
        admit: (@Sendable (Request) -> Admission)? = nil,
        refused: @escaping @Sendable (_ why: String, _ address: String) -> Void = { _, _ in },
        handler: @escaping @Sendable (Request) -> Response
    ) throws {
        precondition(clients == nil || certificate != nil, "clients show certificates over TLS only")
        let context = ServerContext(
            limits: limits, threads: max(1, threads), admit: admit, refused: refused, handler: handler)
        if let certificate { try context.renew(certificate, clients) }
        let (listener, bound) = try Listener.open(host: host, port: port)
        let retained = unsafe Unmanaged.passRetained(context)
        guard
            let daemon = unsafe Server.start(listener, Server.ioThreads, limits, certificate, retained.toOpaque())
        else {
            context.handlers.stop()
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
        watch.start("deadlines") { thread in
            while !thread.isStopping {
                context.connections.cutLate()
                thread.pause(ms: Server.cutMs)
            }
        }
    }

    deinit { stop() }

    /// Refuses new connections, lets requests in flight finish for at most `graceMs`, then closes all. Safe to call
    /// twice.
    package func stop(graceMs: Int = 5000) {
        let isFirst = stopped.withLock { stopped in
            defer { stopped = true }
            return !stopped
        }
        guard isFirst else { return }
        context.isStopping.store(true, ordering: .releasing)
        context.endStreams()
        context.endLaters()
        _ = unsafe MHD_quiesce_daemon(daemon)
        // Left open but unserved it would let clients hang. Closed only when the library's threads are gone: each of them removes it from
        // its own set, and the library aborts the process when it is missing.
        _ = shutdown(listener, Int32(SHUT_RDWR))
        let deadlineMs = Connections.nowMs() + Int64(graceMs)
        // Connections that rest never end by themselves: only requests count.
        while context.connections.inFlight > 0, Connections.nowMs() < deadlineMs { usleep(10_000) }
        // Those that still rest are told so.
        context.endResting()
        let lastMs = Connections.nowMs() + Server.lastAnswersMs
        while context.connections.inFlight > 0, Connections.nowMs() < lastMs { usleep(10_000) }
        unsafe MHD_stop_daemon(daemon)
        context.handlers.stop()
        close(listener)
        watch.stop()
        // No callback runs any more.
        unsafe retained.release()
    }

    /// Connections from now on get this certificate; those that are open keep theirs, and the listener stays. When other
    /// clients are let in than before, all are cut: who was revoked must not stay.
    /// Precondition: the server was started with a certificate, and with `clients` or without as now.
    /// - Throws: `ServerError`, and the one in use stays.
    package func renew(_ certificate: Certificate, clients: ClientAuthority? = nil) throws {
        if try context.renew(certificate, clients) { context.connections.cutAll() }
    }

    private static func start(
        _ listener: Int32, _ threads: Int, _ limits: Limits, _ certificate: Certificate?,
        _ context: UnsafeMutableRawPointer
    ) -> OpaquePointer? {
        // The library reads them while it starts. Later connections get what `renew` was given last.
        var chain = (certificate?.chain ?? []) + [0]
        var key = (certificate?.key ?? []) + [0]
        return unsafe chain.withUnsafeMutableBytes { chain in
            unsafe key.withUnsafeMutableBytes { key in
                unsafe start(
                    listener, threads, limits,
                    certificate == nil ? nil : (UnsafeMutableRawPointer(chain.baseAddress!), key.baseAddress!), context)
            }
        }
    }

    private static func start(
        _ listener: Int32, _ threads: Int, _ limits: Limits,
        _ certificate: (chain: UnsafeMutableRawPointer, key: UnsafeMutableRawPointer)?,
        _ context: UnsafeMutableRawPointer
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
        ]
        // USE_ITC: quiesce needs it to wake the threads.
        var flags = MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_USE_ITC.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
        if let certificate = unsafe certificate {
            flags |= MHD_USE_TLS.rawValue
            unsafe options += [
                item(.HTTPS_MEM_CERT, 0, certificate.chain), item(.HTTPS_MEM_KEY, 0, certificate.key),
                item(.HTTPS_PRIORITIES, 0, UnsafeMutableRawPointer(mutating: tlsPriorities.utf8Start)),
            ]
        }
        unsafe options.append(item(.END, 0))
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

/// GnuTLS's own list of what has 128 bits of security, without TLS 1.0 and 1.1.
private let tlsPriorities: StaticString = "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/// Escapes stay: decoded in place an encoded NUL would cut the text short, an encoded slash make two segments of one.
private let keepEscapes:
    @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int = { _, _, text in
        unsafe text.map { unsafe strlen($0) } ?? 0
    }
