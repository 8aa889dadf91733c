internal import CMicrohttpd

/// The clients that are let in: those that show a certificate for clients that is signed by one of these authorities, in
/// its time and not revoked. All others are refused in the handshake. PEM texts as the files hold them.
package struct ClientAuthority: Sendable, Equatable {
    package var authorities: [UInt8]
    /// Lists of revoked certificates. One whose next update is overdue goes on to count.
    package var revoked: [UInt8]?

    package init(authorities: [UInt8], revoked: [UInt8]? = nil) {
        self.authorities = authorities
        self.revoked = revoked
    }
}

/// The credentials of a server that asks its clients for certificates.
enum ClientTrust {
    /// Throws `ServerError` for what cannot be used.
    static func add(_ clients: ClientAuthority, to credentials: gnutls_certificate_credentials_t) throws {
        let trusted = unsafe withDatum(clients.authorities) {
            unsafe gnutls_certificate_set_x509_trust_mem(credentials, $0, GNUTLS_X509_FMT_PEM)
        }
        guard trusted > 0 else {
            throw ServerError(description: "the authority of client certificates cannot be read: it must be a PEM file")
        }
        guard let revoked = clients.revoked else { return }
        let lists = unsafe withDatum(revoked) {
            unsafe gnutls_certificate_set_x509_crl_mem(credentials, $0, GNUTLS_X509_FMT_PEM)
        }
        guard lists > 0 else {
            throw ServerError(description: "the list of revoked certificates cannot be read: it must be a PEM file")
        }
        // The library would believe it and never find a certificate in it.
        let isSigned = unsafe withDatum(revoked) { revoked in
            unsafe withDatum(clients.authorities) { unsafe drover_lists_are_signed(revoked, $0) }
        }
        guard isSigned == 1 else {
            throw ServerError(
                description: "the list of revoked certificates is not signed by the authority of client certificates")
        }
    }

    /// Why a session's certificate was refused; nil: it was not, or none came.
    static func refusal(_ session: gnutls_session_t) -> String? {
        let status = unsafe gnutls_session_get_verify_cert_status(session)
        // All bits: nothing was verified.
        guard status != 0, status != UInt32.max else { return nil }
        var text = unsafe gnutls_datum_t()
        guard unsafe gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &text, 0) >= 0 else {
            return "status \(status)"
        }
        defer { unsafe drover_free_text(&text) }

        let words = unsafe String(
            decoding: UnsafeRawBufferPointer(start: text.data, count: Int(text.size)), as: UTF8.self)
        return words.split(separator: " ").joined(separator: " ")
    }
}

func withDatum<R>(_ bytes: [UInt8], _ body: (UnsafePointer<gnutls_datum_t>) throws -> R) rethrows -> R {
    var bytes = bytes
    return try unsafe bytes.withUnsafeMutableBufferPointer { bytes in
        var datum = unsafe gnutls_datum_t(data: bytes.baseAddress, size: UInt32(bytes.count))
        return try unsafe body(&datum)
    }
}
