/* Reads JSON texts from stdin, each behind its length in bytes and a blank, and prints one line for
 * each: the name of the status, or the tree with every kind spelled out. json_reader_test.py
 * compares that with Python's json. */

#include <stdio.h>
#include <stdlib.h>

#include "agentwire/json.h"
#include "codec/json/reader.h"

/** Containers that are gone through; a text that is deeper is refused before. */
enum { DEPTH_MAX = 60 };

/** Writes ["kind", text] for a scalar, the opening of ["kind", [key, child]…] for a container. */
static void open_value(aw_json_writer_t *writer, const aw__json_value_t *value)
{
    static const char *const KINDS[] = {"null",   "false", "true",  "number",
                                        "string", "array", "object"};
    aw_json_array_open(writer);
    aw_json_text(writer, KINDS[value->kind]);
    if (value->kind == AW__JSON_NUMBER || value->kind == AW__JSON_STRING) {
        aw_json_string(writer, value->text);
    }
}

/** Writes a tree without recursion, as it was read. */
static void write_tree(aw_json_writer_t *writer, const aw__json_value_t *root)
{
    const aw__json_value_t *open[DEPTH_MAX] = {NULL};
    size_t depth = 0;
    const aw__json_value_t *at = root;
    while (at != NULL) {
        if (at->key.data != NULL) {
            aw_json_string(writer, at->key);
        }
        open_value(writer, at);
        const aw__json_value_t *next = NULL;
        if (at->kind >= AW__JSON_ARRAY && at->first != NULL) {
            open[depth++] = at;
            next = at->first;
        } else {
            aw_json_array_close(writer);
            next = at->next;
        }
        while (next == NULL && depth > 0) {
            aw_json_array_close(writer);
            next = open[--depth]->next;
        }
        at = next;
    }
}

static void answer(aw_span_t text, unsigned options, aw_arena_t *arena)
{
    const aw__json_value_t *root = NULL;
    int status = aw__json_read(text, DEPTH_MAX, options, arena, &root, NULL);
    if (status != AW_OK) {
        puts(aw_status_name(status));
        return;
    }
    aw_json_writer_t writer;
    aw_span_t written = AW_SPAN_NULL;
    aw_json_init_arena(&writer, AW_JSON_COMPACT, arena);
    write_tree(&writer, root);
    if (aw_json_finish(&writer, &written) != AW_OK) {
        abort();
    }
    printf("%.*s\n", (int)written.size, (const char *)written.data);
}

int main(void)
{
    aw_arena_t *arena = aw_arena_new(0);
    size_t size = 0;
    unsigned options = 0;
    /* its only caller writes both numbers in digits: NOLINTNEXTLINE(cert-err34-c) */
    while (arena != NULL && scanf("%u %zu", &options, &size) == 2) {
        char *text = malloc(size + 1);
        if (text == NULL || getchar() != ' ' || fread(text, 1, size, stdin) != size) {
            return 1;
        }
        answer(aw_span_view(text, size), options, arena);
        free(text);
        aw_arena_reset(arena);
    }
    aw_arena_free(arena);
    return 0;
}
