internal import CMicrohttpd

/// A server's identity over TLS, as PEM text.
package struct Certificate: Sendable {
    /// The server's certificate first, then what leads from it to a root.
    package var chain: [UInt8]
    /// Its private key, without a passphrase.
    package var key: [UInt8]

    package init(chain: [UInt8], key: [UInt8]) { (self.chain, self.key) = (chain, key) }
}

/// A certificate that GnuTLS has read and found to belong to its key.
@safe
final class Credentials: @unchecked Sendable {
    // Written once, then only read: GnuTLS allows sessions of several threads to share it (manual, 6.11).
    private let handle: gnutls_certificate_credentials_t

    /// Clients must show a certificate, too.
    let asksClients: Bool

    init(_ certificate: Certificate, clients: ClientAuthority? = nil) throws {
        var made: gnutls_certificate_credentials_t?
        guard unsafe gnutls_certificate_allocate_credentials(&made) == GNUTLS_E_SUCCESS, let made = unsafe made else {
            throw ServerError(description: "no memory for a certificate")
        }
        // GnuTLS copies what it reads.
        let code = unsafe withDatum(certificate.chain) { chain in
            unsafe withDatum(certificate.key) { key in
                unsafe gnutls_certificate_set_x509_key_mem(made, chain, key, GNUTLS_X509_FMT_PEM)
            }
        }
        guard code >= 0 else {
            unsafe gnutls_certificate_free_credentials(made)
            throw ServerError(
                description:
                    "the certificate and its key cannot be used: \(unsafe String(cString: gnutls_strerror(code))) "
                    + "Both must be PEM files, the key without a passphrase and the one of that certificate")
        }
        do {
            if let clients { try unsafe ClientTrust.add(clients, to: made) }
        } catch {
            unsafe gnutls_certificate_free_credentials(made)
            throw error
        }
        unsafe handle = made
        asksClients = clients != nil
    }

    deinit { unsafe gnutls_certificate_free_credentials(handle) }

    /// Call before the session's handshake. The session does not keep the credentials alive.
    func use(in session: gnutls_session_t) {
        _ = unsafe gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(handle))
        if asksClients { unsafe drover_require_client(session) }
    }
}
