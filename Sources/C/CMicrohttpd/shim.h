#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

// The socket of a connection, or -1. MHD_get_connection_info is variadic, which Swift does not import.
static inline int drover_connection_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

// Bytes that have ever arrived at a TCP socket; 0: the kernel does not say. Of struct tcp_info in linux/tcp.h, whose names those of the
// C library's own header hide, tcpi_bytes_received stands at 128.
static inline unsigned long long drover_bytes_received(int socket) {
    unsigned char info[136];
    socklen_t size = sizeof info;
    unsigned long long bytes = 0;
    if (getsockopt(socket, 6 /* IPPROTO_TCP */, 11 /* TCP_INFO */, info, &size) == 0 && size == sizeof info)
        memcpy(&bytes, info + 128, sizeof bytes);
    return bytes;
}

// Where the library has read to in the head of a request, and whether all before it is as it must be.
struct drover_head {
    const char *at, *end;
    int is_whole;
};

// The CR and LF that the library has made zeros of.
static inline void drover_line_ended(struct drover_head *head) {
    if (head->end - head->at < 2 || head->at[0] != 0 || head->at[1] != 0) head->is_whole = 0;
    else head->at += 2;
}

static inline enum MHD_Result drover_walk_header(
    void *into, enum MHD_ValueKind kind, const char *name, const char *value) {
    struct drover_head *head = (struct drover_head *) into;
    (void) kind;
    if (!value || name != head->at || value <= name + strlen(name) || value > head->end) {
        head->is_whole = 0;
        return MHD_NO;
    }
    // Between them a colon that is a zero now, and blanks.
    for (const char *at = name + strlen(name) + 1; at < value; at++)
        if (*at != ' ' && *at != '\t') head->is_whole = 0;
    head->at = value + strlen(value);
    drover_line_ended(head);
    return MHD_YES;
}

// 1: the library hands out every byte of the request line and the headers. 0: one was NUL, and what it hands out ends there; or a line ended
// by LF alone, or a header went on in a second line, which servers read in several ways (RFC 9112, 2.2 and 5.2). Its texts still stand in the
// buffer that they were read into, line ends and separators as zeros (libmicrohttpd 0.9.75). To be asked with the headers, not later.
static inline int drover_head_is_whole(
    struct MHD_Connection *connection, const char *method, const char *target, size_t target_bytes, const char *version) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    struct drover_head head = {.is_whole = 1};
    if (!info || target != method + strlen(method) + 1 || version != target + target_bytes + 1) return 0;
    head.at = version + strlen(version);
    head.end = method + info->header_size;
    drover_line_ended(&head);
    MHD_get_connection_values(connection, MHD_HEADER_KIND, drover_walk_header, &head);
    drover_line_ended(&head);
    return head.is_whole && head.at == head.end;
}

// 1: a piece of a body stands behind the line of its chunk, and that line, or the chunk before it, ended by LF without CR. What the library
// has read before it is in front of `data`: at the begin of its buffer that is the end of the head, a zero.
static inline int drover_chunk_is_bare(const char *data) {
    if (data[-1] != '\n') return 0;
    if (data[-2] != '\r') return 1;
    const char *at = data - 3;
    while (*at != 0 && *at != '\n') at--;
    return *at == '\n' && at[-1] != '\r';
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
