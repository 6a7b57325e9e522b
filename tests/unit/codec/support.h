#ifndef TESTS_UNIT_CODEC_SUPPORT_H
#define TESTS_UNIT_CODEC_SUPPORT_H

/* What the tests of the codec share. cmocka wants these before itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "agentwire/envelope.h"
#include "agentwire/field.h"
#include "agentwire/message.h"

/** Largest input that aw_test_hex() makes, bytes. */
#define HEX_MAX 4096

/** Bytes written as hex digits; blanks are ignored. Lives until the eighth call after it. */
aw_span_t aw_test_hex(const char *hex);

/** A copy of bytes that ends right before a page that cannot be read, so that one byte too far is a
 * crash. Lives until the next call. */
aw_span_t aw_test_guarded(aw_span_t bytes);

/** Fails unless bytes are those written in hex. */
void aw_test_expect_hex(aw_span_t bytes, const char *hex);

/** Fails unless two readers say the same of one input. */
void aw_test_expect_same_error(const aw_error_t *error, const aw_error_t *expected);

/** Fails unless the scan and the decoder both refuse the bytes with this status, at this offset and
 * in this field. */
void aw_test_expect_refused(aw_message_type_t type, aw_span_t input, int status, int64_t offset,
                            const char *field);

/** Fails unless scan and decode take the bytes and the deterministic encoding is what hex says. */
void aw_test_expect_encoding(aw_message_type_t type, aw_span_t input, const char *hex);

/** The same on an arena of the caller's, for a decoded message that is looked at further. */
const aw_message_t *aw_test_decode(aw_message_type_t type, aw_span_t input, aw_arena_t *arena);

/** The value of a field, by number. */
aw_value_t aw_test_value(const aw_message_t *message, uint32_t number, size_t index);
size_t aw_test_count(const aw_message_t *message, uint32_t number);

/** A stream of numbers that is the same on every run (splitmix64). */
uint64_t aw_test_random(uint64_t *state);

/** Changes bytes as a fuzzer would, in place: size is at most capacity before and after. */
size_t aw_test_mutate(uint64_t *state, uint8_t *bytes, size_t size, size_t capacity);

/** Calls look_at with each line of a file, a JSON object. Returns how many there were. */
size_t aw_test_lines(const char *path, void (*look_at)(const json_t *line, void *opaque),
                     void *opaque);

/** A member that has to be a string. */
const char *aw_test_text(const json_t *object, const char *key);

/** All of a file of at most 64 KiB. Lives until the next call. */
aw_span_t aw_test_file(const char *path);

/** One frozen input of golden/wire, with what the reference runtime says about it. */
typedef struct aw_test_golden {
    char name[64];
    aw_message_type_t type;
    aw_span_t input;
    bool accepted;
    aw_span_t deterministic; /* where accepted */
    char variant[32];        /* of an accepted AgentEnvelope, "none" when none is set; else "" */
} aw_test_golden_t;

/** All of them; free with aw_test_golden_free(). Fails the test when they cannot be read. */
aw_test_golden_t *aw_test_golden_load(size_t *ret_count);
void aw_test_golden_free(aw_test_golden_t *golden, size_t count);

#endif
