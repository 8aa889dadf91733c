#include <zlib.h>

// inflateInit2 is a macro; 16 takes gzip's header and no other.
static inline int drover_gunzip_begin(z_stream *stream) { return inflateInit2(stream, 15 + 16); }
