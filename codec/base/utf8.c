#include "agentwire/utf8.h"

/* A table-driven automaton in which a step is one shift: the row of a byte holds, for each state,
 * the next state, and a state is the bit position of its column. The loads do not depend on one
 * another, so text of any language runs at the pace of the shift. All that is not named below leads
 * to REJECT, which is column 0 and never left. */
enum {
    REJECT = 0,
    ACCEPT = 6,  /* between two characters */
    TAIL_1 = 12, /* one, two or three more bytes of 80..bf */
    TAIL_2 = 18,
    TAIL_3 = 24,
    AFTER_E0 = 30, /* then a0..bf, else the form is overlong */
    AFTER_ED = 36, /* then 80..9f, else it is a surrogate */
    AFTER_F0 = 42, /* then 90..bf, else the form is overlong */
    AFTER_F4 = 48, /* then 80..8f, else it is above U+10FFFF */
    STATE_MASK = 63
};

#define FROM(state, next) ((uint64_t)(next) << (state))
#define ASCII             FROM(ACCEPT, ACCEPT)
#define TAIL              (FROM(TAIL_1, ACCEPT) | FROM(TAIL_2, TAIL_1) | FROM(TAIL_3, TAIL_2))
#define TAIL_80           (TAIL | FROM(AFTER_ED, TAIL_1) | FROM(AFTER_F4, TAIL_2))
#define TAIL_90           (TAIL | FROM(AFTER_ED, TAIL_1) | FROM(AFTER_F0, TAIL_2))
#define TAIL_A0           (TAIL | FROM(AFTER_E0, TAIL_1) | FROM(AFTER_F0, TAIL_2))
#define LEAD(next)        FROM(ACCEPT, next)

#define X2(row)  row, row
#define X4(row)  X2(row), X2(row)
#define X8(row)  X4(row), X4(row)
#define X16(row) X8(row), X8(row)
#define X32(row) X16(row), X16(row)

static const uint64_t TABLE[256] = {
    X32(ASCII),       X32(ASCII),       X32(ASCII),       X32(ASCII),        /* 00..7f */
    X16(TAIL_80),     X16(TAIL_90),     X32(TAIL_A0),                        /* 80..bf */
    X2(REJECT),                                                              /* c0 c1: overlong */
    X2(LEAD(TAIL_1)), X4(LEAD(TAIL_1)), X8(LEAD(TAIL_1)), X16(LEAD(TAIL_1)), /* c2..df */
    LEAD(AFTER_E0),                                                          /* e0 */
    X4(LEAD(TAIL_2)), X8(LEAD(TAIL_2)),                                      /* e1..ec */
    LEAD(AFTER_ED),                                                          /* ed */
    X2(LEAD(TAIL_2)),                                                        /* ee ef */
    LEAD(AFTER_F0),                                                          /* f0 */
    X2(LEAD(TAIL_3)), LEAD(TAIL_3),                                          /* f1..f3 */
    LEAD(AFTER_F4),                                                          /* f4 */
    X8(REJECT),       X2(REJECT),       REJECT,                              /* f5..ff */
};

/* Bytes that are looked at together; a whole number of words. */
#define STRIDE    32u
#define HIGH_BITS UINT64_C(0x8080808080808080)

static uint64_t load_word(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static bool stride_is_ascii(const uint8_t *at)
{
    return ((load_word(at) | load_word(at + 8) | load_word(at + 16) | load_word(at + 24)) &
            HIGH_BITS) == 0;
}

/* The state behind a stride that is entered in this state. */
static uint64_t run_stride(const uint8_t *at, uint64_t state)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < STRIDE; i++) {
        state = TABLE[at[i]] >> (state & STATE_MASK);
    }
    return state & STATE_MASK;
}

/* Any number of bytes below a word's, by two loads that overlap. */
static bool short_is_ascii(const uint8_t *data, size_t size)
{
    if (size >= 4) {
        uint32_t first;
        uint32_t last;
        memcpy(&first, data, sizeof first);
        memcpy(&last, data + size - sizeof last, sizeof last);
        return ((first | last) & (uint32_t)HIGH_BITS) == 0;
    }
    return size == 0 || ((data[0] | data[size / 2] | data[size - 1]) & 0x80) == 0;
}

/* Less than a stride is left behind at. The last word reaches back over what was seen before; a
 * high bit there gives a "no" that costs time and nothing else. */
static bool rest_is_ascii(aw_span_t text, size_t at)
{
    uint64_t seen = 0;
    if (text.size < sizeof seen) {
        return short_is_ascii(text.data, text.size);
    }
    for (; text.size - at >= sizeof seen; at += sizeof seen) {
        seen |= load_word(text.data + at);
    }
    seen |= load_word(text.data + text.size - sizeof seen);
    return (seen & HIGH_BITS) == 0;
}

/* The offset of the first ill-formed sequence, known to begin or to be open at `at`: in the bytes
 * before it all is well. Also finds a sequence that the end cuts off; size when there is none of
 * either. */
static size_t locate(aw_span_t text, size_t at, uint64_t state)
{
    size_t start = at;
    if (state != ACCEPT) {
        do {
            start--;
        } while ((text.data[start] & 0xc0) == 0x80);
    }
    for (; at < text.size; at++) {
        state = TABLE[text.data[at]] >> (state & STATE_MASK) & STATE_MASK;
        if (state == REJECT) {
            return start;
        }
        if (state == ACCEPT) {
            start = at + 1;
        }
    }
    return start;
}

/* The whole automaton, from a place between two characters on. */
__attribute__((noinline)) static size_t run(aw_span_t text, size_t at)
{
    uint64_t state = ACCEPT;
    while (text.size - at >= STRIDE) {
        if (state != ACCEPT || !stride_is_ascii(text.data + at)) {
            const uint64_t next = run_stride(text.data + at, state);
            if (next == REJECT) {
                break;
            }
            state = next;
        }
        at += STRIDE;
    }
    return locate(text, at, state);
}

size_t aw_utf8_prefix(aw_span_t text)
{
    size_t at = 0;
    while (text.size - at >= STRIDE && stride_is_ascii(text.data + at)) {
        at += STRIDE;
    }
    if (text.size - at < STRIDE && rest_is_ascii(text, at)) {
        return text.size;
    }
    return run(text, at);
}

bool aw_utf8_valid(aw_span_t text)
{
    return aw_utf8_prefix(text) == text.size;
}
