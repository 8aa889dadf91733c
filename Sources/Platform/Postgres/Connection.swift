internal import CLibpq

/// One session with the server, for one thread: its calls block. After an error with `isConnectionLost`, drop it and
/// make another.
@safe
package final class Connection {
    let handle: OpaquePointer
    private let notices: Notices
    private var remembered: Set<String> = []

    /// Connects.
    /// - Parameters:
    ///   - conninfo: libpq's `key=value` words or a `postgresql://` URI. Never repeated in an error.
    ///   - connectTimeoutS: for each address, unless `conninfo` has a `connect_timeout`.
    ///   - notices: takes the server's notices, on this connection's thread.
    /// - Throws: `PostgresError` with what to do.
    package init(
        conninfo: String, connectTimeoutS: Int = 10, applicationName: String = "drover",
        notices: @escaping (String) -> Void = { _ in }
    ) throws {
        // Words before dbname are defaults that conninfo may override, words after it are not (libpq manual,
        // PQconnectdbParams). The time-outs keep a thread from hanging for ever on a server that vanished.
        let words = [
            ("connect_timeout", String(connectTimeoutS)), ("fallback_application_name", applicationName),
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "60000"), ("dbname", conninfo), ("client_encoding", "UTF8"),
        ]
        let connection = try unsafe withCStrings(words.map(\.0)) { keys in
            try unsafe withCStrings(words.map(\.1)) { values in unsafe PQconnectdbParams(keys, values, 1) }
        }
        guard let connection = unsafe connection else { throw PostgresError.usage("no memory for a connection") }
        guard unsafe PQstatus(connection) == CONNECTION_OK else {
            let message = unsafe PostgresError.text(PQerrorMessage(connection))
            unsafe PQfinish(connection)
            throw PostgresError(
                sqlState: "", message: Connection.withoutSettings(message, conninfo), isConnectionLost: true)
        }
        unsafe handle = connection
        self.notices = Notices(notices)
        // `self.notices` outlives the connection: deinit finishes it first, then properties die.
        unsafe PQsetNoticeReceiver(connection, receiveNotice, Unmanaged.passUnretained(self.notices).toOpaque())
    }

    deinit { unsafe PQfinish(handle) }

    /// The server, by name or socket folder, and the database.
    package var place: (host: String, port: String, database: String) {
        func text(_ found: UnsafeMutablePointer<CChar>?) -> String {
            if let found = unsafe found { unsafe String(cString: found) } else { "" }
        }
        return unsafe (text(PQhost(handle)), text(PQport(handle)), text(PQdb(handle)))
    }

    /// `150006` is 15.6.
    package var serverVersion: Int { Int(unsafe PQserverVersion(handle)) }

    /// Notes what was made for this session only. False: it was noted before.
    package func remember(_ name: String) -> Bool { remembered.insert(name).inserted }

    /// libpq's view, without a round trip: false after a statement found the connection lost.
    package var isOpen: Bool { unsafe PQstatus(handle) == CONNECTION_OK }

    /// Whether `BEGIN` was sent and neither `COMMIT` nor `ROLLBACK`.
    package var isInTransaction: Bool {
        let status = unsafe PQtransactionStatus(handle)
        return status == PQTRANS_INTRANS || status == PQTRANS_INERROR || status == PQTRANS_ACTIVE
    }

    /// The stored form of a password (SCRAM-SHA-256, RFC 5803); the password itself is never sent.
    package func passwordVerifier(_ password: String, of login: String) throws -> String {
        guard let verifier = unsafe PQencryptPasswordConn(handle, password, login, "scram-sha-256") else {
            throw unsafe PostgresError.usage(PostgresError.text(PQerrorMessage(handle)))
        }
        defer { unsafe PQfreemem(verifier) }
        return unsafe String(cString: verifier)
    }

    /// Runs one or more statements without parameters; their rows are dropped. Several statements are one transaction
    /// unless they say otherwise. Returns the last one's count of rows changed.
    @discardableResult
    package func execute(_ sql: String) throws -> Int {
        try checkNoNUL(sql)
        let result = unsafe PQexec(handle, sql)
        defer { unsafe PQclear(result) }

        let status = unsafe PQresultStatus(result)
        if status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH {
            try abandonCopy(status)
            throw PostgresError.usage("COPY goes through copyIn")
        }
        try unsafe check(result)
        return unsafe Connection.rowsChanged(result)
    }

    /// Runs one statement with parameters and gives all its rows.
    @discardableResult
    package func query(_ sql: String, _ parameters: [Parameter] = []) throws -> Rows {
        try checkNoNUL(sql)
        let encoded = try parameters.enumerated().map { try $1.encoded(position: $0 + 1) }
        let types = parameters.map(\.type)
        let formats = parameters.map(\.format)
        let lengths = encoded.map { Int32($0?.count ?? 0) }
        let result = unsafe withPointers(to: encoded) { values in
            unsafe PQexecParams(handle, sql, Int32(parameters.count), types, values, lengths, formats, 1)
        }
        do {
            try unsafe check(result)
        } catch {
            unsafe PQclear(result)
            throw error
        }
        return unsafe Rows(owning: result!)
    }

    /// For cancelling a running statement from another thread.
    package func canceller() -> Canceller { unsafe Canceller(PQgetCancel(handle)) }

    func check(_ result: OpaquePointer?) throws {
        switch unsafe PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return
        default: throw unsafe PostgresError.of(result, on: handle)
        }
    }

    func checkNoNUL(_ sql: String) throws {
        if sql.utf8.contains(0) { throw PostgresError.usage("a statement holds a NUL") }
    }

    static func rowsChanged(_ result: OpaquePointer?) -> Int {
        Int(unsafe String(cString: PQcmdTuples(result))) ?? 0
    }

    /// libpq quotes a malformed conninfo, password and all.
    private static func withoutSettings(_ message: String, _ conninfo: String) -> String {
        let isMalformed = [
            "missing \"=\"", "invalid connection option", "unterminated quoted", "invalid URI", "URI query",
        ]
        .contains { message.contains($0) }
        if isMalformed || (!conninfo.isEmpty && message.contains(conninfo)) {
            return "the connection settings cannot be read (they are not repeated here: they may hold a password)"
        }
        return message
    }
}

/// Cancels what a connection is doing. Safe from any thread, also when the connection is idle or gone.
@safe
package final class Canceller: @unchecked Sendable {
    // Written once; PQcancel reads its argument only and is documented to be thread-safe.
    private let handle: OpaquePointer?

    init(_ handle: OpaquePointer?) { unsafe self.handle = handle }
    deinit { unsafe PQfreeCancel(handle) }

    /// Asks the server to cancel; the statement then fails with 57014, or finishes if it was faster. False: the request
    /// could not be sent.
    @discardableResult
    package func cancel() -> Bool {
        guard let handle = unsafe handle else { return false }
        var reason = [CChar](repeating: 0, count: 256)
        return unsafe PQcancel(handle, &reason, Int32(reason.count)) == 1
    }
}

/// The context of a connection's notice callback.
private final class Notices {
    let take: (String) -> Void
    init(_ take: @escaping (String) -> Void) { self.take = take }
}

private let receiveNotice: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void = { context, result in
    guard let context = unsafe context, let text = unsafe PQresultErrorField(result, Int32(UInt8(ascii: "M"))) else {
        return
    }
    unsafe Unmanaged<Notices>.fromOpaque(context).takeUnretainedValue().take(String(cString: text))
}

/// Lends the texts as a NULL-terminated array of C strings.
private func withCStrings<R>(_ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) throws -> R) throws -> R
{
    for text in texts where text.utf8.contains(0) { throw PostgresError.usage("connection settings hold a NUL") }
    return try unsafe withPointers(to: texts.map { Array($0.utf8) + [0] } + [nil]) { try unsafe body($0) }
}

/// Lends the arrays as pointers, nil for nil, without copying each.
func withPointers<R>(to values: [[UInt8]?], _ body: (UnsafePointer<UnsafePointer<CChar>?>) throws -> R) rethrows -> R {
    // One buffer for all: pointers into it stay valid for the whole call.
    var all: [UInt8] = [0]
    let starts = values.map { value -> Int? in
        guard let value else { return nil }
        defer { all += value }
        return all.count
    }
    return try unsafe all.withUnsafeBytes { bytes in
        let base = unsafe bytes.baseAddress!.assumingMemoryBound(to: CChar.self)
        let pointers: [UnsafePointer<CChar>?] =
            unsafe starts.map { start in unsafe start.map { unsafe base + $0 } } + [nil]
        return try unsafe pointers.withUnsafeBufferPointer { try unsafe body($0.baseAddress!) }
    }
}
