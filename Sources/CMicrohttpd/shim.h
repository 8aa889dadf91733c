#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <poll.h>

// The socket of a connection, or -1. MHD_get_connection_info is variadic, which Swift does not import.
static inline int drover_connection_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

#ifndef POLLRDHUP
#define POLLRDHUP 0x2000 // poll(2); the C library shows it only when asked before its first header.
#endif

// 1: the other side of the socket has closed it, whatever it sent before.
static inline int drover_peer_has_left(int socket) {
    struct pollfd asked = {.fd = socket, .events = POLLRDHUP};
    return poll(&asked, 1, 0) > 0;
}

// The TLS session of a connection, or NULL over plain HTTP.
static inline gnutls_session_t drover_connection_session(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? (gnutls_session_t) info->tls_session : NULL;
}

// The handshake fails unless the peer shows a certificate for clients that the session's credentials trust.
static inline void drover_require_client(gnutls_session_t session) {
    // The session keeps the address.
    static gnutls_typed_vdata_st purpose[] = {
        {GNUTLS_DT_KEY_PURPOSE_OID, (unsigned char *) GNUTLS_KP_TLS_WWW_CLIENT, 0}};
    gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
    gnutls_session_set_verify_cert2(session, purpose, 1, 0);
}

static inline void drover_free_text(gnutls_datum_t *text) { gnutls_free(text->data); }

// 1: each list of revoked certificates is signed by one of the authorities. All texts are PEM.
static inline int drover_lists_are_signed(const gnutls_datum_t *lists, const gnutls_datum_t *authorities) {
    gnutls_x509_crl_t *crls = NULL;
    gnutls_x509_crt_t *issuers = NULL;
    unsigned crl_count = 0, issuer_count = 0, status = 0;
    int is_signed = 0;
    if (gnutls_x509_crl_list_import2(&crls, &crl_count, lists, GNUTLS_X509_FMT_PEM, 0) >= 0 &&
        gnutls_x509_crt_list_import2(&issuers, &issuer_count, authorities, GNUTLS_X509_FMT_PEM, 0) >= 0) {
        is_signed = crl_count > 0;
        for (unsigned i = 0; i < crl_count; i++) {
            // One that is overdue is signed all the same.
            if (gnutls_x509_crl_verify(crls[i], issuers, (int) issuer_count, 0, &status) < 0 ||
                (status & (GNUTLS_CERT_SIGNER_NOT_FOUND | GNUTLS_CERT_SIGNATURE_FAILURE)))
                is_signed = 0;
        }
    }
    for (unsigned i = 0; i < crl_count; i++) gnutls_x509_crl_deinit(crls[i]);
    for (unsigned i = 0; i < issuer_count; i++) gnutls_x509_crt_deinit(issuers[i]);
    gnutls_free(crls);
    gnutls_free(issuers);
    return is_signed;
}
