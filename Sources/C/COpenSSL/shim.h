#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <unistd.h>

#include "push.h"

/* Macros that Swift does not see. */
static inline int drover_ssl_min_tls12(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
}
static inline long drover_ssl_modes(SSL_CTX *context) {
    return SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
}
static inline long drover_ssl_no_sessions(SSL_CTX *context) {
    return SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

/* A file of its own in memory, with these bytes; -1: errno says why. */
int memfd_create(const char *name, unsigned int flags);
static inline int drover_memory_copy(const char *name, const void *bytes, size_t length) {
    int file = memfd_create(name, 1 /* MFD_CLOEXEC */);
    for (size_t done = 0; file >= 0 && done < length;) {
        ssize_t more = write(file, (const char *)bytes + done, length - done);
        if (more > 0) done += (size_t)more;
        else { close(file); file = -1; }
    }
    return file;
}
