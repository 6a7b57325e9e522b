#ifndef CODEC_TEA_SCHEMA_H
#define CODEC_TEA_SCHEMA_H

#include "agentwire/tea.h"

/* The wire as data. Checking, writing and docs/tea.md all walk these tables; what a row cannot say
 * (rules between members) is named in it and stands in relate.c. */

/** Characters that a name may hold. */
enum aw__tea_chars {
    AW__TEA_LOWER = 1,
    AW__TEA_UPPER = 2,
    AW__TEA_DIGIT = 4,
    AW__TEA_UNDERSCORE = 8,
    AW__TEA_HYPHEN = 16,
    AW__TEA_DOT = 32,
    AW__TEA_SLASH = 64,
    AW__TEA_COLON = 128,
    AW__TEA_PLUS = 256,
    AW__TEA_MIME = 512 /* ';', '=' and the blank */
};

/** Characters that a text must not hold. */
typedef enum aw__tea_refused {
    AW__TEA_REFUSE_NONE,
    AW__TEA_REFUSE_NUL,
    AW__TEA_REFUSE_NUL_CR,
    AW__TEA_REFUSE_CONTROLS /* U+0000 to U+001F, U+007F to U+009F */
} aw__tea_refused_t;

/** What a value has to be, and how it is written. */
typedef enum aw__tea_form {
    AW__TEA_FORM_TEXT,      /* a string of min to max bytes without the refused characters */
    AW__TEA_FORM_BODY,      /* the same, and at most AW_TEA_FETCH_BODY_CHARACTERS_MAX characters */
    AW__TEA_FORM_NAME,      /* a string of min to max bytes, of the first and the rest characters */
    AW__TEA_FORM_WORD,      /* one of the words */
    AW__TEA_FORM_ID,        /* a UUID of version 7 */
    AW__TEA_FORM_SEQUENCE,  /* 64 bits in decimal, as a string */
    AW__TEA_FORM_TIMESTAMP, /* written in UTC */
    AW__TEA_FORM_VERSION,   /* major.minor of major 1 */
    AW__TEA_FORM_AMOUNT,    /* a decimal number as a string */
    AW__TEA_FORM_BASE64,    /* min to max characters of padded Base64 */
    AW__TEA_FORM_IMAGE_TYPE, /* "image/" and one or more characters of rest */
    AW__TEA_FORM_MIME,       /* as NAME, written in lower case */
    AW__TEA_FORM_URL,        /* an absolute http or https URL, written as WHATWG serializes it */
    AW__TEA_FORM_PAGE_URL,   /* the same, written without its fragment */
    AW__TEA_FORM_BOOL,
    AW__TEA_FORM_UINT16, /* an integer token that fits, of min to max */
    AW__TEA_FORM_UINT32,
    AW__TEA_FORM_UINT64,
    AW__TEA_FORM_LIST,      /* min to max items of a rule */
    AW__TEA_FORM_OBJECT,    /* an object */
    AW__TEA_FORM_CHOICE,    /* an object that a tag tells from others */
    AW__TEA_FORM_ARGUMENTS, /* any object of max canonical bytes and a depth */
    AW__TEA_FORM_ANY,       /* any value, null too, of max canonical bytes and a depth */
    AW__TEA_FORM_METADATA,  /* namespaces with any values */
    AW__TEA_FORM_SCHEMA,    /* a JSON schema */
    AW__TEA_FORM_NOTHING,   /* null, or not there; never written */
    AW__TEA_FORM_TAG,       /* the member that chose the object: judged before, written as it is */
    AW__TEA_FORM_MARKER,    /* compatibility: ignored, and written as the type says */
    AW__TEA_FORM_PAYLOAD    /* the object of the envelope's type */
} aw__tea_form_t;

typedef struct aw__tea_rule aw__tea_rule_t;
typedef struct aw__tea_object aw__tea_object_t;
typedef struct aw__tea_choice aw__tea_choice_t;

struct aw__tea_rule {
    const char *name; /* how docs/tea.md calls it */
    aw__tea_form_t form;
    aw_tea_label_t label; /* of what breaks it, the wrong JSON type aside */
    uint64_t min;
    uint64_t max;
    unsigned depth;            /* ARGUMENTS, ANY: containers nested */
    aw__tea_refused_t refused; /* TEXT, BODY */
    unsigned first;            /* NAME, MIME: an aw__tea_chars set */
    unsigned rest;
    const char *const *words;       /* WORD: ends in NULL */
    const aw__tea_rule_t *item;     /* LIST */
    const aw__tea_object_t *object; /* OBJECT */
    const aw__tea_choice_t *choice; /* CHOICE */
    unsigned allowed;               /* CHOICE: a bit a row; others break the rule */
};

typedef enum aw__tea_presence {
    AW__TEA_REQUIRED, /* null is of the wrong type, but where the form takes it */
    AW__TEA_NULLABLE, /* null means absent */
    AW__TEA_OPTIONAL  /* may be absent, null is of the wrong type */
} aw__tea_presence_t;

/** What is written for a member that is absent. */
typedef enum aw__tea_absent {
    AW__TEA_WRITE_NOTHING,
    AW__TEA_WRITE_NULL,
    AW__TEA_WRITE_EMPTY_LIST
} aw__tea_absent_t;

typedef struct aw__tea_field {
    const char *name;
    size_t name_size;
    const aw__tea_rule_t *rule;
    aw__tea_presence_t presence;
    aw__tea_absent_t absent;
    aw_tea_edition_t since; /* EDITION_B: an unknown member before */
} aw__tea_field_t;

/** Rules between the members of one object. */
typedef enum aw__tea_relation {
    AW__TEA_RELATION_NONE,
    AW__TEA_RELATION_COMMAND,     /* sessionId by type */
    AW__TEA_RELATION_EVENT,       /* runId and turnId by type */
    AW__TEA_RELATION_RECORD,      /* branchId by type */
    AW__TEA_RELATION_TOOL_RESULT, /* error exactly when isError */
    AW__TEA_RELATION_FINISHED,    /* the same, and no presentation beside an error */
    AW__TEA_RELATION_CITATION,    /* a whole range or none */
    AW__TEA_RELATION_USAGE,       /* reasoning within output, the sum a safe integer */
    AW__TEA_RELATION_PROGRESS,    /* completedUnits within totalUnits */
    AW__TEA_RELATION_RETRY,       /* attempt within maxRetries */
    AW__TEA_RELATION_CONFIG,      /* one change at least */
    AW__TEA_RELATION_CHANGE,      /* truncation exactly when truncated, lines over all hunks */
    AW__TEA_RELATION_HUNK,        /* the four numbers are those of the lines */
    AW__TEA_RELATION_LINE,        /* line numbers by kind */
    AW__TEA_RELATION_COUNT
} aw__tea_relation_t;

typedef enum aw__tea_strictness {
    AW__TEA_OPEN, /* unknown members are ignored */
    AW__TEA_STRICT_IN_B,
    AW__TEA_STRICT /* unknown members are refused */
} aw__tea_strictness_t;

/** Most members of one object; one bit each. */
#define AW__TEA_FIELDS_MAX 16u

struct aw__tea_object {
    const char *name;
    const aw__tea_field_t *fields; /* sorted by name, which is the order of writing */
    unsigned count;
    const char *order; /* another order of writing, a digit a field; NULL for none */
    aw__tea_strictness_t strictness;
    aw__tea_relation_t relation;
};

/** One row of a choice. */
typedef struct aw__tea_case {
    const aw__tea_object_t *object; /* its name is the tag's value */
    aw_tea_edition_t since;
} aw__tea_case_t;

struct aw__tea_choice {
    const char *name;
    const char *tag; /* the member that decides */
    const aw__tea_case_t *cases;
    unsigned count;
};

/** A type of command, event or record. */
typedef struct aw__tea_type {
    const aw__tea_object_t *payload; /* its name is the type */
    bool session;                    /* commands: sessionId must be there, else it must not */
    bool run;                        /* events: the same of runId */
    bool turn;                       /* events: the same of turnId */
    bool skippable;                  /* events: carries the marker skippable_observation */
    bool branch;                     /* records: branchId must be there and equal the payload's */
} aw__tea_type_t;

/** A kind of envelope. */
typedef struct aw__tea_envelope {
    const aw__tea_object_t *object;
    const aw__tea_type_t *types;
    unsigned count;
} aw__tea_envelope_t;

extern const aw__tea_envelope_t aw__tea_commands;
extern const aw__tea_envelope_t aw__tea_events;
extern const aw__tea_envelope_t aw__tea_records;
extern const aw__tea_envelope_t aw__tea_errors;

/** The table of a kind. */
const aw__tea_envelope_t *aw__tea_envelope_of(aw_tea_kind_t kind);

/** What an event of unknown type must have to be skipped. */
extern const aw__tea_object_t aw__tea_unknown_event;

/** Rules that more than one table uses (schema_rules.c, schema_message.c, schema_tool.c). */
extern const aw__tea_rule_t aw__tea_rule_id;
extern const aw__tea_rule_t aw__tea_rule_sequence;
extern const aw__tea_rule_t aw__tea_rule_timestamp;
extern const aw__tea_rule_t aw__tea_rule_version;
extern const aw__tea_rule_t aw__tea_rule_discriminator;
extern const aw__tea_rule_t aw__tea_rule_tag;
extern const aw__tea_rule_t aw__tea_rule_bool;
extern const aw__tea_rule_t aw__tea_rule_index;
extern const aw__tea_rule_t aw__tea_rule_profile;
extern const aw__tea_rule_t aw__tea_rule_model;
extern const aw__tea_rule_t aw__tea_rule_effort;
extern const aw__tea_rule_t aw__tea_rule_decision;
extern const aw__tea_rule_t aw__tea_rule_command_text;
extern const aw__tea_rule_t aw__tea_rule_reason;
extern const aw__tea_rule_t aw__tea_rule_tool_name;
extern const aw__tea_rule_t aw__tea_rule_provider_call;
extern const aw__tea_rule_t aw__tea_rule_arguments;
extern const aw__tea_rule_t aw__tea_rule_metadata;
extern const aw__tea_rule_t aw__tea_rule_usage;
extern const aw__tea_rule_t aw__tea_rule_cost;
extern const aw__tea_rule_t aw__tea_rule_any_message;
extern const aw__tea_rule_t aw__tea_rule_user_message;
extern const aw__tea_rule_t aw__tea_rule_result_content;
extern const aw__tea_rule_t aw__tea_rule_tool_failure;
extern const aw__tea_rule_t aw__tea_rule_outcome;
extern const aw__tea_rule_t aw__tea_rule_source;
extern const aw__tea_rule_t aw__tea_rule_citation;
extern const aw__tea_rule_t aw__tea_rule_activity;
extern const aw__tea_rule_t aw__tea_rule_presentation;
extern const aw__tea_rule_t aw__tea_rule_output_format;

/** What most names and codes go on with. */
#define AW__TEA_NAME_REST (AW__TEA_LOWER | AW__TEA_DIGIT | AW__TEA_UNDERSCORE)

/** What the tables are written with: how many rows there are, a field's name, and an object with
 * its fields. Everything else in them stands under its own name. */
#define AW__TEA_COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define AW__TEA_NAMED(text) .name = (text), .name_size = sizeof(text) - 1
#define AW__TEA_OBJECT(title, rows, ...)                                                           \
    {                                                                                              \
        .name = (title), .fields = (rows), .count = AW__TEA_COUNT(rows), __VA_ARGS__               \
    }

#endif
