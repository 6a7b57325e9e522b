#ifndef TESTS_UNIT_CODEC_TEA_SUPPORT_H
#define TESTS_UNIT_CODEC_TEA_SUPPORT_H

/* What the tests of tea-protocol share. */
#include "tests/unit/codec/support.h"

#include "agentwire/tea.h"

/** Room for the texts that tests make. */
#define AW_TEST_TEA_ROOM ((size_t)10 << 20)

/** One frozen case of golden/tea. */
typedef struct aw_test_tea_case {
    char name[64];
    aw_tea_kind_t kind;
    aw_span_t input;
    char expect[64];     /* "ok", "invalid:text", … */
    aw_span_t canonical; /* absent unless ok */
} aw_test_tea_case_t;

/** All of them, for the whole program: set-up and tear-down of a group. */
extern aw_test_tea_case_t *aw_test_tea_cases;
extern size_t aw_test_tea_count;
extern aw_arena_t *aw_test_tea_arena;
int aw_test_tea_set_up(void **state);
int aw_test_tea_tear_down(void **state);

/** The case of that name; fails when there is none. */
const aw_test_tea_case_t *aw_test_tea_find(const char *name);

/** "class" or "class:label" of a result. Lives until the next call. */
const char *aw_test_tea_verdict(const aw_tea_result_t *result);

/** What aw_tea_check says of a text, in edition A unless another is given; resets the arena. */
aw_tea_result_t aw_test_tea_check(aw_tea_kind_t kind, aw_tea_edition_t edition, aw_span_t text);

/** Fails unless the text gets this verdict, and where it is "ok", unless its canonical text is its
 * own canonical text. */
void aw_test_tea_expect(aw_tea_kind_t kind, aw_tea_edition_t edition, aw_span_t text,
                        const char *verdict);

/** A text put together as printf does. Lives until the next but three. */
aw_span_t aw_test_tea_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** count times the byte, as a C string without its NUL. Lives until the next but three. */
const char *aw_test_tea_run(char byte, size_t count);

/** An envelope of the kind with this type and payload, all other members good. Members before them
 * replace or add (end them in a comma); commands carry a sessionId unless the type is
 * create_session, events run and turn as the type wants them. */
aw_span_t aw_test_tea_envelope(aw_tea_kind_t kind, const char *members, const char *type,
                               const char *payload);

#define AW_TEST_TEA_ID(last)  "0198a7c4-1d01-7b3f-9f21-5c0de000000" last
#define AW_TEST_TEA_TIMESTAMP "2027-11-05T14:08:31.250Z"

#endif
