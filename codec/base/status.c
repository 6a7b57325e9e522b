#include "agentwire/status.h"

const char *aw_status_name(int status)
{
    switch (status) {
#define AW_STATUS_NAME(id, number, name, text)                                                     \
    case AW_STATUS_##id:                                                                           \
        return name;
        AW_STATUS_LIST(AW_STATUS_NAME)
#undef AW_STATUS_NAME
    default:
        return "unknown";
    }
}

const char *aw_status_text(int status)
{
    switch (status) {
#define AW_STATUS_TEXT(id, number, name, text)                                                     \
    case AW_STATUS_##id:                                                                           \
        return text;
        AW_STATUS_LIST(AW_STATUS_TEXT)
#undef AW_STATUS_TEXT
    default:
        return "a status that this build does not know";
    }
}
