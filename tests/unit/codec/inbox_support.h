#ifndef TESTS_UNIT_CODEC_INBOX_SUPPORT_H
#define TESTS_UNIT_CODEC_INBOX_SUPPORT_H

/* What the tests of the session inbox share. */
#include "tests/unit/codec/support.h"

#include "agentwire/inbox.h"

/** The arena of the whole program, made and freed by these two; reset it at will. */
extern aw_arena_t *aw_test_inbox_arena;
int aw_test_inbox_set_up(void **state);
int aw_test_inbox_tear_down(void **state);

/** Decodes a text. The result has to be there; it lives until the next call, the output as long as
 * the arena's. */
const aw_inbox_result_t *aw_test_inbox_decode(const char *text, aw_span_t *ret_output);
const aw_inbox_result_t *aw_test_inbox_encode(const char *command, aw_inbox_target_t target,
                                              aw_span_t *ret_output);

/** Fails unless the text decodes, or encodes, to exactly this output. */
void aw_test_inbox_expect_decoded(const char *text, const char *output);
void aw_test_inbox_expect_encoded(const char *command, aw_inbox_target_t target,
                                  const char *output);

/** Fails unless it is refused with this class and pointer, nothing is put out, and the message
 * holds the words. */
void aw_test_inbox_refuse_decoded(const char *text, aw_inbox_class_t outcome, const char *pointer,
                                  const char *words);
void aw_test_inbox_refuse_encoded(const char *command, aw_inbox_class_t outcome,
                                  const char *pointer, const char *words);

#endif
