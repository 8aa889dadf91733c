#include <microhttpd.h>

// The socket of a connection, or -1. MHD_get_connection_info is variadic, which Swift does not import.
static inline int drover_connection_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}
