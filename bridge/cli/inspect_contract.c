#include "bridge/cli/inspect_contract.h"

#include <stdio.h>
#include <string.h>

#include "bridge/cli/cli.h"
#include "bridge/cli/inspect.h"

static const ab_inspect_contract_t *const CONTRACTS[] = {&ab_inspect_tea, &ab_inspect_inbox};

const ab_inspect_contract_t *ab_inspect_contract_find(const char *name)
{
    for (size_t i = 0; i < sizeof CONTRACTS / sizeof *CONTRACTS; i++) {
        if (strcmp(name, CONTRACTS[i]->name) == 0) {
            return CONTRACTS[i];
        }
    }
    return NULL;
}

bool ab_inspect_member(const json_t *object, const char *name, aw_span_t *ret_text,
                       char *ret_message, size_t message_size)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_string(value)) {
        snprintf(ret_message, message_size, "%s: not there, or no string", name);
        return false;
    }
    *ret_text = aw_span_view(json_string_value(value), json_string_length(value));
    return true;
}

void ab_inspect_trouble(aw_json_writer_t *writer, int status)
{
    aw_json_key_text(writer, "ok");
    aw_json_bool(writer, false);
    aw_json_key_text(writer, "reason");
    aw_json_text(writer, aw_status_name(status));
}

int ab_inspect_complain_status(const char *file, int status)
{
    ab_inspect_complain("%s: %s: %s", file, aw_status_name(status), aw_status_text(status));
    return status == AW_STATUS_NO_MEMORY ? AB_CLI_FATAL : AB_CLI_DATA;
}

bool ab_inspect_contract_answer(aw_json_writer_t *writer, const json_t *object, aw_arena_t *arena,
                                char *ret_message, size_t message_size)
{
    aw_span_t name;
    if (!ab_inspect_member(object, "contract", &name, ret_message, message_size)) {
        return false;
    }
    for (size_t i = 0; i < sizeof CONTRACTS / sizeof *CONTRACTS; i++) {
        if (aw_span_equal(name, aw_span_text_view(CONTRACTS[i]->name))) {
            return CONTRACTS[i]->answer(writer, object, arena, ret_message, message_size);
        }
    }
    snprintf(ret_message, message_size,
             "contract: no such contract; it is one of " AB_INSPECT_CONTRACTS);
    return false;
}
