#ifndef TESTS_UNIT_CODEC_JSON_SUPPORT_H
#define TESTS_UNIT_CODEC_JSON_SUPPORT_H

/* What the tests of the JSON reader share. */
#include "tests/unit/codec/support.h"

#include "agentwire/arena.h"
#include "codec/json/reader.h"

/** A text with every kind of value, escapes and characters of two and four bytes. */
#define AW_TEST_JSON_DOCUMENT                                                                      \
    "{\"a\":[1,-2.50e+3,{\"b\\u0041\":\"\xc3\xa9\\ud83c\\udf75\\n\"}],\"c\":{\"d\":[[],{}],"       \
    "\"e\":true,\"f\":false,\"g\":null,\"\":\"x\"},\"h\":[{\"i\":0},{\"i\":\"\"}]}"

/** A depth_max of none. */
#define AW_TEST_JSON_NO_LIMIT 0

/** The arena of the whole program, made and freed by these two. */
extern aw_arena_t *aw_test_json_arena;
int aw_test_json_set_up(void **state);
int aw_test_json_tear_down(void **state);

/** The tree of a text that has to be taken. */
const aw__json_value_t *aw_test_json_read(const char *text, unsigned options);

/** Fails unless the bytes are refused with this status, offset and pointer, and nothing is given
 * out. */
void aw_test_json_refuse(aw_span_t text, uint32_t depth_max, unsigned options, int status,
                         int64_t offset, const char *pointer);

#endif
