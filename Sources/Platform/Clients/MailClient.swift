internal import CCurl

/// Hands mail to an SMTP server (RFC 5321), for one thread; its calls block. Certificates are always checked.
@safe
package final class MailClient {
    private static let connectMs = 10_000
    private static let totalMs = 60_000

    private let handle: OpaquePointer
    private let server: MailServer
    private let login: (user: String, password: String)?
    private let caFile: String?

    /// - Parameter caFile: PEM file with the roots that are believed; nil: the system's. With one, a server on this machine
    ///   must speak TLS, too.
    package init(_ server: MailServer, login: (user: String, password: String)?, caFile: String?) throws {
        // Once a process, and safe to repeat (libcurl manual, curl_global_init, since 7.84).
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let made = unsafe curl_easy_init() else {
            throw RequestError(url: "", reason: "libcurl cannot start: no memory?")
        }
        unsafe handle = OpaquePointer(made)
        self.server = server
        self.login = login
        self.caFile = caFile
    }

    deinit { unsafe curl_easy_cleanup(UnsafeMutableRawPointer(handle)) }

    /// - Parameters:
    ///   - from: a plain address.
    ///   - to: a plain address.
    ///   - message: header and body with CRLF (RFC 5322).
    package func send(from: String, to: String, message: [UInt8]) -> MailOutcome {
        let curl = unsafe UnsafeMutableRawPointer(handle)
        // Connections stay open for the next mail.
        unsafe curl_easy_reset(curl)
        let recipients = unsafe curl_slist_append(nil, "<\(to)>")
        defer { unsafe curl_slist_free_all(recipients) }

        let source = Source(message)
        unsafe drover_curl_set_text(curl, CURLOPT_URL, server.url)
        unsafe drover_curl_set_text(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps")
        unsafe drover_curl_set_text(curl, CURLOPT_PROXY, "")
        unsafe drover_curl_set_number(curl, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        let isPlainAllowed = server.isLoopback && caFile == nil
        let security = isPlainAllowed ? CURLUSESSL_NONE : CURLUSESSL_ALL
        unsafe drover_curl_set_number(curl, CURLOPT_USE_SSL, Int(security.rawValue))
        unsafe drover_curl_set_number(curl, CURLOPT_CONNECTTIMEOUT_MS, MailClient.connectMs)
        unsafe drover_curl_set_number(curl, CURLOPT_TIMEOUT_MS, MailClient.totalMs)
        // Time-outs by signals would hit other threads.
        unsafe drover_curl_set_number(curl, CURLOPT_NOSIGNAL, 1)
        if let caFile { unsafe drover_curl_set_text(curl, CURLOPT_CAINFO, caFile) }
        if let login {
            unsafe drover_curl_set_text(curl, CURLOPT_USERNAME, login.user)
            unsafe drover_curl_set_text(curl, CURLOPT_PASSWORD, login.password)
        }
        unsafe drover_curl_set_text(curl, CURLOPT_MAIL_FROM, "<\(from)>")
        unsafe drover_curl_set_pointer(curl, CURLOPT_MAIL_RCPT, recipients)
        unsafe drover_curl_set_number(curl, CURLOPT_UPLOAD, 1)
        unsafe drover_curl_set_number(curl, CURLOPT_INFILESIZE, message.count)
        unsafe drover_curl_set_sink(curl, CURLOPT_READFUNCTION, giveMessage)
        unsafe drover_curl_set_pointer(curl, CURLOPT_READDATA, Unmanaged.passUnretained(source).toOpaque())
        let code = withExtendedLifetime(source) { unsafe curl_easy_perform(curl) }
        let status = unsafe drover_curl_status(curl)
        let text = unsafe String(cString: curl_easy_strerror(code))
        return MailClient.outcome(code, status: status, isWholeSent: source.isWholeSent, text)
    }

    /// `status` is the server's last reply. libcurl tells a refused MAIL, RCPT or DATA as CURLE_SEND_ERROR, and any
    /// other reply than it waits for as CURLE_WEIRD_SERVER_REPLY: after the message that is an answer to the message.
    private static func outcome(_ code: CURLcode, status: Int, isWholeSent: Bool, _ text: String) -> MailOutcome {
        if code == CURLE_OK { return .taken }
        let isOfMail = code == CURLE_SEND_ERROR || (code == CURLE_WEIRD_SERVER_REPLY && isWholeSent)
        switch status {
        // 421: the server closes; 53x: it wants a login, or encryption (RFC 4954, 6).
        case 530...538: return .unavailable("the server wants another login (\(status))")
        case 400..<500 where isOfMail && status != 421: return .later("the server does not take it yet (\(status))")
        case 500..<600 where isOfMail: return .refused("the server refused it (\(status))")
        default: return .unavailable(text)
        }
    }
}

/// The message, piece by piece, on the thread that sends.
private final class Source {
    private let bytes: [UInt8]
    private var at = 0
    /// Set with the empty piece at the end as well: libcurl has everything.
    private(set) var isWholeSent = false

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func give(_ target: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(target.count, bytes.count - at)
        unsafe target.copyBytes(from: bytes[at..<(at + count)])
        at += count
        isWholeSent = at == bytes.count
        return count
    }
}

private let giveMessage: drover_curl_sink = { target, size, count, context in
    let source = unsafe Unmanaged<Source>.fromOpaque(context!).takeUnretainedValue()
    return unsafe source.give(UnsafeMutableRawBufferPointer(start: target, count: size * count))
}
