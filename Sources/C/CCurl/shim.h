#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>

// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift does not import.
static inline CURLcode drover_curl_set_text(CURL *curl, CURLoption option, const char *value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode drover_curl_set_number(CURL *curl, CURLoption option, long value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode drover_curl_set_pointer(CURL *curl, CURLoption option, const void *value) {
    return curl_easy_setopt(curl, option, value);
}

// Takes the answer's body or its header lines; fewer bytes than came end the request.
typedef size_t (*drover_curl_sink)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode drover_curl_set_sink(CURL *curl, CURLoption option, drover_curl_sink sink) {
    return curl_easy_setopt(curl, option, sink);
}

// Opens a connection's socket, or not (CURL_SOCKET_BAD).
static inline CURLcode drover_curl_set_opener(CURL *curl, curl_opensocket_callback opener) {
    return curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, opener);
}

// The address that is connected to, as text of at least 46 bytes; its port, or -1 when it is no IP address.
static inline int drover_curl_address(const struct curl_sockaddr *address, char *text) {
    if (address->family == AF_INET) {
        const struct sockaddr_in *found = (const struct sockaddr_in *)&address->addr;
        return inet_ntop(AF_INET, &found->sin_addr, text, 46) ? ntohs(found->sin_port) : -1;
    }
    if (address->family == AF_INET6) {
        const struct sockaddr_in6 *found = (const struct sockaddr_in6 *)&address->addr;
        return inet_ntop(AF_INET6, &found->sin6_addr, text, 46) ? ntohs(found->sin6_port) : -1;
    }
    return -1;
}

static inline curl_socket_t drover_curl_open(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// The status of the answer; 0 when there is none.
static inline long drover_curl_status(CURL *curl) {
    long status = 0;
    return curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}
