#include "drover_json.h"
#include "flat.hpp"

#include <cstring>
#include <new>
#include <string_view>
#include <vector>

#include <simdjson.h>

// More strings than this in one array are not read: a record lists connected devices, not a book.
static constexpr size_t stringsMax = 256;

struct drover_json {
    simdjson::dom::parser parser;
    std::vector<char> padded;
    drover::Keys keys;
    std::vector<std::string_view> strings;
    drover_json_slot *slots;
    // The slots that are not absent: what the next scan has to clear.
    std::vector<drover_json_slot *> filled;

    drover_json(const char *const *texts, size_t count, drover_json_slot *slots) : keys(texts, count), slots(slots) {
        std::memset(slots, 0, count * sizeof(drover_json_slot));
        filled.reserve(count);
    }

    void clear() {
        for (auto *slot : filled) slot->kind = DROVER_JSON_ABSENT;
        filled.clear();
    }
};

extern "C" drover_json *drover_json_new(const char *const *keys, size_t count, drover_json_slot *slots) try {
    return new drover_json(keys, count, slots);
} catch (const std::bad_alloc &) {
    return nullptr;
}

extern "C" void drover_json_free(drover_json *self) { delete self; }

static void readStrings(drover_json *self, const simdjson::dom::array &array, drover_json_slot *slot) {
    slot->first = self->strings.size();
    for (auto element : array) {
        std::string_view text;
        if (element.get_string().get(text) != simdjson::SUCCESS || self->strings.size() >= stringsMax) {
            slot->kind = DROVER_JSON_OTHER;
            return;
        }
        self->strings.push_back(text);
    }
    slot->kind = DROVER_JSON_STRINGS;
    slot->length = self->strings.size() - slot->first;
}

static void readValue(drover_json *self, const simdjson::dom::element &value, drover_json_slot *slot) {
    using simdjson::dom::element_type;
    switch (value.type()) {
    case element_type::INT64:
        slot->kind = DROVER_JSON_INT;
        slot->integer = value.get_int64().value_unsafe();
        break;
    case element_type::DOUBLE:
        slot->kind = DROVER_JSON_DOUBLE;
        slot->number = value.get_double().value_unsafe();
        break;
    case element_type::BOOL:
        slot->kind = DROVER_JSON_BOOL;
        slot->integer = value.get_bool().value_unsafe() ? 1 : 0;
        break;
    case element_type::STRING: {
        std::string_view text = value.get_string().value_unsafe();
        slot->kind = DROVER_JSON_STRING;
        slot->text = reinterpret_cast<const uint8_t *>(text.data());
        slot->length = text.size();
        break;
    }
    case element_type::ARRAY:
        readStrings(self, value.get_array().value_unsafe(), slot);
        break;
    case element_type::NULL_VALUE:
        slot->kind = DROVER_JSON_ABSENT;
        break;
    default:
        slot->kind = DROVER_JSON_OTHER;
    }
}

// True when the bytes are a whole flat object of plain values. False says nothing about them: simdjson judges.
static bool scanFlat(drover_json *self, const uint8_t *bytes, size_t length) {
    self->clear();
    drover::Cursor cursor(bytes, length);
    drover_json_slot unread;
    size_t previous = self->keys.none;
    cursor.skipSpace();
    if (!cursor.take('{')) return false;
    do {
        size_t index;
        cursor.skipSpace();
        if (!cursor.take('"') || !cursor.takeKey(self->keys, previous, &index)) return false;
        bool isKnown = index != self->keys.none;
        if (isKnown) previous = index;
        auto *slot = isKnown ? &self->slots[index] : &unread;
        if (isKnown && slot->kind != DROVER_JSON_ABSENT) return false;
        cursor.skipSpace();
        if (!cursor.take(':')) return false;
        cursor.skipSpace();
        bool isPlain = cursor.takeValue(slot);
        if (isKnown && slot->kind != DROVER_JSON_ABSENT) self->filled.push_back(slot);
        if (!isPlain) return false;
        cursor.skipSpace();
    } while (cursor.take(','));
    if (!cursor.take('}')) return false;
    cursor.skipSpace();
    return cursor.isAtEnd();
}

extern "C" const char *drover_json_scan(drover_json *self, const uint8_t *bytes, size_t length) {
    return scanFlat(self, bytes, length) ? nullptr : drover_json_scan_simdjson(self, bytes, length);
}

extern "C" const char *drover_json_scan_simdjson(drover_json *self, const uint8_t *bytes, size_t length) try {
    self->clear();
    self->strings.clear();
    if (self->padded.size() < length + simdjson::SIMDJSON_PADDING)
        self->padded.resize((length + simdjson::SIMDJSON_PADDING) * 2);
    std::memcpy(self->padded.data(), bytes, length);
    std::memset(self->padded.data() + length, 0, simdjson::SIMDJSON_PADDING);

    // The whole document is checked, not only what is read: a cut or garbled tail must not pass.
    simdjson::dom::element document;
    auto error = self->parser.parse(self->padded.data(), length, false).get(document);
    if (error) return simdjson::error_message(error);
    simdjson::dom::object object;
    if (document.get_object().get(object) != simdjson::SUCCESS) return "not a JSON object";
    for (auto field : object) {
        size_t index = self->keys.slot(reinterpret_cast<const uint8_t *>(field.key.data()), field.key.size());
        if (index == self->keys.none) continue;
        auto *slot = &self->slots[index];
        if (slot->kind != DROVER_JSON_ABSENT) return "a key stands twice";
        readValue(self, field.value, slot);
        if (slot->kind != DROVER_JSON_ABSENT) self->filled.push_back(slot);
    }
    return nullptr;
} catch (const std::bad_alloc &) {
    return "out of memory";
}

extern "C" const uint8_t *drover_json_string(const drover_json *self, size_t index, size_t *length) {
    *length = self->strings[index].size();
    return reinterpret_cast<const uint8_t *>(self->strings[index].data());
}
