#ifndef BRIDGE_CLI_LETTERS_H
#define BRIDGE_CLI_LETTERS_H

#include "bridge/cli/letter.h"
#include "bridge/kafka/reader.h"

/** All letters of a configuration's errors topics, with what has become of each. Reads quarantine
 *  for the marks of redrives first, then the errors topics, twice where there are any: what does
 * not fit into memory.per_lane is sorted in a temporary file, and nothing is kept of a letter. */
typedef struct ab_letters {
    const ab_config_t *config;
    ab_reader_t *reader;
    ab_read_range_t range; /* of the errors topics, by the time of writing */
    /* Is told of each letter, topic by topic and partition by partition in the order of offsets.
     * Returns false to end. */
    bool (*on_letter)(void *opaque, const ab_full_record_t *record, const ab_letter_view_t *letter,
                      ab_letter_state_t state);
    void *opaque;
    char text[1280]; /* why it failed */
} ab_letters_t;

/** Walks. Returns AB_CLI_OK, or the exit code of a failure, which letters->text explains. */
int ab_letters_walk(ab_letters_t *letters);

#endif
