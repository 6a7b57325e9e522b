#ifndef BRIDGE_CONFIG_TREE_H
#define BRIDGE_CONFIG_TREE_H

#include "bridge/config/config.h"
#include "bridge/config/memory.h"

typedef enum ab_node_kind { AB_NODE_SCALAR, AB_NODE_MAP, AB_NODE_LIST } ab_node_kind_t;

/** One value of the file as written: no variable is expanded, no reference read. */
typedef struct ab_node {
    ab_node_kind_t kind;
    bool plain;            /* a scalar without quotes */
    bool reported;         /* a mistake was said already: say no more about it */
    unsigned line, column; /* where the value begins, 1-based */
    const char *text;      /* of a scalar: UTF-8 without NUL; never NULL */
    const char *name;      /* of a member of a map */
    unsigned name_line, name_column;
    struct ab_node *child; /* the first member */
    struct ab_node *next;  /* the next member of the same list or map */
    size_t count;          /* members */
} ab_node_t;

/** Reads one YAML document; an empty one is an empty map. The only user of libyaml.
 *
 * Says what is wrong to findings: syntax, encoding, keys written twice (the first one is kept),
 * anchors, aliases and tags, a second document, and every limit of config.h. Members keep the order
 * of the file, and no two members of a map have the same name. Returns the root, owned by memory,
 * or NULL when the rest could not be read. */
ab_node_t *ab_tree_parse(ab_config_memory_t *memory, const char *text, size_t size,
                         ab_findings_t *findings);

/** True for a value that is not there: nothing behind the colon, `~` or `null`. */
bool ab_node_is_null(const ab_node_t *node);

#endif
