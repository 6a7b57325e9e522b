#ifndef BRIDGE_CLI_INSPECT_CONTRACT_H
#define BRIDGE_CLI_INSPECT_CONTRACT_H

#include <jansson.h>

#include "agentwire/arena.h"
#include "agentwire/json.h"
#include "agentwire/span.h"

/** The contracts that `inspect --contract` and a request's "contract" take. */
#define AB_INSPECT_CONTRACTS "tea, session_inbox"

/** What the command line asks of a contract. */
typedef struct ab_inspect_ask {
    const char *kind;   /* --kind, or NULL */
    const char *target; /* --target, or NULL */
    bool decode;        /* --decode */
    bool encode;        /* --encode */
} ab_inspect_ask_t;

/** One contract as `inspect` knows it. */
typedef struct ab_inspect_contract {
    const char *name;

    /** Refuses what cannot be asked of it. Returns AB_CLI_OK or AB_CLI_USAGE. */
    int (*check)(const ab_inspect_ask_t *ask);

    /** Holds one text to the contract and prints its canonical form on stdout, or what is wrong on
     * stderr. ask has passed check. Returns an exit code. */
    int (*print)(const char *file, const ab_inspect_ask_t *ask, aw_span_t text, aw_arena_t *arena);

    /** Writes the members of the answer to a request of `inspect --batch`. Returns false, with a
     * message for the answer, when it is no request. */
    bool (*answer)(aw_json_writer_t *writer, const json_t *object, aw_arena_t *arena,
                   char *ret_message, size_t message_size);
} ab_inspect_contract_t;

extern const ab_inspect_contract_t ab_inspect_tea;
extern const ab_inspect_contract_t ab_inspect_inbox;

/** The contract of that name, or NULL. */
const ab_inspect_contract_t *ab_inspect_contract_find(const char *name);

/** Answers a request that has a member "contract", as the contract's own function does. */
bool ab_inspect_contract_answer(aw_json_writer_t *writer, const json_t *object, aw_arena_t *arena,
                                char *ret_message, size_t message_size);

/** A string member of a request; false with a message when it is none. */
bool ab_inspect_member(const json_t *object, const char *name, aw_span_t *ret_text,
                       char *ret_message, size_t message_size);

/** Writes the members of the answer where a request could not be worked on. */
void ab_inspect_trouble(aw_json_writer_t *writer, int status);

/** Says on stderr that a text could not be worked on. Returns an exit code. */
int ab_inspect_complain_status(const char *file, int status);

#endif
