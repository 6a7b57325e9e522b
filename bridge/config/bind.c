#include "bridge/config/bind.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "bridge/config/expand.h"
#include "bridge/config/value.h"

/* Longest path of a row, NUL included. */
#define ROW_PATH_MAX 64

typedef struct binder {
    ab_config_t *config;
    ab_config_memory_t *memory;
    ab_written_t *written; /* of what is being read, the top or one source */
    void *target;          /* the ab_config_t or ab_source_t that offsets count from */
    ab_findings_t *findings;
    const ab_node_t *root;
} binder_t;

/* Where a row's value is in the target. */
static void *slot_of(const binder_t *binder, const ab_key_t *key)
{
    return (char *)binder->target + key->offset;
}

static void store_number(void *slot, size_t size, uint64_t number)
{
    if (size == sizeof(bool)) {
        *(bool *)slot = number != 0;
    } else if (size == sizeof(uint32_t)) {
        *(uint32_t *)slot = (uint32_t)number;
    } else {
        assert(size == sizeof(uint64_t));
        *(uint64_t *)slot = number;
    }
}

static void store(const binder_t *binder, const ab_key_t *key, const ab_value_t *value)
{
    void *slot = slot_of(binder, key);
    switch (key->type) {
    case AB_KEY_NAME:
    case AB_KEY_PATH:
    case AB_KEY_TOPIC:
        *(const char **)slot = value->text;
        break;
    case AB_KEY_OPTIONAL_TOPIC:
        *(ab_optional_topic_t *)slot = (ab_optional_topic_t){value->text, value->text == NULL};
        break;
    case AB_KEY_ROUTE:
        *(ab_route_t *)slot = (ab_route_t){value->route, value->text};
        break;
    case AB_KEY_START: {
        ab_source_t *source = binder->target;
        source->start = value->start;
        source->start_time_ms = value->start_time_ms;
        break;
    }
    case AB_KEY_LISTEN:
        *(ab_listen_t *)slot = value->listen;
        break;
    default:
        if (key->size > 0) {
            store_number(slot, key->size, value->number);
        }
        break;
    }
}

/* The default goes the way of a value that was written; the table's own tests hold that none is
 * wrong. */
static void store_default(const binder_t *binder, const ab_key_t *key, const ab_place_t *place)
{
    ab_value_t value;
    if (key->fallback != NULL && key->fallback[0] != '<' &&
        ab_value_parse(key, key->fallback, place, &value)) {
        store(binder, key, &value);
    }
}

/* Turns a place into that of a value. */
static void move_to(ab_place_t *place, const ab_node_t *node)
{
    place->line = node->line;
    place->column = node->column;
}

/* What a reader of the message calls a node. */
static const char *kind_text(const ab_node_t *node)
{
    return node->kind == AB_NODE_MAP    ? "a mapping of keys"
           : node->kind == AB_NODE_LIST ? "a list"
           : ab_node_is_null(node)      ? "nothing"
                                        : "a single value";
}

static void bind_value(const binder_t *binder, const ab_key_t *key, const ab_node_t *node,
                       ab_place_t place)
{
    store_default(binder, key, &place);
    if (node == NULL) {
        if (ab_key_is_required(key)) {
            ab_place_mistake(&place, "required, and missing");
        }
        return;
    }
    move_to(&place, node);
    if (node->reported) {
        return;
    }
    if (node->kind != AB_NODE_SCALAR || ab_node_is_null(node)) {
        ab_place_mistake(&place, "expected a single value, found %s%s", kind_text(node),
                         key->fallback != NULL ? ": remove the key for its default" : "");
        return;
    }
    const char *text = ab_expand(binder->memory, node->text, &place);
    ab_value_t value;
    if (text != NULL && ab_value_parse(key, text, &place, &value)) {
        store(binder, key, &value);
    }
}

static void bind_property(const ab_node_t *node, ab_config_memory_t *memory, bool one_client,
                          ab_place_t place, ab_properties_t *properties)
{
    bool legal = ab_place_enter(&place, node->name);
    place.line = node->name_line;
    place.column = node->name_column;
    const ab_owned_t *owned = ab_owned_find(node->name);
    if (!legal) {
        ab_place_mistake(&place,
                         "no name of a property: expected `name: value`, with a blank behind "
                         "the colon");
    } else if (owned != NULL) {
        ab_place_mistake(&place, "not for the file: %s", owned->why);
    } else if (one_client && strcmp(node->name, "bootstrap.servers") == 0) {
        ab_place_mistake(&place, "write it under `kafka`: all clients use one cluster");
    } else if (!node->reported && (node->kind != AB_NODE_SCALAR || ab_node_is_null(node))) {
        move_to(&place, node);
        ab_place_mistake(&place, "expected a single value, found %s", kind_text(node));
    } else if (!node->reported) {
        move_to(&place, node);
        const char *value = ab_resolve(memory, node->text, &place);
        const char *name = ab_config_memory_text(memory, node->name, strlen(node->name));
        if (value == NULL || name == NULL) {
            return;
        }
        if (value[0] == '\0' && strcmp(name, "bootstrap.servers") == 0) {
            ab_place_mistake(&place, "expected host:port of a broker, found nothing");
        }
        if (ab_property_is_secret(name) && !ab_is_indirect(node->text)) {
            ab_place_warning(&place, "a secret written into the file: `file:/path` and `env:NAME` "
                                     "keep it out");
        }
        properties->items[properties->count++] = (ab_property_t){
            name, value, node->name_line, node->name_column, ab_is_indirect(node->text)};
    }
}

/* Reads the members of a mapping of properties. */
static void bind_members(const binder_t *binder, const ab_key_t *key, const ab_node_t *node,
                         bool one_client, const ab_place_t *place)
{
    ab_properties_t *properties = slot_of(binder, key);
    properties->items =
        ab_config_memory_alloc(binder->memory, (node->count + 1) * sizeof(properties->items[0]));
    if (properties->items == NULL) {
        return;
    }
    for (const ab_node_t *child = node->child; child != NULL; child = child->next) {
        bind_property(child, binder->memory, one_client, *place, properties);
    }
}

static void bind_properties(const binder_t *binder, const ab_key_t *key, const ab_node_t *node,
                            ab_place_t place)
{
    const ab_key_t *required = ab_key_find("kafka.bootstrap.servers");
    bool one_client = strcmp(key->path, "kafka") != 0;
    bool found = false;
    if (node != NULL) {
        move_to(&place, node);
        if (node->reported) {
            return;
        }
        if (node->kind != AB_NODE_MAP && !ab_node_is_null(node)) {
            ab_place_mistake(&place, "expected a mapping of librdkafka's properties, found %s",
                             kind_text(node));
            return;
        }
        if (node->count > AB_CONFIG_PROPERTIES_MAX) {
            ab_place_mistake(&place, "more than %u properties", AB_CONFIG_PROPERTIES_MAX);
            return;
        }
        for (const ab_node_t *child = node->child; child != NULL; child = child->next) {
            found = found || strcmp(child->name, ab_key_name_view(required)) == 0;
        }
        bind_members(binder, key, node, one_client, &place);
    }
    if (!one_client && !found) {
        (void)ab_place_enter(&place, ab_key_name_view(required));
        ab_place_mistake(&place, "required, and missing: expected host:port of a broker");
    }
}

/* Reads a list of topics; a single one may stand for a list of one. */
static void bind_topics(const binder_t *binder, const ab_key_t *key, const ab_node_t *node,
                        ab_place_t place)
{
    ab_topic_list_t *list = slot_of(binder, key);
    if (node == NULL || node->reported) {
        return;
    }
    move_to(&place, node);
    if (node->kind == AB_NODE_MAP || ab_node_is_null(node)) {
        ab_place_mistake(&place, "expected a list of topics, found %s", kind_text(node));
        return;
    }
    const bool is_list = node->kind == AB_NODE_LIST;
    const size_t count = is_list ? node->count : 1;
    if (count > key->max) {
        ab_place_mistake(&place, "expected up to %u topics, found %zu", (unsigned)key->max, count);
        return;
    }
    list->items = ab_config_memory_alloc(binder->memory, (count + 1) * sizeof(list->items[0]));
    if (list->items == NULL) {
        return;
    }
    size_t index = 0;
    for (const ab_node_t *child = is_list ? node->child : node; child != NULL && index < count;
         child = child->next, index++) {
        ab_place_t inner = place;
        ab_value_t value;
        ab_place_enter_item(&inner, index);
        move_to(&inner, child);
        if (child->kind != AB_NODE_SCALAR || ab_node_is_null(child)) {
            ab_place_mistake(&inner, "expected a topic, found %s", kind_text(child));
            continue;
        }
        const char *text = ab_expand(binder->memory, child->text, &inner);
        if (text != NULL && ab_value_parse(key, text, &inner, &value)) {
            list->items[list->count++] = value.text;
        }
    }
}

/* Names all keys of a section, for one who hit none of them. */
static void list_keys(const char *prefix, char *ret_text, size_t size)
{
    size_t count, used = 0;
    const ab_key_t *keys = ab_keys_view(&count);
    ret_text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        if (ab_key_is_in(&keys[i], prefix) && keys[i].type != AB_KEY_LATER) {
            int written = snprintf(ret_text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                   ab_key_name_view(&keys[i]));
            used += (size_t)written;
        }
    }
}

static void report_unknown(const char *prefix, const ab_node_t *node, ab_place_t place, bool legal)
{
    const ab_key_t *near = ab_key_nearest(prefix, node->name);
    const ab_key_t *other = ab_key_elsewhere(prefix, node->name);
    char known[256];
    if (!legal) {
        ab_place_mistake(&place, "no key: expected `key: value`, with a blank behind the colon");
    } else if (other != NULL) {
        ab_place_mistake(&place, "no such key here: expected it as `%s`", other->path);
    } else if (near != NULL) {
        ab_place_mistake(&place, "no such key: expected `%s`?", ab_key_name_view(near));
    } else if (prefix[0] == '\0' && strchr(node->name, '.') != NULL) {
        ab_place_mistake(&place,
                         "no such key: properties of librdkafka are expected under `kafka`, "
                         "`consumer` or `producer`");
    } else {
        list_keys(prefix, known, sizeof(known));
        ab_place_mistake(&place, "no such key: expected one of %s", known);
    }
}

/* Finds the row of each key of one mapping. A section that is not written is an empty one. */
static void collect(const binder_t *binder, const char *prefix, const ab_node_t *node,
                    const ab_place_t *place)
{
    if (node == NULL || ab_node_is_null(node)) {
        return;
    }
    if (node->kind != AB_NODE_MAP) {
        if (!node->reported) {
            ab_place_mistake(place, "expected a mapping of keys, found %s", kind_text(node));
        }
        return;
    }
    for (const ab_node_t *child = node->child; child != NULL; child = child->next) {
        const ab_key_t *key = ab_key_find_in(prefix, child->name);
        if (key != NULL) {
            binder->written->nodes[ab_key_index(key)] = child;
        } else {
            ab_place_t unknown = *place;
            bool legal = ab_place_enter(&unknown, child->name);
            unknown.line = child->name_line;
            unknown.column = child->name_column;
            report_unknown(prefix, child, unknown, legal);
        }
    }
}

/* Reads one row, whose section is at place. */
static void bind_row(const binder_t *binder, const ab_key_t *key, ab_place_t place)
{
    const ab_node_t *node = binder->written->nodes[ab_key_index(key)];
    (void)ab_place_enter(&place, ab_key_name_view(key));
    if (key->type == AB_KEY_PROPERTIES) {
        bind_properties(binder, key, node, place);
    } else if (key->type == AB_KEY_TOPICS) {
        bind_topics(binder, key, node, place);
    } else if (key->type != AB_KEY_LATER) {
        bind_value(binder, key, node, place);
    } else if (node != NULL) {
        place.line = node->name_line;
        place.column = node->name_column;
        ab_place_mistake(&place, "not in this version (%s): remove it", key->help);
    }
}

/* True when a section is written as its one word, such as `off`; stored then, and there are no keys
 * to look for. */
static bool bind_section_word(const binder_t *binder, const ab_key_t *section,
                              const ab_node_t *node)
{
    const bool is_word = section->words != NULL && node != NULL && node->kind == AB_NODE_SCALAR &&
                         strcmp(node->text, section->words) == 0;
    if (is_word) {
        store_number(slot_of(binder, section), section->size, 1);
    }
    return is_word;
}

/* Reads all rows of one scope, "" for the top, "sources[]" for one source, or a section of either,
 * whose mapping is node. As deep as the table's sections lie in each other. */
static void bind_scope(const binder_t *binder, const char *scope, const ab_node_t *node,
                       const ab_place_t *place)
{
    size_t count;
    const ab_key_t *keys = ab_keys_view(&count);
    collect(binder, scope, node, place);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].type == AB_KEY_SOURCES || keys[i].type == AB_KEY_PROPERTY ||
            !ab_key_is_in(&keys[i], scope)) {
            continue;
        }
        if (keys[i].type != AB_KEY_SECTION) {
            bind_row(binder, &keys[i], *place);
            continue;
        }
        const ab_node_t *section = binder->written->nodes[i];
        ab_place_t inner = *place;
        (void)ab_place_enter(&inner, ab_key_name_view(&keys[i]));
        if (section != NULL) {
            move_to(&inner, section);
        }
        bind_scope(binder, keys[i].path,
                   bind_section_word(binder, &keys[i], section) ? NULL : section, &inner);
    }
}

static int bind_sources(const binder_t *binder)
{
    const ab_key_t *key = ab_key_find("sources");
    const ab_node_t *node = binder->written->nodes[ab_key_index(key)];
    ab_place_t place = {.findings = binder->findings};
    move_to(&place, binder->root);
    (void)ab_place_enter(&place, key->path);
    if (node == NULL || ab_node_is_null(node)) {
        ab_place_mistake(&place, "required, and missing: expected a list of topics to read");
        return 0;
    }
    move_to(&place, node);
    if (node->kind != AB_NODE_LIST) {
        if (!node->reported) {
            ab_place_mistake(&place, "expected a list of sources, found %s", kind_text(node));
        }
        return 0;
    }
    if (node->count < key->min || node->count > key->max) {
        ab_place_mistake(&place, "expected %u to %u sources, found %zu", (unsigned)key->min,
                         (unsigned)key->max, node->count);
        return 0;
    }
    ab_config_t *config = binder->config;
    config->sources = ab_config_memory_alloc(binder->memory, node->count * sizeof(ab_source_t));
    if (config->sources == NULL) {
        return -1;
    }
    for (const ab_node_t *child = node->child; child != NULL; child = child->next) {
        size_t index = config->source_count++;
        ab_place_t inner = place;
        binder_t source = *binder;
        ab_place_enter_item(&inner, index);
        move_to(&inner, child);
        source.target = &config->sources[index];
        source.written = &binder->written[1 + index];
        config->sources[index].line = child->line;
        bind_scope(&source, "sources[]", child, &inner);
    }
    return 0;
}

/* The host's name, for want of another. */
static void default_instance(const binder_t *binder)
{
    const ab_key_t *key = ab_key_find("instance");
    const ab_node_t *node = binder->written[0].nodes[ab_key_index(key)];
    binder->config->instance_set = node != NULL;
    if (node != NULL) {
        return;
    }
    char host[256] = "";
    ab_value_t value;
    ab_findings_t unused = {0};
    ab_place_t place = {.findings = &unused};
    if (gethostname(host, sizeof(host) - 1) != 0 || !ab_value_parse(key, host, &place, &value)) {
        ab_findings_add(binder->findings, false, 0, key->path,
                        "the host name cannot stand for it: write a name for this process");
        return;
    }
    binder->config->instance = ab_config_memory_text(binder->memory, host, strlen(host));
}

static const char *with_suffix(ab_config_memory_t *memory, const char *topic, const char *suffix)
{
    size_t size = strlen(topic);
    char *text = ab_config_memory_alloc(memory, size + strlen(suffix) + 1);
    if (text != NULL) {
        memcpy(text, topic, size);
        memcpy(text + size, suffix, strlen(suffix) + 1);
    }
    return text;
}

/* What the keys under errors mean for each source. */
static void spread_errors(const binder_t *binder)
{
    ab_config_t *config = binder->config;
    config->breaker.probe_ms = AB_BREAKER_PROBE_MS;
    for (size_t i = 0; i < config->source_count; i++) {
        ab_policy_t *policy = &config->sources[i].policy;
        policy->max_hops = config->max_hops;
        policy->errors_topic = config->errors_topic;
        policy->quarantine_topic = config->quarantine.topic;
        if (policy->topic == NULL) {
            continue;
        }
        if (policy->errors_topic == NULL) {
            policy->errors_topic = with_suffix(binder->memory, policy->topic, ".errors");
        }
        if (policy->quarantine_topic == NULL && !config->quarantine.off) {
            policy->quarantine_topic = with_suffix(binder->memory, policy->topic, ".quarantine");
        }
    }
}

static void note_answers(const binder_t *binder)
{
    ab_config_t *config = binder->config;
    for (size_t i = 0; i < config->source_count; i++) {
        const ab_route_t *route = &config->sources[i].policy.routes[AB_SLOT_EXPORT_REQUEST];
        config->answers = config->answers || route->kind == AB_ROUTE_ANSWER;
    }
}

/* How many sources bind_sources() can come to. */
static size_t count_sources(const ab_node_t *root)
{
    for (const ab_node_t *child = root->child; child != NULL; child = child->next) {
        if (root->kind == AB_NODE_MAP && strcmp(child->name, "sources") == 0) {
            return child->count <= AB_CONFIG_SOURCES_MAX ? child->count : 0;
        }
    }
    return 0;
}

int ab_config_bind(ab_config_t *config, ab_config_memory_t *memory, const ab_node_t *root,
                   ab_config_memory_t *scratch, ab_findings_t *findings, ab_written_t **ret_written)
{
    ab_written_t *written =
        ab_config_memory_alloc(scratch, (1 + count_sources(root)) * sizeof(*written));
    if (written == NULL) {
        return -1;
    }
    binder_t binder = {config, memory, written, config, findings, root};
    ab_place_t place = {.findings = findings};
    move_to(&place, root);
    bind_scope(&binder, "", root, &place);
    if (bind_sources(&binder) != 0) {
        return -1;
    }
    default_instance(&binder);
    spread_errors(&binder);
    note_answers(&binder);
    *ret_written = written;
    return ab_config_memory_failed(memory) ? -1 : 0;
}
