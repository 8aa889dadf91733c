// What reading a flat object of plain values takes: the table of keys and a cursor over the caller's bytes.
#pragma once
#include "drover_json.h"

#include <cfloat>
#include <cstring>
#include <string>
#include <vector>

namespace drover {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte of a word is taken to be its lowest");
static_assert(FLT_EVAL_METHOD == 0, "a quotient of doubles is taken to be rounded once");

template <typename Word> Word wordAt(const uint8_t *bytes) {
    Word word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

// As memcmp for equality, without the call: keys are short. The last two words may overlap.
inline bool areSame(const uint8_t *a, const uint8_t *b, size_t length) {
    if (length >= 8) {
        for (size_t i = 0; i + 8 < length; i += 8)
            if (wordAt<uint64_t>(a + i) != wordAt<uint64_t>(b + i)) return false;
        return wordAt<uint64_t>(a + length - 8) == wordAt<uint64_t>(b + length - 8);
    }
    if (length >= 4)
        return wordAt<uint32_t>(a) == wordAt<uint32_t>(b) &&
               wordAt<uint32_t>(a + length - 4) == wordAt<uint32_t>(b + length - 4);
    for (size_t i = 0; i < length; i++)
        if (a[i] != b[i]) return false;
    return true;
}

// The slot of each key. Keys are plain: no quote, no escape.
class Keys {
  public:
    Keys(const char *const *keys, size_t count) : none(count) {
        texts.reserve(count);
        following.assign(count + 1, 0);
        size_t places = 4;
        while (places < 4 * count) places *= 2;
        table.assign(places, none);
        for (size_t i = 0; i < count; i++) {
            texts.emplace_back(keys[i]);
            spans.push_back({reinterpret_cast<const uint8_t *>(texts[i].data()), texts[i].size()});
            size_t place = placeOf(spans[i].bytes, spans[i].length);
            while (table[place] != none) place = (place + 1) & (places - 1);
            table[place] = i;
        }
    }

    const size_t none;

    size_t slot(const uint8_t *text, size_t length) const {
        for (size_t place = placeOf(text, length); table[place] != none; place = (place + 1) & (table.size() - 1))
            if (isKey(table[place], text, length)) return table[place];
        return none;
    }

    // The key that came after `slot` the last time (after `none`: that came first) is likely to come again.
    size_t likelyAfter(size_t slot) const { return following[slot]; }
    void learn(size_t slot, size_t next) { following[slot] = next; }

    bool isKey(size_t slot, const uint8_t *text, size_t length) const {
        return spans[slot].length == length && areSame(spans[slot].bytes, text, length);
    }
    size_t length(size_t slot) const { return spans[slot].length; }

  private:
    struct Span {
        const uint8_t *bytes;
        size_t length;
    };
    std::vector<std::string> texts;
    std::vector<Span> spans;
    std::vector<size_t> following;
    std::vector<size_t> table;

    // Length and first eight bytes tell nearly all keys apart; at most a quarter of the table is filled.
    size_t placeOf(const uint8_t *text, size_t length) const {
        uint64_t head = 0;
        if (length >= 8)
            head = wordAt<uint64_t>(text);
        else
            for (size_t i = 0; i < length; i++) head |= uint64_t(text[i]) << 8 * i;
        uint64_t mixed = (head + length) * 0x9E3779B97F4A7C15;
        return (mixed >> 32) & (table.size() - 1);
    }
};

// Reads plain values. Every `take` is false when what stands there is anything else, be it valid or not.
class Cursor {
  public:
    Cursor(const uint8_t *bytes, size_t length) : at(bytes), end(bytes + length) {}

    bool isAtEnd() const { return at == end; }

    void skipSpace() {
        while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) at++;
    }

    bool take(char byte) {
        if (at == end || *at != uint8_t(byte)) return false;
        at++;
        return true;
    }

    // After the opening quote of a key: past its closing quote.
    [[gnu::always_inline]] bool takeKey(Keys &keys, size_t previous, size_t *slot) {
        size_t likely = keys.likelyAfter(previous);
        if (likely != keys.none) {
            size_t length = keys.length(likely);
            if (size_t(end - at) > length && at[length] == '"' && keys.isKey(likely, at, length)) {
                at += length + 1;
                *slot = likely;
                return true;
            }
        }
        const uint8_t *text = at;
        size_t length;
        if (!takeText(&length)) return false;
        *slot = keys.slot(text, length);
        if (*slot != keys.none) keys.learn(previous, *slot);
        return true;
    }

    [[gnu::always_inline]] bool takeValue(drover_json_slot *slot) {
        if (at == end) return false;
        switch (*at) {
        case '"':
            at++;
            slot->text = at;
            slot->kind = DROVER_JSON_STRING;
            return takeText(&slot->length);
        case 't':
            slot->integer = 1;
            slot->kind = DROVER_JSON_BOOL;
            return takeWord("true", 4);
        case 'f':
            slot->integer = 0;
            slot->kind = DROVER_JSON_BOOL;
            return takeWord("false", 5);
        case 'n':
            slot->kind = DROVER_JSON_ABSENT;
            return takeWord("null", 4);
        default:
            return takeNumber(slot);
        }
    }

  private:
    const uint8_t *at;
    const uint8_t *const end;

    bool takeWord(const char *word, size_t length) {
        if (size_t(end - at) < length || std::memcmp(at, word, length) != 0) return false;
        at += length;
        return true;
    }

    // After an opening quote: ASCII without escapes and control characters, past the closing quote.
    [[gnu::always_inline]] bool takeText(size_t *length) {
        const uint8_t *start = at;
        for (; end - at >= 8; at += 8) {
            if (uint64_t special = specialBytes(wordAt<uint64_t>(at))) {
                at += __builtin_ctzll(special) / 8;
                return closeText(start, length);
            }
        }
        while (at != end && *at >= ' ' && *at < 0x80 && *at != '"' && *at != '\\') at++;
        return closeText(start, length);
    }

    bool closeText(const uint8_t *start, size_t *length) {
        *length = size_t(at - start);
        return take('"');
    }

    // The high bit of each byte that is a quote, a backslash, a control character or not ASCII. A borrow can set
    // bits above the first such byte, never below it, so the lowest bit is exact (Warren, Hacker's Delight, 6-1).
    static uint64_t specialBytes(uint64_t word) {
        const uint64_t ones = 0x0101010101010101;
        uint64_t quotes = (word ^ ones * '"') - ones;
        uint64_t backslashes = (word ^ ones * '\\') - ones;
        uint64_t controls = word - ones * ' ';
        return (quotes | backslashes | controls | word) & ones * 0x80;
    }

    // Appends digits to the mantissa; how many there were. Beyond 18 the mantissa is not to be used.
    size_t takeDigits(uint64_t *mantissa) {
        const uint8_t *start = at;
        uint64_t value = *mantissa;
        for (; at != end && unsigned(*at - '0') < 10; at++) value = value * 10 + (*at - '0');
        *mantissa = value;
        return size_t(at - start);
    }

    // A double is one correctly rounded division of two exact doubles: Clinger, "How to read floating point
    // numbers accurately" (PLDI 1990). An exponent is left standing, so what must follow a value is not found.
    [[gnu::always_inline]] bool takeNumber(drover_json_slot *slot) {
        static const double powersOfTen[] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                             1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
        bool isNegative = take('-');
        const uint8_t *start = at;
        uint64_t mantissa = 0;
        size_t whole = takeDigits(&mantissa);
        if (whole == 0 || (whole > 1 && *start == '0')) return false;
        bool isWhole = !take('.');
        size_t fraction = isWhole ? 0 : takeDigits(&mantissa);
        if (whole + fraction > 18 || (isNegative && mantissa == 0)) return false;
        int64_t value = isNegative ? -int64_t(mantissa) : int64_t(mantissa);
        if (isWhole) {
            slot->integer = value;
            slot->kind = DROVER_JSON_INT;
            return true;
        }
        if (fraction == 0 || mantissa >= uint64_t(1) << 53) return false;
        slot->number = double(value) / powersOfTen[fraction];
        slot->kind = DROVER_JSON_DOUBLE;
        return true;
    }
};

} // namespace drover
