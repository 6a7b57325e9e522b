#ifndef TESTS_UNIT_HTTP_SUPPORT_H
#define TESTS_UNIT_HTTP_SUPPORT_H

#include <stdatomic.h>
#include <stdio.h>

#include "bridge/http/http.h"

#define PLANTED_LANES   2u
#define PLANTED_SOURCES 2u

/** A status with storage of its own. */
typedef struct planted {
    ab_status_t status;
    ab_lane_status_t lanes[PLANTED_LANES];
    ab_source_status_t sources[PLANTED_SOURCES];
    ab_state_status_t states[1];
    ab_tally_t tallies[3]; /* by partition, of the first source */
    struct ab_tallies_of_source tallies_of[1];
} planted_t;

/** A ready relay with two lanes and two sources in which nearly every number differs from all
 *  others. */
void plant(planted_t *planted);

/** Facts with two sources, "in.one" and a name that needs escaping everywhere. */
extern const ab_http_facts_t planted_facts;

/** A provider of copies of one planted status, and how often it was asked. */
typedef struct source_of_status {
    planted_t planted;
    atomic_uint asked;
    atomic_uint out; /* handed out and not given back */
    atomic_bool no_memory;
} source_of_status_t;

/** A site whose numbers come from source, filled by plant(). */
ab_http_site_t planted_site(source_of_status_t *source);

/** What print writes, with a NUL; the caller frees it. */
char *printed_new(void (*print)(FILE *out, const void *opaque), const void *opaque);

/** The bytes of a file, with a NUL; the caller frees it. Fails the test when it cannot be read. */
char *file_text_new(const char *path);

#endif
