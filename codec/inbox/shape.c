#include "codec/inbox/shape.h"

#include <assert.h>
#include <string.h>

#include "codec/json/number.h"

/** The largest whole number that every reader holds exactly: 2^53 - 1. */
#define COUNTER_MAX 9007199254740991.0

void aw__shape_check_init(aw__shape_check_t *check, const char *member, aw_inbox_result_t *result)
{
    *check = (aw__shape_check_t){.is_known = true, .result = result};
    if (member != NULL) {
        aw__json_path_add_key(&check->path, aw_span_text_view(member));
    }
}

/** Where the path stood before a step down. */
typedef struct mark {
    size_t size;
    bool is_full;
    bool is_known;
} mark_t;

static mark_t mark(const aw__shape_check_t *check)
{
    return (mark_t){check->path.size, check->path.is_full, check->is_known};
}

static void back_to(aw__shape_check_t *check, mark_t before)
{
    check->path.size = before.size;
    check->path.text[before.size] = '\0';
    check->path.is_full = before.is_full;
    check->is_known = before.is_known;
}

/** Goes down to a member whose name the text brought along. */
static void add_unknown(aw__shape_check_t *check, aw_span_t key)
{
    if (check->is_known) {
        check->known = check->path.size;
        check->is_known = false;
    }
    aw__json_path_add_key(&check->path, key);
}

static bool refuse(aw__shape_check_t *check, const aw__json_value_t *value, const char *reason)
{
    aw_inbox_result_t *result = check->result;
    if (result->outcome == AW_INBOX_CLASS_OK) {
        aw__inbox_fail(result, AW_INBOX_CLASS_SCHEMA, value, check->path.text,
                       "the produced value does not match wire version %d: %s %s", AW_INBOX_VERSION,
                       check->path.size > 0 ? check->path.text : "the value", reason);
        result->pointer_known = check->is_known ? check->path.size : check->known;
    }
    return false;
}

static bool refuse_missing(aw__shape_check_t *check, const aw__json_value_t *object,
                           const char *key)
{
    const mark_t before = mark(check);
    aw__json_path_add_key(&check->path, aw_span_text_view(key));
    (void)refuse(check, object, "is missing");
    back_to(check, before);
    return false;
}

/** A number as a double; false for any other value. */
static bool read_number(const aw__json_value_t *value, double *ret_number)
{
    aw__number_t number;
    if (value->kind != AW__JSON_NUMBER || !aw__number_read(value->text, &number)) {
        return false;
    }
    *ret_number = number.kind == AW__NUMBER_UINT  ? (double)number.as.uint
                  : number.kind == AW__NUMBER_INT ? (double)number.as.sint
                                                  : number.as.real;
    return true;
}

static bool is_counter(const aw__json_value_t *value)
{
    double number;
    return read_number(value, &number) && number >= 0 && number <= COUNTER_MAX &&
           number == (double)(uint64_t)number;
}

static bool is_version(const aw__json_value_t *value, unsigned version)
{
    double number;
    return read_number(value, &number) && number == version;
}

static bool is_word(const aw__json_value_t *value, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (aw__json_is_text(value, *words)) {
            return true;
        }
    }
    return false;
}

static bool check_list(aw__shape_check_t *check, const aw__shape_t *shape, aw__json_value_t *value)
{
    if (value->kind != AW__JSON_ARRAY) {
        return refuse(check, value, "is not a list");
    }
    size_t index = 0;
    bool fits = true;
    aw__json_value_t *at = shape->of != NULL ? value->first : NULL;
    for (; at != NULL && fits; at = at->next, index++) {
        const mark_t before = mark(check);
        aw__json_path_add_index(&check->path, index);
        fits = aw__shape_check(check, shape->of, at);
        back_to(check, before);
    }
    return fits;
}

static bool check_map(aw__shape_check_t *check, const aw__shape_t *shape, aw__json_value_t *value)
{
    if (value->kind != AW__JSON_OBJECT) {
        return refuse(check, value, "is not an object");
    }
    bool fits = true;
    for (aw__json_value_t *at = value->first; at != NULL && fits; at = at->next) {
        const mark_t before = mark(check);
        add_unknown(check, at->key);
        fits = aw__shape_check(check, shape->of, at);
        back_to(check, before);
    }
    return fits;
}

static const aw__shape_member_t *find_member(const aw__shape_t *shape, aw_span_t key)
{
    const aw__shape_member_t *member = shape->members;
    while (member->key != NULL && !aw_span_equal(key, aw_span_text_view(member->key))) {
        member++;
    }
    return member->key != NULL ? member : NULL;
}

/** Leaves the listed members of an object, in its list and in `sorted`. */
static void strip(const aw__shape_t *shape, aw__json_value_t *object)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < object->count; i++) {
        if (find_member(shape, object->sorted[i]->key) != NULL) {
            object->sorted[kept++] = object->sorted[i];
        }
    }
    object->count = kept;
    aw__json_value_t **link = &object->first;
    while (*link != NULL) {
        if (find_member(shape, (*link)->key) == NULL) {
            *link = (*link)->next;
        } else {
            link = &(*link)->next;
        }
    }
}

bool aw__shape_check_record(aw__shape_check_t *check, const aw__shape_t *shape,
                            aw__shape_policy_t policy, aw__json_value_t *value)
{
    assert(shape->kind == AW__SHAPE_RECORD);
    if (value->kind != AW__JSON_OBJECT) {
        return refuse(check, value, "is not an object");
    }
    for (const aw__shape_member_t *member = shape->members; member->key != NULL; member++) {
        if (member->required && aw__json_find_text(value, member->key) == NULL) {
            return refuse_missing(check, value, member->key);
        }
    }
    bool fits = true;
    for (aw__json_value_t *at = value->first; at != NULL && fits; at = at->next) {
        const aw__shape_member_t *member = find_member(shape, at->key);
        const mark_t before = mark(check);
        if (member != NULL) {
            aw__json_path_add_key(&check->path, at->key);
            fits = aw__shape_check(check, member->shape, at);
        } else if (policy == AW__SHAPE_STRICT) {
            add_unknown(check, at->key);
            fits = refuse(check, at, "is not a member that this version has");
        }
        back_to(check, before);
    }
    if (fits && policy == AW__SHAPE_STRIPPING) {
        strip(shape, value);
    }
    return fits;
}

/** The kind of value that a shape asks for; AW__JSON_NULL also for those that ask for several. */
static aw__json_kind_t kind_of(const aw__shape_t *shape)
{
    switch (shape->kind) {
    case AW__SHAPE_STRING:
    case AW__SHAPE_CONST:
    case AW__SHAPE_ENUM:
        return AW__JSON_STRING;
    case AW__SHAPE_LIST:
        return AW__JSON_ARRAY;
    case AW__SHAPE_OBJECT:
    case AW__SHAPE_MAP:
    case AW__SHAPE_RECORD:
    case AW__SHAPE_ONE_OF:
        return AW__JSON_OBJECT;
    default:
        return AW__JSON_NULL;
    }
}

/** Of the choices that ask for a value of this kind, the only one tells its own fault; of several,
 * the first that fits is taken, and none is better than the others to blame. */
static bool check_any_of(aw__shape_check_t *check, const aw__shape_t *shape,
                         aw__json_value_t *value)
{
    const aw__shape_t *only = NULL;
    size_t count = 0;
    for (const aw__shape_t *const *at = shape->choices; *at != NULL; at++) {
        if (kind_of(*at) == value->kind) {
            only = *at;
            count++;
        }
    }
    if (count == 1) {
        return aw__shape_check(check, only, value);
    }
    for (const aw__shape_t *const *at = shape->choices; count > 1 && *at != NULL; at++) {
        aw_inbox_result_t tried;
        aw__shape_check_t attempt = *check;
        aw__inbox_accept(&tried);
        attempt.result = &tried;
        if (aw__shape_check(&attempt, *at, value)) {
            return true;
        }
    }
    return refuse(check, value, "fits none of the forms that it may have");
}

static bool check_one_of(aw__shape_check_t *check, const aw__shape_t *shape,
                         aw__json_value_t *value)
{
    if (value->kind != AW__JSON_OBJECT) {
        return refuse(check, value, "is not an object");
    }
    const aw__json_value_t *tag = aw__json_find_text(value, shape->tag);
    if (tag == NULL) {
        return refuse_missing(check, value, shape->tag);
    }
    for (const aw__shape_t *const *at = shape->choices; *at != NULL; at++) {
        const aw__shape_member_t *member = find_member(*at, aw_span_text_view(shape->tag));
        if (aw__json_is_text(tag, member->shape->word)) {
            return aw__shape_check(check, *at, value);
        }
    }
    const mark_t before = mark(check);
    aw__json_path_add_key(&check->path, aw_span_text_view(shape->tag));
    (void)refuse(check, tag, "is none of the known words");
    back_to(check, before);
    return false;
}

/** Checks what is no container of other shapes: NULL, or the reason against it. */
static const char *fault_of(const aw__shape_t *shape, const aw__json_value_t *value)
{
    double number;
    switch (shape->kind) {
    case AW__SHAPE_STRING:
        return value->kind == AW__JSON_STRING ? NULL : "is not a string";
    case AW__SHAPE_NUMBER:
        return read_number(value, &number) ? NULL : "is not a number";
    case AW__SHAPE_COUNTER:
        return is_counter(value) ? NULL : "is not a whole number of 0 to 9007199254740991";
    case AW__SHAPE_BOOLEAN:
        return value->kind == AW__JSON_TRUE || value->kind == AW__JSON_FALSE ? NULL
                                                                             : "is not a boolean";
    case AW__SHAPE_NULL:
        return value->kind == AW__JSON_NULL ? NULL : "is not null";
    case AW__SHAPE_OBJECT:
        return value->kind == AW__JSON_OBJECT ? NULL : "is not an object";
    case AW__SHAPE_VERSION:
        return is_version(value, shape->version) ? NULL : "is not the version";
    case AW__SHAPE_CONST:
        return aw__json_is_text(value, shape->word) ? NULL : "is not the word it has to be";
    case AW__SHAPE_ENUM:
        return is_word(value, shape->words) ? NULL : "is none of the known words";
    default:
        return NULL;
    }
}

bool aw__shape_check(aw__shape_check_t *check, const aw__shape_t *shape, aw__json_value_t *value)
{
    switch (shape->kind) {
    case AW__SHAPE_LIST:
        return check_list(check, shape, value);
    case AW__SHAPE_MAP:
        return check_map(check, shape, value);
    case AW__SHAPE_RECORD:
        return aw__shape_check_record(check, shape, shape->policy, value);
    case AW__SHAPE_ANY_OF:
        return check_any_of(check, shape, value);
    case AW__SHAPE_ONE_OF:
        return check_one_of(check, shape, value);
    default:
        break;
    }
    const char *fault = fault_of(shape, value);
    return fault == NULL || refuse(check, value, fault);
}
