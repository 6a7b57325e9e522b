#include "codec/message/schema.h"

#include <string.h>

/* Number 0 does not occur, so that a row begins with a blank. */
const aw__row_t aw__rows[AW_MESSAGE_COUNT] = {
#define AW__ROW(message, kinds, descriptor) [AW_MESSAGE_##message] = {" " kinds},
#define AW__CHILD(message, number, child)
#include "codec/message/schema.def"
#undef AW__ROW
#undef AW__CHILD
};

#define AW__ROW(message, kinds, descriptor)                                                        \
    _Static_assert(sizeof(" " kinds) <= AW__NUMBERS_MAX, #message " has a number above 14");
#define AW__CHILD(message, number, child)
#include "codec/message/schema.def"
#undef AW__ROW
#undef AW__CHILD

const uint8_t aw__children[AW_MESSAGE_COUNT][AW__NUMBERS_MAX] = {
#define AW__ROW(message, kinds, descriptor)
#define AW__CHILD(message, number, child) [AW_MESSAGE_##message][number] = AW_MESSAGE_##child,
#include "codec/message/schema.def"
#undef AW__ROW
#undef AW__CHILD
};

typedef struct field_names {
    const char *name;
    const char *json_name;
} field_names_t;

static const field_names_t FIELD_NAMES[AW_MESSAGE_COUNT][AW__NUMBERS_MAX] = {
#define FIELD_NAMES_OF(message, field, number, name, json_name)                                    \
    [AW_MESSAGE_##message][number] = {name, json_name},
    AW_FIELD_LIST(FIELD_NAMES_OF)
#undef FIELD_NAMES_OF
};

static const char *const MESSAGE_NAMES[AW_MESSAGE_COUNT] = {
#define MESSAGE_NAME_OF(id, name) name,
    AW_MESSAGE_LIST(MESSAGE_NAME_OF)
#undef MESSAGE_NAME_OF
};

const char *aw_message_type_name(aw_message_type_t type)
{
    return (unsigned)type < AW_MESSAGE_COUNT ? MESSAGE_NAMES[type] : "unknown";
}

int aw_message_type_find(const char *name, aw_message_type_t *ret_type)
{
    static const char package[] = "beam_agents.v1.";
    if (strncmp(name, package, sizeof package - 1) == 0) {
        name += sizeof package - 1;
    }
    for (unsigned type = 0; type < AW_MESSAGE_COUNT; type++) {
        if (strcmp(name, MESSAGE_NAMES[type]) == 0) {
            *ret_type = (aw_message_type_t)type;
            return AW_OK;
        }
    }
    return AW_STATUS_UNKNOWN_TYPE;
}

const char *aw__field_name(aw_message_type_t type, uint32_t number)
{
    return number < AW__NUMBERS_MAX ? FIELD_NAMES[type][number].name : NULL;
}

static aw_kind_t public_kind(char kind)
{
    switch (kind) {
    case 's':
    case 'S':
        return AW_KIND_STRING;
    case 'b':
        return AW_KIND_BYTES;
    case 'i':
        return AW_KIND_INT64;
    case 'u':
        return AW_KIND_UINT32;
    case 't':
        return AW_KIND_BOOL;
    case 'e':
        return AW_KIND_ENUM;
    default:
        return AW_KIND_MESSAGE;
    }
}

bool aw_field_get(aw_message_type_t type, uint32_t number, aw_field_t *ret_field)
{
    if ((unsigned)type >= AW_MESSAGE_COUNT || number == 0) {
        return false;
    }
    char kind = aw__kind(type, number);
    if (kind == '\0') {
        return false;
    }
    *ret_field = (aw_field_t){
        .message = type,
        .number = number,
        .name = FIELD_NAMES[type][number].name,
        .json_name = FIELD_NAMES[type][number].json_name,
        .kind = public_kind(kind),
        .type = type,
        .repeated = kind == 'S' || kind == 'M' || kind == 'P',
        .map = kind == 'P',
        .oneof = aw__in_oneof(type, number),
    };
    if (ret_field->kind == AW_KIND_MESSAGE) {
        ret_field->type = (aw_message_type_t)aw__children[type][number];
    }
    return true;
}
