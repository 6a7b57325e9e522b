#include "codec/inbox/fold.h"

#include <assert.h>
#include <string.h>

/** What stands between two messages that are joined. */
static const char SEPARATOR[] = "\n\n";
enum { SEPARATOR_SIZE = sizeof SEPARATOR - 1 };

/** Adds all elements of a list, which may be absent. */
static void add_all(aw__json_maker_t *maker, aw__json_value_t *list, const aw__json_value_t *from)
{
    if (from == NULL || from->kind != AW__JSON_ARRAY) {
        return;
    }
    for (const aw__json_value_t *at = from->first; at != NULL; at = at->next) {
        aw__json_make_add(maker, list, at);
    }
}

static bool is_empty(const aw__json_value_t *container)
{
    return container == NULL || container->count == 0;
}

/** A list of every payload's elements under a key; left out when there is none. outer is the member
 * of the payload that has the list, NULL for the payload itself. */
static void put_concatenated(aw__json_maker_t *maker, aw__json_value_t *object,
                             const aw__json_value_t *payloads, const char *outer, const char *key)
{
    aw__json_value_t *list = aw__json_make_array(maker);
    for (const aw__json_value_t *at = payloads->first; at != NULL; at = at->next) {
        const aw__json_value_t *holder = outer != NULL ? aw__json_find_text(at, outer) : at;
        add_all(maker, list, aw__json_find_text(holder, key));
    }
    if (!is_empty(list)) {
        aw__json_make_put_text(maker, object, key, list);
    }
}

static void put_task(aw__json_maker_t *maker, aw__json_value_t *object,
                     const aw__json_value_t *payloads)
{
    static const char *const LISTS[] = {"inputRequests", "authorizationEvents", "views"};
    aw__json_value_t *task = aw__json_make_object(maker);
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
        put_concatenated(maker, task, payloads, "task", LISTS[i]);
    }
    if (!is_empty(task)) {
        aw__json_make_put_text(maker, object, "task", aw__json_make_end(maker, task));
    }
}

/** The messages of the payloads from `from` up to and without `to`, all strings, as one; NULL when
 * none of them has a message. */
static const aw__json_value_t *join(aw__json_maker_t *maker, const aw__json_value_t *from,
                                    const aw__json_value_t *to)
{
    size_t size = 0;
    size_t count = 0;
    for (const aw__json_value_t *at = from; at != to; at = at->next) {
        const aw__json_value_t *message = aw__json_find_text(at, "message");
        if (message != NULL) {
            size += message->text.size + (count > 0 ? SEPARATOR_SIZE : 0);
            count++;
        }
    }
    if (count == 0) {
        return NULL;
    }
    uint8_t *text = aw_arena_alloc(maker->arena, size);
    if (text == NULL) {
        aw__json_maker_refuse(maker);
        return NULL;
    }
    uint8_t *end = text;
    for (const aw__json_value_t *at = from; at != to; at = at->next) {
        const aw__json_value_t *message = aw__json_find_text(at, "message");
        if (message == NULL) {
            continue;
        }
        if (message->text.size > 0) {
            end = mempcpy(end, message->text.data, message->text.size);
        }
        if (--count > 0) {
            end = mempcpy(end, SEPARATOR, SEPARATOR_SIZE);
        }
    }
    assert(end == text + size);
    return aw__json_make_string(maker, aw_span_view(text, size));
}

/** Adds a message to a list of parts: a list part by part, a string as one part unless it is empty.
 */
static void add_message(aw__json_maker_t *maker, aw__json_value_t *parts,
                        const aw__json_value_t *message)
{
    if (message == NULL || message->kind != AW__JSON_STRING) {
        add_all(maker, parts, message);
    } else if (message->text.size > 0) {
        aw__json_value_t *part = aw__json_make_object(maker);
        aw__json_make_put_text(maker, part, "type",
                               aw__json_make_string(maker, aw_span_text_view("text")));
        aw__json_make_put_text(maker, part, "text", message);
        aw__json_make_add(maker, parts, aw__json_make_end(maker, part));
    }
}

/** Strings up to the first list of parts are one string; from there on all are parts. */
static void put_message(aw__json_maker_t *maker, aw__json_value_t *object,
                        const aw__json_value_t *payloads)
{
    const aw__json_value_t *at = payloads->first;
    for (; at != NULL; at = at->next) {
        const aw__json_value_t *message = aw__json_find_text(at, "message");
        if (message != NULL && message->kind == AW__JSON_ARRAY) {
            break;
        }
    }
    const aw__json_value_t *joined = join(maker, payloads->first, at);
    if (at == NULL) {
        aw__json_make_put_text(maker, object, "message", joined);
        return;
    }
    aw__json_value_t *parts = aw__json_make_array(maker);
    add_message(maker, parts, joined);
    for (; at != NULL; at = at->next) {
        add_message(maker, parts, aw__json_find_text(at, "message"));
    }
    aw__json_make_put_text(maker, object, "message", parts);
}

const aw__json_value_t *aw__inbox_fold(const aw__json_value_t *payloads, aw__json_maker_t *maker)
{
    static const char *const FOLDED[] = {"context", "inputResponses", "message", "task", NULL};
    if (payloads->count == 1) {
        return payloads->first;
    }
    aw__json_value_t *object = aw__json_make_object(maker);
    for (const aw__json_value_t *at = payloads->first; at != NULL; at = at->next) {
        aw__json_make_take_all(maker, object, at, FOLDED);
    }
    put_concatenated(maker, object, payloads, NULL, "context");
    put_concatenated(maker, object, payloads, NULL, "inputResponses");
    put_message(maker, object, payloads);
    put_task(maker, object, payloads);
    return aw__json_make_end_last(maker, object);
}
