internal import CCurl
package import Sockets

/// A server's response, whatever its status.
package struct Reply: Sendable {
    package let status: Int
    /// Keys in lower case; the last of repeated headers wins.
    package let headers: [String: String]
    package let body: [UInt8]

    package init(status: Int, headers: [String: String], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// A request that got no whole answer. The text names neither headers nor bodies, which may hold secrets.
package struct RequestError: Error, Sendable, CustomStringConvertible {
    /// The target, without the query; empty when there is none.
    package let url: String
    package let reason: String
    /// The address that we refused to connect to, for the log. Nil: another reason.
    package var refusal: String?
    package var description: String { url.isEmpty ? reason : "\(url): \(reason)" }
}

/// Asks servers of others over HTTPS, for one thread; its calls block. Certificates are always checked, redirects are
/// not followed: they would carry the headers to whom they were not meant for. Plain HTTP only where it is allowed.
@safe
package final class HTTPSClient {
    package struct Limits: Sendable {
        package var connectMs = 10_000
        /// The whole request.
        package var totalMs = 60_000
        package var bodyBytesMax = 16 << 20
        package init() {}
    }

    private let handle: OpaquePointer
    private let limits: Limits
    private let caFile: String?
    private let isPlainAllowed: Bool
    private let identity: Identity?

    /// Our client certificate and key, as PEM files.
    package struct Identity: Sendable {
        package let certificate, key: String
        package init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
    }

    /// - Parameters:
    ///   - caFile: PEM file with the roots that are believed; nil: the system's.
    ///   - isPlainAllowed: plain HTTP as well, for servers on this machine; no proxy is asked then.
    package init(
        caFile: String? = nil, identity: Identity? = nil, limits: Limits = Limits(), isPlainAllowed: Bool = false
    ) throws {
        // Once a process, and safe to repeat (libcurl manual, curl_global_init, since 7.84).
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let made = unsafe curl_easy_init() else {
            throw RequestError(url: "", reason: "libcurl cannot start: no memory?")
        }
        unsafe handle = OpaquePointer(made)
        self.caFile = caFile
        self.limits = limits
        self.isPlainAllowed = isPlainAllowed
        self.identity = identity
    }

    deinit { unsafe curl_easy_cleanup(UnsafeMutableRawPointer(handle)) }

    /// GET, or POST when there is a body.
    /// - Parameters:
    ///   - totalMs: less time than the limits give; nil: theirs.
    ///   - reach: where the host's name may lead, when somebody else than the operator has said the address; it is held
    ///     against each address that is connected to. Nil: anywhere.
    package func ask(
        _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil, totalMs: Int? = nil,
        reach: AddressPolicy? = nil
    ) throws(RequestError) -> Reply {
        let curl = unsafe UnsafeMutableRawPointer(handle)
        // Connections stay open for the next request.
        unsafe curl_easy_reset(curl)
        var list: UnsafeMutablePointer<curl_slist>?
        for (name, value) in headers { unsafe list = curl_slist_append(list, "\(name): \(value)") }
        defer { unsafe curl_slist_free_all(list) }

        let answer = Answer(bodyBytesMax: limits.bodyBytesMax, reach: reach)
        let context = unsafe Unmanaged.passUnretained(answer).toOpaque()
        unsafe drover_curl_set_text(curl, CURLOPT_URL, url)
        unsafe drover_curl_set_text(curl, CURLOPT_PROTOCOLS_STR, isPlainAllowed ? "https,http" : "https")
        if isPlainAllowed { unsafe drover_curl_set_text(curl, CURLOPT_PROXY, "") }
        unsafe drover_curl_set_number(curl, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        unsafe drover_curl_set_number(curl, CURLOPT_CONNECTTIMEOUT_MS, limits.connectMs)
        unsafe drover_curl_set_number(curl, CURLOPT_TIMEOUT_MS, min(limits.totalMs, totalMs ?? limits.totalMs))
        // Time-outs by signals would hit other threads.
        unsafe drover_curl_set_number(curl, CURLOPT_NOSIGNAL, 1)
        // All encodings that libcurl can decode.
        unsafe drover_curl_set_text(curl, CURLOPT_ACCEPT_ENCODING, "")
        if let caFile { unsafe drover_curl_set_text(curl, CURLOPT_CAINFO, caFile) }
        if let identity {
            unsafe drover_curl_set_text(curl, CURLOPT_SSLCERT, identity.certificate)
            unsafe drover_curl_set_text(curl, CURLOPT_SSLKEY, identity.key)
        }
        unsafe drover_curl_set_pointer(curl, CURLOPT_HTTPHEADER, list)
        if let body {
            unsafe drover_curl_set_number(curl, CURLOPT_POSTFIELDSIZE, body.count)
            // libcurl makes a copy.
            unsafe body.withUnsafeBytes {
                _ = unsafe drover_curl_set_pointer(curl, CURLOPT_COPYPOSTFIELDS, $0.baseAddress)
            }
        }
        unsafe drover_curl_set_sink(curl, CURLOPT_WRITEFUNCTION, takeBody)
        unsafe drover_curl_set_pointer(curl, CURLOPT_WRITEDATA, context)
        unsafe drover_curl_set_sink(curl, CURLOPT_HEADERFUNCTION, takeHeader)
        unsafe drover_curl_set_pointer(curl, CURLOPT_HEADERDATA, context)

        if reach != nil {
            unsafe drover_curl_set_opener(curl, openSocket)
            unsafe drover_curl_set_pointer(curl, CURLOPT_OPENSOCKETDATA, context)
        }

        let code = withExtendedLifetime(answer) { unsafe curl_easy_perform(curl) }
        guard code == CURLE_OK else {
            let reason =
                answer.isTooLarge
                ? "the answer has more than \(limits.bodyBytesMax) bytes"
                : unsafe String(cString: curl_easy_strerror(code))
            throw RequestError(url: HTTPSClient.shown(url), reason: reason, refusal: answer.refusal)
        }
        return Reply(status: unsafe drover_curl_status(curl), headers: answer.headers, body: answer.body)
    }

    /// Without the query, which may hold secrets.
    private static func shown(_ url: String) -> String { String(url.prefix { $0 != "?" }.prefix(200)) }
}

/// Collects the response piece by piece, on the thread that asks.
private final class Answer {
    static let headerBytesMax = 65_536
    let bodyBytesMax: Int
    var headers: [String: String] = [:]
    var headerBytes = 0
    var body: [UInt8] = []
    var isTooLarge = false
    let reach: AddressPolicy?
    var refusal: String?

    init(bodyBytesMax: Int, reach: AddressPolicy?) { (self.bodyBytesMax, self.reach) = (bodyBytesMax, reach) }

    /// Whether an address may be connected to.
    func allows(_ text: String, port: Int32) -> Bool {
        guard let reach else { return true }
        guard let address = IPAddress(text), let port = UInt16(exactly: port) else { return false }
        guard let fault = reach.refusal(of: address, port: port) else { return true }
        refusal = "\(address): \(fault)"
        return false
    }

    static func of(_ context: UnsafeMutableRawPointer?) -> Answer {
        unsafe Unmanaged<Answer>.fromOpaque(context!).takeUnretainedValue()
    }
}

private let takeBody: drover_curl_sink = { bytes, size, count, context in
    let answer = unsafe Answer.of(context)
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    guard answer.body.count + piece.count <= answer.bodyBytesMax else {
        answer.isTooLarge = true
        return 0
    }
    unsafe answer.body.append(contentsOf: piece)
    return piece.count
}

/// libcurl asks for each address of a name; another may be right.
private let openSocket: curl_opensocket_callback = { context, _, address in
    guard let address = unsafe address else { return CURL_SOCKET_BAD }
    var text = [CChar](repeating: 0, count: 46)
    let port = unsafe drover_curl_address(address, &text)
    let shown = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return unsafe Answer.of(context).allows(shown, port: port) ? drover_curl_open(address) : CURL_SOCKET_BAD
}

private let takeHeader: drover_curl_sink = { bytes, size, count, context in
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    let answer = unsafe Answer.of(context)
    answer.headerBytes += piece.count
    guard answer.headerBytes <= Answer.headerBytesMax else { return 0 }
    let line = unsafe String(decoding: piece, as: UTF8.self)
    let parts = line.split(separator: ":", maxSplits: 1)
    if parts.count == 2 {
        let value = parts[1].split(whereSeparator: \.isWhitespace).joined(separator: " ")
        answer.headers[parts[0].lowercased()] = value
    }
    return piece.count
}
