#include <curl/curl.h>

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

// The status of the answer; 0 when there is none.
static inline long drover_curl_status(CURL *curl) {
    long status = 0;
    return curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}
