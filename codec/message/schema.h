#ifndef CODEC_MESSAGE_SCHEMA_H
#define CODEC_MESSAGE_SCHEMA_H

#include "agentwire/field.h"

/** Field numbers have room below this one. */
#define AW__NUMBERS_MAX 16u

/** One message: the kind of each field number as a character of schema.def, 0 where there is no
 * field. */
typedef struct aw__row {
    char kinds[AW__NUMBERS_MAX];
} aw__row_t;

_Static_assert(sizeof(aw__row_t) == 16, "a row is one load");
_Static_assert(AW_FIELD_NUMBER_MAX < AW__NUMBERS_MAX, "every number has its place in a row");

/* Hidden, so that the address is known without a look-up; -fvisibility does not say it of data that
 * is only declared. */
#define AW__DATA extern __attribute__((visibility("hidden"))) const

AW__DATA aw__row_t aw__rows[AW_MESSAGE_COUNT];

/** Which message a field of kind m, M or P holds. */
AW__DATA uint8_t aw__children[AW_MESSAGE_COUNT][AW__NUMBERS_MAX];

/** The kind of a field, 0 when the message has none of that number. */
static inline char aw__kind(aw_message_type_t type, uint32_t number)
{
    return number < AW__NUMBERS_MAX ? aw__rows[type].kinds[number] : '\0';
}

/** The name of a field, NULL when there is none of that number. Static storage. */
const char *aw__field_name(aw_message_type_t type, uint32_t number);

/** True for a member of AgentEnvelope.payload, the only oneof. */
static inline bool aw__in_oneof(aw_message_type_t type, uint32_t number)
{
    return type == AW_MESSAGE_AGENT_ENVELOPE && number >= AW_FIELD_AGENT_ENVELOPE_EXTERNAL_EVENT &&
           number <= AW_FIELD_AGENT_ENVELOPE_EXPORT_REQUEST;
}

#endif
