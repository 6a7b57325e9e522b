#ifndef BRIDGE_CLI_BATCH_H
#define BRIDGE_CLI_BATCH_H

#include <jansson.h>

#include "agentwire/json.h"
#include "bridge/cli/input.h"

/** Most bytes of one line of a batch. */
#define AB_BATCH_LINE_MAX ((size_t)16 << 20)
/** Most bytes of memory to answer one request. */
#define AB_BATCH_MEMORY_MAX ((size_t)2 << 30)
/** Longest message of a bad request, NUL included. */
#define AB_BATCH_MESSAGE_MAX 512u

/** Writes the members of the answer to one request. arena is empty before and reset behind. Returns
 * false, with nothing written and ret_message filled in, when the object is no request. */
typedef bool (*ab_batch_answer_t)(aw_json_writer_t *writer, const json_t *object, aw_arena_t *arena,
                                  char ret_message[AB_BATCH_MESSAGE_MAX]);

/** Answers the requests in fd, a JSON object a line, line by line on stdout until it ends. Returns
 * an exit code. */
int ab_batch_run(const ab_input_t *input, int fd, ab_batch_answer_t answer);

/** Reads the member "type" of a request that has one other, both strings. Returns false, and fills
 * in ret_message, when it is no such request. */
bool ab_batch_read_type(const json_t *object, const char *other, aw_message_type_t *ret_type,
                        char *ret_message, size_t message_size);

/** The members of an answer that tells a status. */
void ab_batch_write_failure(aw_json_writer_t *writer, int status, const aw_error_t *error);

#endif
