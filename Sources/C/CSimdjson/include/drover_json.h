// A flat JSON object into slots, one a registered key: the narrow door between simdjson (C++) and Swift.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DROVER_JSON_ABSENT = 0, DROVER_JSON_INT, DROVER_JSON_DOUBLE, DROVER_JSON_BOOL, DROVER_JSON_STRING,
       DROVER_JSON_STRINGS, DROVER_JSON_OTHER };

// Only what its kind names is to be read: the rest may be left over from an earlier scan.
typedef struct {
    int32_t kind;
    int64_t integer;      // INT; BOOL as 0 or 1
    double number;        // DOUBLE
    const uint8_t *text;  // STRING: UTF-8, in the caller's bytes or the scanner's; until either goes or scans again
    size_t length;        // STRING: bytes; STRINGS: how many
    size_t first;         // STRINGS: index for drover_json_string
} drover_json_slot;

typedef struct drover_json drover_json;

// `keys` are copied; slot i belongs to keys[i]. NULL when memory is out.
drover_json *drover_json_new(const char *const *keys, size_t count, drover_json_slot *slots);
void drover_json_free(drover_json *);

// Fills the slots. NULL when the bytes are one whole valid JSON object, else a fixed text that says what is wrong.
// The caller's memory needs no padding, and strings may point into it: they live until the caller's bytes go or the
// next scan, whichever is first. A flat object of plain values (whole numbers, decimals, ASCII strings without
// escapes, true, false, null) is read in one pass; whatever else the bytes are, simdjson reads and judges them.
const char *drover_json_scan(drover_json *, const uint8_t *bytes, size_t length);
// The same with simdjson alone, which copies the bytes first: what the one pass is tested against.
const char *drover_json_scan_simdjson(drover_json *, const uint8_t *bytes, size_t length);
const uint8_t *drover_json_string(const drover_json *, size_t index, size_t *length);

#ifdef __cplusplus
}
#endif
