internal import CMicrohttpd
internal import Glibc
internal import Synchronization

/// One request on its way in and its answer on the way out. Belongs to the server thread of its connection.
final class Exchange {
    let target: [UInt8]
    /// The position in the library's buffer.
    let place: UInt
    /// The checked request, once its headers are here.
    var request: Request?
    /// Set: the body is read and dropped, then this is the answer.
    var refusal: Response?
    var dropped = 0
    private var bodyBytesMax = 0
    /// The response to a body that is too long.
    private var overflow = Refusal.busy
    /// From the headers; 0 when the body is chunked or absent.
    private var declaredBytes = 0
    /// The client sends nothing before it is told to.
    private var waits = false
    private var holder = BodyOwner.address("?")
    /// Set: it is being asked who sends so much.
    var gate: PendingValue<Admission>?
    /// Set: the handler was called, and this gives its answer.
    var resting: PendingValue<Response>?

    init(target: [UInt8], place: UInt) { (self.target, self.place) = (target, place) }

    var isInChunks: Bool { request?.headers["transfer-encoding"] != nil }

    /// A client that has begun to send too much rarely reads before it is done: hear it out, within reason.
    static func dropMax(_ bodyBytesMax: Int) -> Int { bodyBytesMax * 4 + (8 << 20) }

    private var isHeardOut: Bool { declaredBytes <= Exchange.dropMax(bodyBytesMax) && !waits }

    /// Returns an answer that must go out before the body is read, and end the connection.
    func headersArrived(
        method: String, version: String, headers: [(name: String, value: String)], remote: String, limits: Limits
    ) -> Response? {
        guard let target = Target(target) else { return Refusal.bad("The address is malformed.") }
        bodyBytesMax = limits.bodyBytesMax(of: target.path)
        overflow = Refusal.tooLarge(bodyBytesMax)
        declaredBytes = headers.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
        waits = headers.contains { $0.name == "expect" }
        if let refusal = Refusal.check(
            version: version, headers: headers, bodyBytesMax: bodyBytesMax, limits: limits)
        {
            guard refusal.status == 413, isHeardOut else { return refusal }
            self.refusal = refusal
        }
        let headers = Dictionary(headers.map { ($0.name, $0.value) }) { $0 + ", " + $1 }
        let client = Forwarded.client(
            peer: remote, header: headers["x-forwarded-for"], trusted: limits.trustedProxies)
        holder = .address(client)
        request = Request(
            method: method, path: target.path, segments: target.segments, queryItems: target.queryItems,
            headers: headers, remote: client)
        return nil
    }

    /// Whether the sender must be known first: a chunked body may become large.
    func mayBeLarge(_ limits: Limits) -> Bool {
        guard refusal == nil, let request else { return false }
        return isInChunks || declaredBytes > limits.strangersBytesMax(of: request.path)
    }

    /// Returns an answer that must go out before the body is read, and end the connection.
    func admitted(_ admission: Admission, limits: Limits) -> Response? {
        switch admission {
        case .known(let account): holder = .account(account)
        case .stranger(let why):
            let strangersMax = limits.strangersBytesMax(of: request!.path)
            // A body that is too large for everybody gets the final refusal.
            guard strangersMax < bodyBytesMax else { return nil }
            bodyBytesMax = strangersMax
            overflow = why
            guard declaredBytes > bodyBytesMax else { return nil }
            guard isHeardOut else { return why }
            refusal = why
        }
        return nil
    }

    /// A line of a chunk ended without CR. What is visible of it is refused; because not all of it is, nothing behind chunks is read as a
    /// request (`requestArrived`).
    func bareLineArrived() { refusal = refusal ?? Refusal.bad("Lines of chunks end in CR LF.") }

    /// False: enough, close.
    func bodyArrived(_ bytes: UnsafeRawBufferPointer, held: BodyMemory) -> Bool {
        if refusal == nil { refusal = refusing(bytes.count, held) }
        if refusal == nil {
            unsafe request!.body.append(contentsOf: bytes)
            return true
        }
        letGo(held)
        dropped += bytes.count
        return dropped <= Exchange.dropMax(bodyBytesMax)
    }

    /// Nil: the bytes are reserved.
    private func refusing(_ count: Int, _ held: BodyMemory) -> Response? {
        let bytes = request!.body.count + count
        if bytes > bodyBytesMax { return overflow }
        return held.reserve(count, of: max(bytes, declaredBytes), for: holder)
    }

    /// The body is of no more use.
    func letGo(_ held: BodyMemory) {
        held.release(request?.body.count ?? 0, of: holder)
        request?.body = []
    }
}

/// The request line is here. What is returned becomes the `con_cls` of the calls that follow.
let requestBegan:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
        context, target, connection in
        unsafe ServerContext.of(context!).connections.entered(.receiving, id(connection))
        let bytes = unsafe target.map { unsafe Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) } ?? []
        // Released in requestEnded, which the library calls for every request that it told us of.
        let exchange = Exchange(target: bytes, place: UInt(bitPattern: target))
        return unsafe Unmanaged.passRetained(exchange).toOpaque()
    }

let requestEnded:
    @convention(c) (
        UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
        MHD_RequestTerminationCode
    ) -> Void = { context, connection, exchange, _ in
        let context = unsafe ServerContext.of(context!)
        unsafe context.connections.entered(.resting, id(connection))
        if let pointer = unsafe exchange?.pointee {
            let ended = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue()
            ended.letGo(context.held)
            if let gate = ended.gate { context.ended(gate) }
            if let resting = ended.resting { context.ended(resting) }
            unsafe exchange?.pointee = nil
        }
    }

let connectionChanged:
    @convention(c) (
        UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
        MHD_ConnectionNotificationCode
    ) -> Void = { context, connection, _, what in
        let context = unsafe ServerContext.of(context!)
        let connections = context.connections
        switch what {
        case .CONNECTION_NOTIFY_STARTED:
            // The session is there already and its handshake is not.
            if let session = unsafe drover_connection_session(connection) {
                unsafe context.currentCredentials?.use(in: session)
            }
            let descriptor = unsafe connection.map { unsafe drover_connection_descriptor($0) } ?? -1
            unsafe connections.opened(id(connection), descriptor: descriptor, address: Listener.peer(descriptor))
        case .CONNECTION_NOTIFY_CLOSED:
            if let session = unsafe drover_connection_session(connection),
                let refusal = unsafe ClientTrust.refusal(session)
            {
                unsafe context.refused(refusal, connections.address(id(connection)))
            }
            unsafe connections.closed(id(connection))
        @unknown default: break
        }
    }

/// The library calls this once with the headers, then for each piece of the body, then once more at its end.
let requestArrived:
    @convention(c) (
        UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
        UnsafePointer<CChar>?, UnsafeMutablePointer<Int>?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> MHD_Result = { context, connection, _, method, version, data, size, slot in
        let context = unsafe ServerContext.of(context!)
        guard let pointer = unsafe slot?.pointee else { return .NO }
        let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
        if exchange.request == nil {
            guard
                unsafe drover_head_is_whole(
                    connection, method, UnsafePointer(bitPattern: exchange.place), exchange.target.count, version) == 1
            else { return unsafe answer(connection, Refusal.head.with("Connection", "close"), context) }
            let refusal = unsafe exchange.headersArrived(
                method: String(cString: method!), version: String(cString: version!), headers: headers(of: connection),
                remote: context.connections.address(id(connection)), limits: context.limits)
            if let refusal { return unsafe answer(connection, refusal.with("Connection", "close"), context) }
            guard exchange.mayBeLarge(context.limits), let gate = context.admission(of: exchange.request!) else {
                return .YES
            }
            // It is not the client that keeps us waiting.
            unsafe context.connections.entered(.handling, id(connection))
            exchange.gate = gate
        }
        if let gate = exchange.gate {
            // A connection that rested is asked for its headers again (libmicrohttpd 0.9.75): nothing of the body is here.
            guard let admission = unsafe gate.value(on: id(connection)) else { return .YES }
            context.ended(gate)
            exchange.gate = nil
            unsafe context.connections.entered(.receiving, id(connection))
            guard let refusal = exchange.admitted(admission, limits: context.limits) else { return .YES }
            return unsafe answer(connection, refusal.with("Connection", "close"), context)
        }
        if let count = unsafe size?.pointee, count > 0 {
            let bytes = unsafe UnsafeRawBufferPointer(start: data, count: count)
            if exchange.isInChunks, unsafe drover_chunk_is_bare(data) == 1 { exchange.bareLineArrived() }
            let isTaken = unsafe exchange.bodyArrived(bytes, held: context.held)
            guard isTaken else { return .NO }
            unsafe context.connections.received(count, id(connection))
            unsafe size?.pointee = 0
            return .YES
        }
        var response: Response
        if let refusal = exchange.refusal {
            response = refusal.with("Connection", "close")
        } else {
            if exchange.resting == nil {
                unsafe context.connections.entered(.handling, id(connection))
                exchange.resting = context.handle(exchange.request!)
            }
            guard let given = unsafe exchange.resting!.value(on: id(connection)) else { return .YES }
            response = given
        }
        let isLast = context.isStopping.load(ordering: .acquiring) || exchange.isInChunks
        if isLast, exchange.refusal == nil {
            response = response.with("Connection", "close")
        }
        return unsafe answer(connection, response, context)
    }

private func answer(_ connection: OpaquePointer?, _ response: Response, _ context: ServerContext) -> MHD_Result {
    var status = (200...599).contains(response.status) ? response.status : 500
    let isSecure = context.currentCredentials != nil
    var made = unsafe make(response, isSecure: isSecure)
    if unsafe made == nil {
        status = 500
        unsafe made = make(
            .problem(500, type: "bad-answer", detail: "The answer could not be sent."), isSecure: isSecure)
    }
    guard let made = unsafe made else { return .NO }
    // The connection keeps its own reference.
    defer { unsafe MHD_destroy_response(made) }

    if let stream = response.stream, status == response.status {
        unsafe stream.bound(drover_connection_descriptor(connection))
        unsafe context.begin(stream, on: id(connection))
        unsafe context.connections.entered(.streaming, id(connection))
    } else {
        let bytes = status == response.status ? response.file?.range.count ?? 0 : 0
        unsafe context.connections.entered(.sending, id(connection), moreMs: Connections.patienceMs(bytes))
    }
    return unsafe MHD_queue_response(connection, UInt32(status), made)
}

/// Nil: a header holds what no header may, such as a line end.
private func make(_ response: Response, isSecure: Bool) -> OpaquePointer? {
    // 204 and 304 have no body (RFC 9110, 6.4.1).
    let body = response.status == 204 || response.status == 304 ? [] : response.body
    let made =
        unsafe response.stream.map { unsafe $0.answer() } ?? response.file.map { unsafe $0.body.answer($0.range) }
        ?? body.withUnsafeBytes { bytes in
            unsafe MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
    guard let made = unsafe made else { return nil }
    for (name, value) in response.headers + SecurityHeaders.missing(from: response, isSecure: isSecure) {
        let isClean =
            !name.utf8.contains { $0 <= 0x20 || $0 == 0x3A } && !value.utf8.contains { $0 < 0x20 || $0 == 0x7F }
        guard isClean, unsafe MHD_add_response_header(made, name, value) == .YES else {
            unsafe MHD_destroy_response(made)
            return nil
        }
    }
    return unsafe made
}

/// In the order of their arrival, names in lower case.
private func headers(of connection: OpaquePointer?) -> [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    unsafe withUnsafeMutablePointer(to: &headers) { pointer in
        _ = unsafe MHD_get_connection_values(
            connection, .HEADER_KIND,
            { into, _, name, value in
                let name = unsafe name.map { unsafe String(cString: $0).lowercased() } ?? ""
                let value = unsafe value.map { unsafe String(cString: $0) } ?? ""
                unsafe into!.assumingMemoryBound(to: [(name: String, value: String)].self).pointee.append((name, value))
                return .YES
            }, pointer)
    }
    return headers
}

private func id(_ connection: OpaquePointer?) -> Connections.ID { UInt(bitPattern: connection) }
