#ifndef BRIDGE_CONFIG_TABLE_H
#define BRIDGE_CONFIG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What a key holds, how it is read and where it is stored. */
typedef enum ab_key_type {
    AB_KEY_SECTION,        /* a mapping of further keys; or its one word, stored as bool */
    AB_KEY_SOURCES,        /* the list of sources, each a mapping of the `sources[].` rows */
    AB_KEY_PROPERTIES,     /* a mapping of librdkafka names to values: ab_properties_t */
    AB_KEY_PROPERTY,       /* one librdkafka name that must be there */
    AB_KEY_NAME,           /* letters, digits, '.', '_', '-', up to max of them: const char * */
    AB_KEY_TOPIC,          /* a legal topic name: const char * */
    AB_KEY_TOPICS,         /* a list of up to max topics: ab_topic_list_t */
    AB_KEY_PATH,           /* a path that begins with '/', up to max characters: const char * */
    AB_KEY_OPTIONAL_TOPIC, /* the same, or a word: ab_optional_topic_t */
    AB_KEY_ROUTE,          /* a topic or a word: ab_route_t */
    AB_KEY_START,          /* a word or an RFC 3339 time: ab_source_t itself */
    AB_KEY_WORD,           /* one of words, stored as its number: bool or an enum */
    AB_KEY_BOOL,           /* true or false: bool */
    AB_KEY_COUNT,          /* a whole number: unsigned */
    AB_KEY_SIZE,           /* a number with B, KiB, MiB or GiB, in bytes: uint64_t */
    AB_KEY_RATIO,          /* a number between 0 and 1, in thousandths: unsigned */
    AB_KEY_DURATION,       /* a number with ms, s, m or h, in milliseconds: unsigned */
    AB_KEY_LISTEN,         /* ADDRESS:PORT or a word: ab_listen_t */
    AB_KEY_LATER           /* known to later versions and refused by this one */
} ab_key_type_t;

/** One row of the table that is the truth about every key: parsing, messages and
 * docs/configuration.md come from it. */
typedef struct ab_key {
    const char *path; /* "delivery.commit_interval"; keys of a source begin with "sources[]." */
    ab_key_type_t type;
    const char *words;    /* "dead_letter|drop", the first is number 0; NULL without words */
    const char *later;    /* words of later versions, refused with a message that says so */
    const char *fallback; /* the default, read as if written; "<…>" is worked out elsewhere; NULL:
                             the key is required, or, where there is nothing to read, optional */
    uint64_t min, max;    /* of a count, bytes or milliseconds; max of a name: characters */
    size_t offset;        /* into ab_config_t, or ab_source_t for keys of a source */
    size_t size;          /* of what is there, 0: the value is checked and stored nowhere */
    const char *help;     /* one paragraph of Markdown */
} ab_key_t;

/** Most rows, so that an array indexed by row fits on the stack. */
#define AB_KEYS_MAX 64u

/** The table, in the order of the documentation. Static storage. */
const ab_key_t *ab_keys_view(size_t *ret_count);

/** The row of a path, NULL when there is none. */
const ab_key_t *ab_key_find(const char *path);

/** The row called name in the section prefix ("" for the top level), NULL when there is none. */
const ab_key_t *ab_key_find_in(const char *prefix, const char *name);

/** The row's number in the table. */
size_t ab_key_index(const ab_key_t *key);

/** The row's own name, the last part of its path. A view. */
const char *ab_key_name_view(const ab_key_t *key);

/** True when the row stands directly in the section prefix. */
bool ab_key_is_in(const ab_key_t *key, const char *prefix);

/** True when the key must be written. */
bool ab_key_is_required(const ab_key_t *key);

/** The row in the section prefix whose name is nearest to name, NULL when none is near enough to be
 *  what was meant. */
const ab_key_t *ab_key_nearest(const char *prefix, const char *name);

/** The first row of another section with this very name, NULL when there is none. */
const ab_key_t *ab_key_elsewhere(const char *prefix, const char *name);

/** One librdkafka property, or a family of them, that the bridge sets itself. */
typedef struct ab_owned {
    const char
        *name;       /* "group.id"; "enable.auto.*" and "*_cb" stand for all that begin or end so */
    const char *why; /* what governs it instead, for people */
} ab_owned_t;

/** The list of owned properties. Static storage. */
const ab_owned_t *ab_owned_view(size_t *ret_count);

/** The row that covers a property's name, NULL when the operator may set it. */
const ab_owned_t *ab_owned_find(const char *name);

/** True when the property holds a secret by its name, such as sasl.password. */
bool ab_property_is_secret(const char *name);

#endif
