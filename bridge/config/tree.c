#include "bridge/config/tree.h"

#include <assert.h>
#include <string.h>
#include <yaml.h>

#include "bridge/config/place.h"

/* From an event: no more is to be read, and what was read is good. */
#define STOP 1

/* A list or map that is still open. */
typedef struct frame {
    ab_node_t *node;
    ab_node_t **tail;
    const char *name; /* in a map: the key whose value comes next, NULL while a key is awaited */
    unsigned name_line, name_column;
    bool drop; /* the value belongs to a key written twice */
} frame_t;

typedef struct builder {
    ab_config_memory_t *memory;
    ab_findings_t *findings;
    ab_node_t *root;
    frame_t frames[AB_CONFIG_DEPTH_MAX];
    unsigned depth;
    size_t nodes;
    unsigned documents;
} builder_t;

static unsigned one_based(size_t position)
{
    return position < UINT32_MAX ? (unsigned)position + 1 : UINT32_MAX;
}

/* The innermost list or map that is open, NULL outside of all. */
static frame_t *top(builder_t *builder)
{
    frame_t *frame = builder->depth > 0 ? &builder->frames[builder->depth - 1] : NULL;
    assert(frame == NULL || frame->node != NULL);
    return frame;
}

/* The place of what is about to be read, with the key path that leads to it. */
static ab_place_t place_at(const builder_t *builder, yaml_mark_t mark)
{
    ab_place_t place = {.findings = builder->findings,
                        .line = one_based(mark.line),
                        .column = one_based(mark.column)};
    for (unsigned i = 0; i < builder->depth; i++) {
        const frame_t *frame = &builder->frames[i];
        bool innermost = i + 1 == builder->depth;
        if (frame->node->kind == AB_NODE_LIST) {
            /* An open member has been counted, the next one has not. */
            ab_place_enter_item(&place, frame->node->count - (innermost ? 0 : 1));
        } else if (frame->name != NULL) {
            (void)ab_place_enter(&place, frame->name);
        }
    }
    return place;
}

/* Makes a node and hangs it where it belongs; NULL when a limit is reached or memory is short. */
static ab_node_t *add_node(builder_t *builder, ab_node_kind_t kind, const ab_place_t *place)
{
    if (++builder->nodes > AB_CONFIG_NODES_MAX) {
        ab_place_mistake(place, "the file holds more than %u values", AB_CONFIG_NODES_MAX);
        return NULL;
    }
    ab_node_t *node = ab_config_memory_alloc(builder->memory, sizeof(*node));
    if (node == NULL) {
        return NULL;
    }
    node->kind = kind;
    node->line = place->line;
    node->column = place->column;
    node->text = "";
    frame_t *parent = top(builder);
    if (parent == NULL) {
        builder->root = node;
        return node;
    }
    node->name = parent->name;
    node->name_line = parent->name_line;
    node->name_column = parent->name_column;
    if (!parent->drop) {
        *parent->tail = node;
        parent->tail = &node->next;
        parent->node->count++;
    }
    return node;
}

/* A value is complete: its map awaits a key again. */
static void value_done(builder_t *builder)
{
    frame_t *parent = top(builder);
    if (parent != NULL) {
        parent->name = NULL;
        parent->drop = false;
    }
}

static bool awaits_key(builder_t *builder)
{
    frame_t *parent = top(builder);
    return parent != NULL && parent->node->kind == AB_NODE_MAP && parent->name == NULL;
}

static int refuse_key(const builder_t *builder, yaml_mark_t mark)
{
    ab_place_t place = place_at(builder, mark);
    ab_place_mistake(&place, "a key is a plain word here; nothing behind it was read");
    return -1;
}

static int take_key(builder_t *builder, const yaml_event_t *event)
{
    frame_t *frame = top(builder);
    const char *text = (const char *)event->data.scalar.value;
    size_t size = event->data.scalar.length;
    if (strlen(text) != size || event->data.scalar.anchor != NULL ||
        event->data.scalar.tag != NULL) {
        return refuse_key(builder, event->start_mark);
    }
    const char *name = ab_config_memory_text(builder->memory, text, size);
    if (name == NULL) {
        return -1;
    }
    frame->name = name;
    frame->name_line = one_based(event->start_mark.line);
    frame->name_column = one_based(event->start_mark.column);
    for (const ab_node_t *node = frame->node->child; node != NULL; node = node->next) {
        if (strcmp(node->name, name) == 0) {
            ab_place_t place = place_at(builder, event->start_mark);
            ab_place_mistake(&place, "written twice, on line %u and on line %u: remove one",
                             node->name_line, frame->name_line);
            frame->drop = true;
            return 0;
        }
    }
    if (frame->node->count >= AB_CONFIG_KEYS_MAX) {
        ab_place_t place = place_at(builder, event->start_mark);
        ab_place_mistake(&place, "more than %u keys in one mapping", AB_CONFIG_KEYS_MAX);
        return -1;
    }
    return 0;
}

/* Anchors would let a few lines stand for billions, tags would let a value claim another type. */
static bool refuse_decoration(const ab_place_t *place, const yaml_char_t *anchor,
                              const yaml_char_t *tag)
{
    if (anchor == NULL && tag == NULL) {
        return false;
    }
    ab_place_mistake(place, "%s are not read here: write the value out",
                     anchor != NULL ? "anchors (&name)" : "tags (!name)");
    return true;
}

static int on_scalar(builder_t *builder, const yaml_event_t *event)
{
    if (awaits_key(builder)) {
        return take_key(builder, event);
    }
    ab_place_t place = place_at(builder, event->start_mark);
    ab_node_t *node = add_node(builder, AB_NODE_SCALAR, &place);
    if (node == NULL) {
        return -1;
    }
    const char *text = (const char *)event->data.scalar.value;
    size_t size = event->data.scalar.length;
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    node->reported = refuse_decoration(&place, event->data.scalar.anchor, event->data.scalar.tag);
    if (strlen(text) != size) {
        ab_place_mistake(&place, "holds a NUL character, which no value can");
        node->reported = true;
    } else if (size > AB_CONFIG_VALUE_MAX) {
        ab_place_mistake(&place, "the value is longer than %u bytes", AB_CONFIG_VALUE_MAX);
        node->reported = true;
    } else {
        node->text = ab_config_memory_text(builder->memory, text, size);
    }
    value_done(builder);
    return node->text != NULL ? 0 : -1;
}

static int on_alias(builder_t *builder, const yaml_event_t *event)
{
    if (awaits_key(builder)) {
        return refuse_key(builder, event->start_mark);
    }
    ab_place_t place = place_at(builder, event->start_mark);
    ab_place_mistake(&place, "aliases (*name) are not read here: write the value out");
    ab_node_t *node = add_node(builder, AB_NODE_SCALAR, &place);
    if (node == NULL) {
        return -1;
    }
    node->reported = true;
    value_done(builder);
    return 0;
}

static int on_open(builder_t *builder, const yaml_event_t *event, ab_node_kind_t kind)
{
    if (awaits_key(builder)) {
        return refuse_key(builder, event->start_mark);
    }
    ab_place_t place = place_at(builder, event->start_mark);
    if (builder->depth == AB_CONFIG_DEPTH_MAX) {
        ab_place_mistake(&place, "nested more than %u deep; nothing behind it was read",
                         AB_CONFIG_DEPTH_MAX);
        return -1;
    }
    ab_node_t *node = add_node(builder, kind, &place);
    if (node == NULL) {
        return -1;
    }
    node->reported = kind == AB_NODE_MAP
                         ? refuse_decoration(&place, event->data.mapping_start.anchor,
                                             event->data.mapping_start.tag)
                         : refuse_decoration(&place, event->data.sequence_start.anchor,
                                             event->data.sequence_start.tag);
    builder->frames[builder->depth++] = (frame_t){.node = node, .tail = &node->child};
    return 0;
}

static int on_event(builder_t *builder, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (builder->documents++ > 0) {
            ab_findings_add_at(builder->findings, false, one_based(event->start_mark.line),
                               one_based(event->start_mark.column), "",
                               "a second document begins here: a configuration is one document");
            return STOP;
        }
        return 0;
    case YAML_ALIAS_EVENT:
        return on_alias(builder, event);
    case YAML_SCALAR_EVENT:
        return on_scalar(builder, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_open(builder, event, AB_NODE_LIST);
    case YAML_MAPPING_START_EVENT:
        return on_open(builder, event, AB_NODE_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        assert(builder->depth > 0); /* libyaml's events are balanced */
        builder->depth--;
        value_done(builder);
        return 0;
    default:
        return 0;
    }
}

/* libyaml's words are about its grammar; these say what people did. */
static const struct {
    const char *problem;
    const char *advice;
} advices[] = {
    {"mapping values are not allowed in this context",
     "a second `: ` on this line, or wrong indentation above: put a value that holds `: ` in "
     "quotes"},
    {"could not find expected ':'", "a key needs a colon and a blank behind it, `key: value`"},
    {"did not find expected key",
     "no key where one was expected: keys of one mapping begin in the same column"},
    {"did not find expected '-' indicator",
     "no `- ` where one was expected: members of one list begin in the same column"},
    {"did not find expected ',' or '}'",
     "no `,` or `}` where one was expected: inside {…} a value with ${VAR} needs quotes"},
    {"did not find expected ',' or ']'",
     "no `,` or `]` where one was expected: inside […] a value with ${VAR} needs quotes"},
    {"found unexpected end of stream", "a quote is opened and never closed"},
};

static const char *advice_for(const char *problem, int byte)
{
    if (strcmp(problem, "found character that cannot start any token") == 0) {
        return byte == '\t' ? "a tab: YAML is indented with blanks"
                            : "a value that begins with @, ` or % needs quotes";
    }
    for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
        if (strcmp(problem, advices[i].problem) == 0) {
            return advices[i].advice;
        }
    }
    return problem;
}

/* The byte at a mark, whose line and column count from 0 in characters; -1 past the end. */
static int byte_at(const char *text, size_t size, yaml_mark_t mark)
{
    size_t at = 0;
    for (size_t line = 0; line < mark.line; line++) {
        const char *end = memchr(text + at, '\n', size - at);
        if (end == NULL) {
            return -1;
        }
        at = (size_t)(end - text) + 1;
    }
    for (size_t column = 0; column < mark.column && at < size; column++) {
        do {
            at++;
        } while (at < size && ((unsigned char)text[at] & 0xc0u) == 0x80u);
    }
    return at < size ? (unsigned char)text[at] : -1;
}

/* Encoding errors come with a byte offset only. */
static yaml_mark_t mark_of_offset(const char *text, size_t size, size_t offset)
{
    yaml_mark_t mark = {0};
    for (size_t at = 0; at < offset && at < size; at++) {
        if (text[at] == '\n') {
            mark.line++;
            mark.column = 0;
        } else if (((unsigned char)text[at] & 0xc0u) != 0x80u) {
            mark.column++;
        }
    }
    return mark;
}

static void report_syntax(const builder_t *builder, const yaml_parser_t *parser, const char *text,
                          size_t size)
{
    const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
    if (parser->error == YAML_MEMORY_ERROR) {
        ab_findings_add(builder->findings, false, 0, "", "out of memory");
        return;
    }
    if (parser->error == YAML_READER_ERROR) {
        yaml_mark_t mark = mark_of_offset(text, size, parser->problem_offset);
        ab_findings_add_at(builder->findings, false, one_based(mark.line), one_based(mark.column),
                           "", "not UTF-8 text: %s", problem);
        return;
    }
    yaml_mark_t mark = parser->problem_mark;
    char context[64] = "";
    if (parser->context != NULL && parser->context_mark.line != mark.line) {
        snprintf(context, sizeof(context), " (%s that begins on line %u)", parser->context,
                 one_based(parser->context_mark.line));
    }
    ab_findings_add_at(builder->findings, false, one_based(mark.line), one_based(mark.column), "",
                       "not YAML: %s%s; nothing behind it was read",
                       advice_for(problem, byte_at(text, size, mark)), context);
}

ab_node_t *ab_tree_parse(ab_config_memory_t *memory, const char *text, size_t size,
                         ab_findings_t *findings)
{
    builder_t builder = {.memory = memory, .findings = findings};
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        ab_findings_add(findings, false, 0, "", "out of memory");
        return NULL;
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    int status = 0;
    bool more = true;
    while (status == 0 && more) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            report_syntax(&builder, &parser, text, size);
            status = -1;
            break;
        }
        more = event.type != YAML_STREAM_END_EVENT;
        status = on_event(&builder, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (status != 0 && status != STOP) {
        return NULL;
    }
    if (builder.root == NULL || ab_node_is_null(builder.root)) {
        ab_findings_add(findings, false, 0, "", "holds no configuration");
        ab_node_t *empty = ab_config_memory_alloc(memory, sizeof(*empty));
        if (empty != NULL) {
            *empty = (ab_node_t){.kind = AB_NODE_MAP, .text = ""};
        }
        return empty;
    }
    return builder.root;
}

bool ab_node_is_null(const ab_node_t *node)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    if (node->kind != AB_NODE_SCALAR || !node->plain || node->reported) {
        return false;
    }
    for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++) {
        if (strcmp(node->text, nulls[i]) == 0) {
            return true;
        }
    }
    return false;
}

const char *ab_config_yaml_version(void)
{
    return yaml_get_version_string();
}
