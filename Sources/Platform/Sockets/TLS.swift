internal import Basics
internal import COpenSSL

/// Shared by connections of one kind: a client that pins certificates, or a server with its certificate.
@safe
package final class TLSContext: @unchecked Sendable {
    // Written once. OpenSSL counts references to a context atomically, and what we read of it does not change.
    fileprivate let handle: OpaquePointer
    fileprivate let isServer: Bool

    /// A client. Which certificate it takes is decided for each connection.
    package convenience init() throws { try unsafe self.init(TLS_client_method(), isServer: false) }

    /// A server with a certificate and its key, PEM files.
    package convenience init(certificate: String, key: String) throws {
        try unsafe self.init(TLS_server_method(), isServer: true)
        guard unsafe SSL_CTX_use_certificate_chain_file(handle, certificate) == 1 else {
            throw TLSStream.error("\(certificate): cannot be used as a certificate")
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(handle, key, SSL_FILETYPE_PEM) == 1 else {
            throw TLSStream.error("\(key): cannot be used as the key of \(certificate)")
        }
    }

    private init(_ method: OpaquePointer?, isServer: Bool) throws {
        guard let handle = unsafe SSL_CTX_new(method) else { throw TLSStream.error("no TLS context") }
        unsafe self.handle = unsafe handle
        self.isServer = isServer
        guard unsafe drover_ssl_min_tls12(handle) == 1 else { throw TLSStream.error("TLS 1.2 is not there") }
        _ = unsafe drover_ssl_modes(handle)
        // No session resumption: each poll is a new connection that pins anew.
        _ = unsafe drover_ssl_no_sessions(handle)
        // No authority is asked: the pinned certificate is the trust, see `TLSStream.certificate`.
        unsafe SSL_CTX_set_verify(handle, SSL_VERIFY_NONE, nil)
    }

    deinit { unsafe SSL_CTX_free(handle) }

    /// SHA-256 of the certificate that a server shows, in hexadecimal.
    package var certificateSHA256: String? {
        unsafe SSL_CTX_get0_certificate(handle).flatMap { unsafe TLSStream.fingerprint($0) }
    }
}

/// One connection's TLS over a descriptor that does not block. Whoever made the descriptor closes it.
@safe
final class TLSStream {
    enum Result { case done(Int), wantsReading, wantsWriting, ended, failed(SocketError) }

    private let handle: OpaquePointer
    private let isServer: Bool

    init(_ context: TLSContext, descriptor: Int32) throws {
        guard let handle = unsafe SSL_new(context.handle), unsafe SSL_set_fd(handle, descriptor) == 1 else {
            throw TLSStream.error("no TLS connection")
        }
        unsafe self.handle = unsafe handle
        isServer = context.isServer
    }

    deinit { unsafe SSL_free(handle) }

    func handshake() -> Result {
        ERR_clear_error()
        return result(unsafe isServer ? SSL_accept(handle) : SSL_connect(handle), "the TLS handshake failed")
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Result {
        ERR_clear_error()
        return result(
            unsafe SSL_read(handle, buffer.baseAddress, Int32(clamping: buffer.count)), "reading by TLS failed")
    }

    func write(_ buffer: UnsafeRawBufferPointer) -> Result {
        ERR_clear_error()
        return result(
            unsafe SSL_write(handle, buffer.baseAddress, Int32(clamping: buffer.count)), "writing by TLS failed")
    }

    private func result(_ code: Int32, _ doing: String) -> Result {
        if code > 0 { return .done(Int(code)) }
        switch unsafe SSL_get_error(handle, code) {
        case SSL_ERROR_WANT_READ: return .wantsReading
        case SSL_ERROR_WANT_WRITE: return .wantsWriting
        case SSL_ERROR_ZERO_RETURN: return .ended
        default: return .failed(TLSStream.error(doing))
        }
    }

    /// Nil when the peer's certificate is the pinned one and valid now. The handshake has proved that the peer has its
    /// key; a chain is not looked at.
    func faultOfCertificate(pinned: String) -> SocketError? {
        guard let certificate = unsafe SSL_get0_peer_certificate(handle) else {
            return SocketError("the box shows no certificate")
        }
        guard let found = unsafe TLSStream.fingerprint(certificate), found == pinned else {
            return SocketError("the box's certificate is not the pinned one (certificate_sha256 of its registration)")
        }
        // Compared with the clock of this machine: negative means in the past.
        guard unsafe X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0 else {
            return SocketError("the box's certificate has expired")
        }
        guard unsafe X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0 else {
            return SocketError("the box's certificate is not valid yet")
        }
        return nil
    }

    static func fingerprint(_ certificate: OpaquePointer) -> String? {
        var digest = [UInt8](repeating: 0, count: 32)
        guard unsafe X509_digest(certificate, EVP_sha256(), &digest, nil) == 1 else { return nil }
        return Hex.text(digest)
    }

    /// Adds OpenSSL's own reason, when it has one.
    static func error(_ doing: String) -> SocketError {
        let code = ERR_get_error()
        guard code != 0, let reason = unsafe ERR_reason_error_string(code) else { return SocketError(doing) }
        return unsafe SocketError("\(doing): \(String(cString: reason))")
    }
}
