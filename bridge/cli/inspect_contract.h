#ifndef BRIDGE_CLI_INSPECT_CONTRACT_H
#define BRIDGE_CLI_INSPECT_CONTRACT_H

#include <jansson.h>

#include "agentwire/arena.h"
#include "agentwire/json.h"
#include "agentwire/span.h"

/** The contracts that `inspect --contract` and a request's "contract" take. */
#define AB_INSPECT_CONTRACTS "tea"

/** Writes the members of the answer to a request of `inspect --batch` that has a member "contract".
 * Returns false, with a message for the answer, when it is no request. */
bool ab_inspect_contract_answer(aw_json_writer_t *writer, const json_t *object, aw_arena_t *arena,
                                char *ret_message, size_t message_size);

/** True for a contract's name. */
bool ab_inspect_contract_find(const char *name);

/** Holds one text to tea-protocol and prints its canonical form on stdout, or what is wrong on
 * stderr. kind is a kind's name, or NULL to find it out. Returns an exit code. */
int ab_inspect_contract_print(const char *file, const char *kind, aw_span_t text,
                              aw_arena_t *arena);

#endif
