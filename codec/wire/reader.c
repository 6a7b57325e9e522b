#include "codec/wire/reader.h"

int aw__defect_status(aw__defect_t defect)
{
    static const int statuses[] = {
#define AW__DEFECT_STATUS(id, status, text) AW_STATUS_##status,
        AW__DEFECT_LIST(AW__DEFECT_STATUS)
#undef AW__DEFECT_STATUS
    };
    return statuses[defect];
}

const char *aw__defect_text(aw__defect_t defect)
{
    static const char *const texts[] = {
#define AW__DEFECT_TEXT(id, status, text) text,
        AW__DEFECT_LIST(AW__DEFECT_TEXT)
#undef AW__DEFECT_TEXT
    };
    return texts[defect];
}

aw__long_varint_t aw__read_long_varint(const uint8_t *at, const uint8_t *end)
{
    const size_t left = (size_t)(end - at);
    const uint32_t most = left < AW__VARINT_MAX ? (uint32_t)left : AW__VARINT_MAX;
    uint64_t value = 0;
    for (uint32_t i = 0; i < most; i++) {
        value |= (uint64_t)(at[i] & 0x7f) << (7 * i);
        if (at[i] < 0x80) {
            return (aw__long_varint_t){value, i + 1, AW__DEFECT_NONE};
        }
    }
    return (aw__long_varint_t){
        0, 0, most == AW__VARINT_MAX ? AW__DEFECT_VARINT_LONG : AW__DEFECT_VARINT_TRUNCATED};
}

aw__long_tag_t aw__read_long_tag(const uint8_t *at, const uint8_t *end)
{
    const size_t left = (size_t)(end - at);
    const uint32_t most = left < AW__TAG_MAX ? (uint32_t)left : AW__TAG_MAX;
    uint32_t tag = 0;
    for (uint16_t i = 0; i < most; i++) {
        if (i == AW__TAG_MAX - 1 && at[i] > 0x0f) {
            break;
        }
        tag |= (uint32_t)(at[i] & 0x7f) << (7 * i);
        if (at[i] < 0x80) {
            const bool named = AW__TAG_NUMBER(tag) > 0;
            return (aw__long_tag_t){tag, (uint16_t)(i + 1),
                                    named ? AW__DEFECT_NONE : AW__DEFECT_TAG_ZERO};
        }
    }
    return (aw__long_tag_t){0, 0,
                            most == AW__TAG_MAX ? AW__DEFECT_TAG_LONG : AW__DEFECT_TAG_TRUNCATED};
}

/* The groups that are open, outermost first. */
typedef struct open_groups {
    uint32_t numbers[AW__NESTING_MAX];
    const uint8_t *starts[AW__NESTING_MAX];
    unsigned count;
    unsigned most; /* what the messages around leave of the limit */
} open_groups_t;

static aw__defect_t open_group(open_groups_t *groups, const uint8_t *item, uint32_t number)
{
    if (groups->count == groups->most) {
        return AW__DEFECT_NESTING;
    }
    groups->numbers[groups->count] = number;
    groups->starts[groups->count] = item;
    groups->count++;
    return AW__DEFECT_NONE;
}

static aw__defect_t close_group(open_groups_t *groups, uint32_t number)
{
    if (groups->numbers[groups->count - 1] != number) {
        return AW__DEFECT_GROUP_END_OTHER;
    }
    groups->count--;
    return AW__DEFECT_NONE;
}

aw__defect_t aw__skip_group(aw__reader_t *reader, const uint8_t *item, uint32_t number,
                            unsigned nesting)
{
    open_groups_t groups;
    groups.count = 0;
    groups.most = AW__NESTING_MAX - nesting;
    aw__defect_t defect = open_group(&groups, item, number);
    if (defect != AW__DEFECT_NONE) {
        reader->at = item;
        return defect;
    }
    while (groups.count > 0) {
        item = reader->at;
        if (item == reader->end) {
            reader->at = groups.starts[groups.count - 1];
            return AW__DEFECT_GROUP_OPEN;
        }
        uint32_t tag;
        defect = aw__read_tag(reader, &tag);
        if (defect != AW__DEFECT_NONE) {
            return defect;
        }
        bool names_tag = true;
        switch (AW__TAG_WIRE(tag)) {
        case AW__WIRE_GROUP_START:
            defect = open_group(&groups, item, AW__TAG_NUMBER(tag));
            break;
        case AW__WIRE_GROUP_END:
            defect = close_group(&groups, AW__TAG_NUMBER(tag));
            break;
        default:
            defect = aw__skip_plain(reader, tag);
            names_tag = defect == AW__DEFECT_WIRE_TYPE;
            break;
        }
        if (defect != AW__DEFECT_NONE) {
            reader->at = names_tag ? item : reader->at;
            return defect;
        }
    }
    return AW__DEFECT_NONE;
}
