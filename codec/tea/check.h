#ifndef CODEC_TEA_CHECK_H
#define CODEC_TEA_CHECK_H

#include "codec/json/value.h"
#include "codec/tea/schema.h"

/** Names and indexes between the envelope and the deepest value that a rule judges. */
#define AW__TEA_PATH_MAX 24u

/** One step of a path: a member's name, or an index where the name is absent. */
typedef struct aw__tea_step {
    aw_span_t name;
    size_t index;
} aw__tea_step_t;

/** The check of one envelope. */
typedef struct aw__tea_check {
    aw_tea_edition_t edition;
    const aw__tea_type_t *type; /* NULL for an event of unknown type */
    aw_tea_result_t *result;    /* written when a rule is broken */
    aw_arena_t *arena;          /* for what a rule has to keep while it looks */
    int status;                 /* AW_OK, or the trouble of the arena: there is no verdict then */
    aw__tea_step_t path[AW__TEA_PATH_MAX];
    unsigned depth;
} aw__tea_check_t;

/** Says that a rule is broken. The pointer is the path so far, then member unless that is absent;
 * `foreign` says that member's name is the text's own. Returns false, so that a check can end in
 * it. */
bool aw__tea_break(aw__tea_check_t *check, aw_tea_label_t label, const aw__json_value_t *at,
                   aw_span_t member, bool foreign);

/** Judges an object by its table. Returns false when a rule is broken; check->result says which. */
bool aw__tea_check_object(aw__tea_check_t *check, const aw__tea_object_t *object,
                          const aw__json_value_t *value);

/** Judges what the members of an object say together; each is good by itself. */
bool aw__tea_check_relation(aw__tea_check_t *check, aw__tea_relation_t relation,
                            const aw__json_value_t *value);

/** The row of a choice whose tag the object has, or NULL: none, or no such row in the edition. */
const aw__tea_case_t *aw__tea_case_of(const aw__tea_choice_t *choice, aw_tea_edition_t edition,
                                      const aw__json_value_t *value);

/** Finds an object's members in the order of its table: ret_members[i] is the value of field i,
 * NULL where it is absent, null where that means absent, or of a later edition. Returns the first
 * member that is none of the fields, NULL when there is none. Time is linear in the members. */
const aw__json_value_t *aw__tea_match(const aw__tea_object_t *object, aw_tea_edition_t edition,
                                      const aw__json_value_t *value,
                                      const aw__json_value_t *ret_members[AW__TEA_FIELDS_MAX]);

/** True for an integer token of 0 to max. */
bool aw__tea_uint_read(const aw__json_value_t *value, uint64_t max, uint64_t *ret_value);

/** True for a JSON schema of Draft 2020-12, of at most AW_TEA_SCHEMA_DEPTH_MAX levels, as far as
 * its keywords say by themselves: each keyword of the standard's vocabularies has a value of its
 * kind, and no reference leaves the document. */
bool aw__tea_is_schema(aw__tea_check_t *check, const aw__json_value_t *schema);

/** How much of a JSON pointer is made of indexes and of names that any of the tables has. */
size_t aw__tea_known_prefix(const char *pointer);

/** Writes the canonical text of an object that was found good. */
void aw__tea_put_object(aw_json_writer_t *json, const aw__tea_check_t *check,
                        const aw__tea_object_t *object, const aw__json_value_t *value);

/** Parses and judges; ret_root and ret_check are set when the outcome is AW_TEA_OK. */
int aw__tea_read(aw_tea_kind_t kind, aw_tea_edition_t edition, aw_span_t text, aw_arena_t *arena,
                 aw_tea_result_t *ret_result, const aw__json_value_t **ret_root,
                 aw__tea_check_t *ret_check);

/** Judges a text that was read. */
void aw__tea_judge(aw_tea_kind_t kind, const aw__json_value_t *root, aw__tea_check_t *check);

#endif
