#include <zlib.h>

// inflateInit2 is a macro; 16 takes gzip's header and no other.
static inline int drover_gunzip_begin(z_stream *stream) { return inflateInit2(stream, 15 + 16); }
// Without a header or check sum: what ZIP holds.
static inline int drover_deflate_begin(z_stream *stream) {
    return deflateInit2(stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
}
// 16 writes gzip's header; as small as it gets, since it is done once and sent often.
static inline int drover_gzip_begin(z_stream *stream) {
    return deflateInit2(stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
}
