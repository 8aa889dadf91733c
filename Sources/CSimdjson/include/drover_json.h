// A flat JSON object into slots, one a registered key: the narrow door between simdjson (C++) and Swift.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DROVER_JSON_ABSENT = 0, DROVER_JSON_INT, DROVER_JSON_DOUBLE, DROVER_JSON_BOOL, DROVER_JSON_STRING,
       DROVER_JSON_STRINGS, DROVER_JSON_OTHER };

typedef struct {
    int32_t kind;
    int64_t integer;      // INT; BOOL as 0 or 1
    double number;        // DOUBLE
    const uint8_t *text;  // STRING: UTF-8, owned by the scanner until its next scan
    size_t length;        // STRING: bytes; STRINGS: how many
    size_t first;         // STRINGS: index for drover_json_string
} drover_json_slot;

typedef struct drover_json drover_json;

// `keys` are copied; slot i belongs to keys[i]. NULL when memory is out.
drover_json *drover_json_new(const char *const *keys, size_t count, drover_json_slot *slots);
void drover_json_free(drover_json *);

// Fills the slots. NULL when the bytes are one whole valid JSON object, else a fixed text that says what is wrong.
// The bytes are copied first (simdjson reads past the end), so the caller's memory needs no padding.
const char *drover_json_scan(drover_json *, const uint8_t *bytes, size_t length);
const uint8_t *drover_json_string(const drover_json *, size_t index, size_t *length);

#ifdef __cplusplus
}
#endif
