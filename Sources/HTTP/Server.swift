internal import CMicrohttpd
internal import Glibc

/// An HTTP/1.1 listener on libmicrohttpd. Handlers run on its threads and may block.
///
/// Closed here because the library leaves it open (0.9.75): a length beside chunks, two lengths, a missing Host. Only
/// GET and HEAD without a body are taken. There is no total deadline for a slow client: keep it on the loopback or
/// behind the front that Deploy/ ships.
@safe
public final class Server {
    public typealias Handler = @Sendable (Request) -> Response

    private let daemon: OpaquePointer
    private let context: Unmanaged<HandlerContext>
    public let port: UInt16
    private var isRunning = true

    /// `port` 0 takes any free one. `host` is an IPv4 address.
    public init(host: String, port: UInt16, threads: UInt32, handler: @escaping Handler) throws {
        let socket = try Server.listen(host, port)
        self.port = Server.boundPort(socket)
        let context = unsafe Unmanaged.passRetained(HandlerContext(handler))
        let options = unsafe Server.options(socket, threads)
        let flags = MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_USE_ERROR_LOG.rawValue
        let started = unsafe options.withUnsafeBufferPointer { options in
            unsafe withVaList([
                Int32(bitPattern: MHD_OPTION.ARRAY.rawValue), OpaquePointer(UnsafeMutablePointer(mutating: options.baseAddress!)),
                Int32(bitPattern: MHD_OPTION.END.rawValue),
            ]) { list in
                unsafe MHD_start_daemon_va(UInt32(flags), 0, nil, nil, answer, context.toOpaque(), list)
            }
        }
        guard let started = unsafe started else {
            close(socket)
            unsafe context.release()
            throw HTTPError(description: "the page on \(host):\(port) could not be started")
        }
        unsafe daemon = started
        unsafe self.context = unsafe context
    }

    /// Waits for requests under way and closes the listener. Stopping again does nothing.
    public func stop() {
        guard isRunning else { return }
        isRunning = false
        unsafe MHD_stop_daemon(daemon)
    }

    deinit {
        // The library's threads must be gone before what they call.
        stop()
        unsafe context.release()
    }

    private static func options(_ socket: Int32, _ threads: UInt32) -> [MHD_OptionItem] {
        func option(_ option: MHD_OPTION, _ value: Int) -> MHD_OptionItem {
            unsafe MHD_OptionItem(option: option, value: value, ptr_value: nil)
        }
        return unsafe [
            option(MHD_OPTION.LISTEN_SOCKET, Int(socket)), option(MHD_OPTION.THREAD_POOL_SIZE, Int(threads)),
            option(MHD_OPTION.CONNECTION_LIMIT, 256), option(MHD_OPTION.PER_IP_CONNECTION_LIMIT, 64),
            option(MHD_OPTION.CONNECTION_TIMEOUT, 15), option(MHD_OPTION.CONNECTION_MEMORY_LIMIT, 16_384),
            option(MHD_OPTION.STRICT_FOR_CLIENT, 1), option(MHD_OPTION.END, 0),
        ]
    }

    /// Binds by ourselves, so that a taken port is told apart from every other fault.
    private static func listen(_ host: String, _ port: UInt16) throws -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard unsafe inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
            throw HTTPError(description: "web.host is \(host), must be an IPv4 address such as 127.0.0.1")
        }
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var one: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard descriptor >= 0, bound == 0, Glibc.listen(descriptor, 128) == 0 else {
            let reason = errno
            close(descriptor)
            let advice = reason == EADDRINUSE ? "Another program has it: choose another with --port N, or --port 0 for any free one" : "Choose another address or port"
            throw HTTPError(description: "port \(port) on \(host) cannot be listened on: \(unsafe String(cString: strerror(reason))). \(advice)")
        }
        return descriptor
    }

    private static func boundPort(_ socket: Int32) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(socket, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
    }
}

/// What the C callback finds behind its opaque pointer; only read after the server has started.
private final class HandlerContext: Sendable {
    let handler: Server.Handler
    init(_ handler: @escaping Server.Handler) { self.handler = handler }
}

/// Called by libmicrohttpd with the whole header of a request and again at its end, on one of its threads.
private func answer(
    _ opaque: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ body: UnsafePointer<CChar>?,
    _ bodySize: UnsafeMutablePointer<Int>?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let connection = unsafe connection, let url = unsafe url, let method = unsafe method else { return .NO }
    let name = unsafe String(cString: method)
    var response: Response
    var mustClose = false
    if unsafe !Framing.isPlain(connection) {
        (response, mustClose) = (.problem(400, type: "body", title: "Bad request", detail: "this address takes no body, and exactly one Host"), true)
    } else if name != "GET" && name != "HEAD" {
        response = .problem(405, type: "method", title: "Method not allowed", detail: "only GET and HEAD are answered here")
        response.headers.append(("Allow", "GET, HEAD"))
        mustClose = true
    } else if let state = unsafe state, unsafe state.pointee == nil {
        // An answer to the head alone makes the library close the connection: good requests are answered at their
        // end, when it calls again.
        unsafe state.pointee = opaque
        return .YES
    } else if let path = unsafe String(validatingCString: url), path.hasPrefix("/") {
        let request = unsafe Request(method: name, path: path, query: Framing.query(connection))
        response = unsafe Unmanaged<HandlerContext>.fromOpaque(opaque!).takeUnretainedValue().handler(request)
    } else {
        (response, mustClose) = (.problem(400, type: "path", title: "Bad request", detail: "the path does not begin with / or is not UTF-8"), true)
    }
    if mustClose { response.headers.append(("Connection", "close")) }
    return unsafe send(response, connection)
}

private func send(_ response: Response, _ connection: OpaquePointer) -> MHD_Result {
    let made = unsafe response.body.withUnsafeBytes { bytes in
        // The library copies the bytes, so they live for the call only.
        unsafe MHD_create_response_from_buffer(
            bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
    }
    guard let made = unsafe made else { return .NO }
    defer { unsafe MHD_destroy_response(made) }

    for (name, value) in response.headers + [("Content-Type", response.contentType), ("X-Content-Type-Options", "nosniff")] {
        unsafe MHD_add_response_header(made, name, value)
    }
    return unsafe MHD_queue_response(connection, response.status, made)
}

/// Reads what libmicrohttpd collected of a request.
private enum Framing {
    private final class Pairs { var values: [(String, String)] = [] }

    /// No body in any framing, and one Host: what stands between request smuggling and the handlers.
    static func isPlain(_ connection: OpaquePointer) -> Bool {
        let headers = unsafe pairs(connection, .HEADER_KIND).map { ($0.0.lowercased(), $0.1) }
        if headers.contains(where: { $0.0 == "transfer-encoding" }) { return false }
        if headers.contains(where: { $0.0 == "content-length" && $0.1 != "0" }) { return false }
        return headers.count { $0.0 == "content-length" } <= 1 && headers.count { $0.0 == "host" } == 1
    }

    static func query(_ connection: OpaquePointer) -> [String: String] {
        Dictionary(unsafe pairs(connection, .GET_ARGUMENT_KIND), uniquingKeysWith: { first, _ in first })
    }

    private static func pairs(_ connection: OpaquePointer, _ kind: MHD_ValueKind) -> [(String, String)] {
        let pairs = Pairs()
        unsafe MHD_get_connection_values(
            connection, kind,
            { opaque, _, key, value in
                let pairs = unsafe Unmanaged<Pairs>.fromOpaque(opaque!).takeUnretainedValue()
                if let key = unsafe key, let name = unsafe String(validatingCString: key) {
                    unsafe pairs.values.append((name, value.flatMap { unsafe String(validatingCString: $0) } ?? ""))
                }
                return .YES
            }, Unmanaged.passUnretained(pairs).toOpaque())
        return pairs.values
    }
}
