#include <gnutls/gnutls.h>
#include <microhttpd.h>

// The socket of a connection, or -1. MHD_get_connection_info is variadic, which Swift does not import.
static inline int drover_connection_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

// The TLS session of a connection, or NULL over plain HTTP.
static inline gnutls_session_t drover_connection_session(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? (gnutls_session_t) info->tls_session : NULL;
}
