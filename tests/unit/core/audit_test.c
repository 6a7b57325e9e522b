#include "tests/unit/core/audit_world.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/core/partition.h"

static void test_audit_what_the_bridge_writes_has_no_fault(void **state)
{
    world_t *world = world_filled();
    (void)state;
    for (size_t i = 0; i < world->record_count; i++) {
        world_relay(world, i);
    }
    world_judge_all(world);
    assert_int_equal(world->fault_count, 0);
    assert_int_equal(world->absent_count, 0);
    assert_int_equal(world->audit.counts.routed, 6);
    assert_int_equal(world->audit.counts.dead_lettered, 2);
    assert_false(world->audit.disordered);
    world_free(world);
}

static void test_audit_letter_that_is_missing_is_named(void **state)
{
    (void)state;
    for (int gone = ERRORS; gone <= QUARANTINE; gone++) {
        world_t *world = world_filled();
        for (size_t i = 0; i < world->record_count; i++) {
            world_relay(world, i);
        }
        for (size_t i = 0; i < world->seen_count; i++) {
            if (world->seen[i].output == gone && world->seen[i].source_offset == 5) {
                world->seen[i] = world->seen[--world->seen_count];
                break;
            }
        }
        world_assert_only_fault(world, AB_FAULT_MISSING, 5, gone, 0);
        assert_int_equal(world->audit.counts.missing_outcomes, gone == ERRORS ? 1 : 0);
        world_free(world);
    }
}

static void test_audit_routed_record_nobody_names_is_asked_for(void **state)
{
    world_t *world = world_filled();
    (void)state;
    for (size_t i = 0; i < world->record_count; i++) {
        if (i != 2) {
            world_relay(world, i);
        }
    }
    output_t *bare = world_make(world, 2, EV, NULL, NULL, NULL);
    const output_t kept = *bare;
    bare->full.header_count--;
    world_judge_all(world);
    assert_int_equal(world->fault_count, 0);
    assert_int_equal(world->audit.counts.unproven, 1);
    assert_int_equal(world->absent_count, 1);
    ab_sighting_t seen;
    int64_t source_ms;
    assert_int_equal(ab_audit_sight(&world->audit, EV, &bare->full, &seen, &source_ms),
                     AB_SIGHT_UNNAMED);
    assert_int_equal(ab_sighting_compare_content(&seen, &world->absent[0]), 0);
    assert_int_equal(seen.timestamp_ms, world->absent[0].timestamp_ms);
    bare->full.record.value.size--;
    assert_int_equal(ab_audit_sight(&world->audit, EV, &bare->full, &seen, &source_ms),
                     AB_SIGHT_UNNAMED);
    assert_int_not_equal(ab_sighting_compare_content(&seen, &world->absent[0]), 0);
    aw_arena_free(kept.arena);
    free(bare);
    world_free(world);
}

static void test_audit_doubled_record_is_named_once(void **state)
{
    (void)state;
    for (int topic = EV; topic < OUTPUTS; topic++) {
        world_t *world = world_filled();
        const size_t number = topic == EV ? 0 : 1;
        const ab_verdict_t verdict = world_verdict_of(world, number);
        for (size_t i = 0; i < world->record_count; i++) {
            world_relay(world, i);
        }
        (void)world_show(world,
                         world_make(world, number, topic, AB_COPY_TEXT_WHOLE, &verdict, NULL));
        /* Its second place is behind later records of its key, which is no fault of its own. */
        world_assert_only_fault(world, AB_FAULT_DUPLICATE, (int64_t)number, topic, 0);
        world_free(world);
    }
}

static void test_audit_duplicates_where_allowed_are_counted(void **state)
{
    world_t *world = world_filled();
    (void)state;
    world->audit.duplicates_allowed = true;
    for (size_t i = 0; i < 3; i++) {
        world_relay(world, i);
    }
    for (size_t i = 0; i < world->record_count; i++) {
        world_relay(world, i);
    }
    world_judge_all(world);
    assert_int_equal(world->fault_count, 0);
    assert_int_equal(world->audit.duplicates, 4);
    world_free(world);
}

/* Each changes one thing of an output record. */
static void change_key(output_t *output)
{
    output->full.record.key = aw_span_text_view("z");
}
static void change_value(output_t *output)
{
    output->full.record.value.size--;
}
static void change_headers(output_t *output)
{
    output->headers[0].value = AW_SPAN_NULL;
}
static void change_partition(output_t *output)
{
    output->full.record.partition ^= 1;
}
static void change_timestamp(output_t *output)
{
    output->full.record.timestamp_ms++;
}

static void test_audit_altered_record_is_named_with_its_part(void **state)
{
    static const struct {
        void (*change)(output_t *output);
        unsigned parts;
        bool letters; /* also of the letter and the quarantine record */
    } changes[] = {{change_key, AB_PART_OF_KEY, true},
                   {change_value, AB_PART_OF_VALUE, true},
                   {change_headers, AB_PART_OF_HEADERS, true},
                   {change_partition, AB_PART_OF_PARTITION, false},
                   {change_timestamp, AB_PART_OF_TIMESTAMP, false}};
    (void)state;
    for (size_t c = 0; c < sizeof(changes) / sizeof(changes[0]); c++) {
        for (int topic = EV; topic < (changes[c].letters ? (int)OUTPUTS : EV + 1); topic++) {
            world_t *world = world_new();
            (void)world_add_record(world, "a", topic == EV ? 3 : 0);
            const ab_verdict_t verdict = world_verdict_of(world, 0);
            for (int other = ERRORS; topic != EV && other <= QUARANTINE; other++) {
                if (other != topic) {
                    (void)world_show(
                        world, world_make(world, 0, other, AB_COPY_TEXT_WHOLE, &verdict, NULL));
                }
            }
            output_t *output = world_make(world, 0, topic, AB_COPY_TEXT_WHOLE, &verdict, NULL);
            changes[c].change(output);
            (void)world_show(world, output);
            world_assert_only_fault(world, AB_FAULT_ALTERED, 0, topic, changes[c].parts);
            world_free(world);
        }
    }
}

static void test_audit_timestamp_of_the_broker_is_no_fault(void **state)
{
    world_t *world = world_new();
    (void)state;
    (void)world_add_record(world, "a", 3);
    (void)world_add_record(world, "a", 3);
    world->records[1].record.timestamp_ms = 0; /* clients write now in its place */
    output_t *stamped = world_make(world, 0, EV, NULL, NULL, NULL);
    stamped->full.record.timestamp_type = AB_TIMESTAMP_APPEND;
    stamped->full.record.timestamp_ms = 77;
    (void)world_show(world, stamped);
    output_t *zero = world_make(world, 1, EV, NULL, NULL, NULL);
    zero->full.record.timestamp_ms = 88;
    (void)world_show(world, zero);
    world_judge_all(world);
    assert_int_equal(world->fault_count, 0);
    world_free(world);
}

static void test_audit_record_behind_a_later_one_of_its_key_is_named(void **state)
{
    world_t *world = world_new();
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        (void)world_add_record(world, "a", 3);
    }
    static const size_t order[] = {0, 2, 3, 1, 4};
    for (size_t i = 0; i < 5; i++) {
        world_relay(world, order[i]);
    }
    world_assert_only_fault(world, AB_FAULT_REORDERED, 1, EV, 0);
    assert_int_equal(world->faults[0].behind, 3);
    world_free(world);
}

static void test_audit_other_keys_may_pass_one_another(void **state)
{
    world_t *world = world_new();
    (void)state;
    /* "a" and "e" lie in the same partition of two. */
    assert_int_equal(ab_partition_of_key(aw_span_text_view("a"), 2),
                     ab_partition_of_key(aw_span_text_view("e"), 2));
    for (size_t i = 0; i < 4; i++) {
        (void)world_add_record(world, i % 2 == 0 ? "a" : "e", 3);
    }
    static const size_t order[] = {1, 3, 0, 2};
    for (size_t i = 0; i < 4; i++) {
        world_relay(world, order[i]);
    }
    world_judge_all(world);
    assert_true(world->audit.disordered);
    assert_int_equal(world->fault_count, 0);
    world_free(world);
}

static void test_audit_refused_record_is_a_lawful_letter(void **state)
{
    static const char *const copies[] = {AB_COPY_TEXT_WHOLE, AB_COPY_TEXT_HEAD,
                                         AB_COPY_TEXT_POINTER};
    (void)state;
    for (int refusal = 0; refusal < AB_REFUSAL_COUNT; refusal++) {
        for (size_t copy = 0; copy < 3; copy++) {
            world_t *world = world_new();
            (void)world_add_record(world, "a", 3);
            ab_verdict_t verdict = world_verdict_of(world, 0);
            ab_verdict_reject(&verdict, ab_refusal_text((ab_refusal_t)refusal));
            (void)world_show(world, world_make(world, 0, ERRORS, NULL, &verdict, "ev"));
            (void)world_show(world, world_make(world, 0, QUARANTINE, copies[copy], &verdict, "ev"));
            world_judge_all(world);
            assert_int_equal(world->fault_count, 0);
            assert_int_equal(world->audit.counts.rejected, 1);
            assert_int_equal(world->audit.counts.dead_lettered, 1);
            assert_int_equal(world->audit.counts.heads, copy == 1);
            assert_int_equal(world->audit.counts.pointers, copy == 2);
            world_free(world);
        }
    }
}

static void test_audit_letter_with_made_up_text_is_altered(void **state)
{
    world_t *world = world_new();
    (void)state;
    (void)world_add_record(world, "a", 3);
    ab_verdict_t verdict = world_verdict_of(world, 0);
    ab_verdict_reject(&verdict, "because");
    (void)world_show(world, world_make(world, 0, ERRORS, NULL, &verdict, "ev"));
    (void)world_show(world, world_make(world, 0, QUARANTINE, AB_COPY_TEXT_WHOLE, &verdict, "ev"));
    world_judge_all(world);
    assert_int_equal(world->fault_count, 2);
    assert_int_equal(world->faults[0].kind, AB_FAULT_ALTERED);
    assert_int_equal(world->faults[1].kind, AB_FAULT_ALTERED);
    world_free(world);
}

static void test_audit_record_with_two_outcomes_is_unexpected(void **state)
{
    world_t *world = world_new();
    (void)state;
    (void)world_add_record(world, "a", 3);
    world_relay(world, 0);
    ab_verdict_t verdict = world_verdict_of(world, 0);
    ab_verdict_reject(&verdict, ab_refusal_text(AB_REFUSAL_SIZE));
    (void)world_show(world, world_make(world, 0, ERRORS, NULL, &verdict, "ev"));
    world_assert_only_fault(world, AB_FAULT_UNEXPECTED, 0, ERRORS, 0);
    world_free(world);
}

static void test_audit_dropped_record_is_expected_nowhere(void **state)
{
    world_t *world = world_new();
    wire_t approval = {.size = 0};
    (void)state;
    (void)world_add_record(world, "a", 0);
    wire_text(&approval, 1, "i-1");
    wire_message(&world->wires[0], 5, &approval);
    world->records[0].record.value = wire_view(&world->wires[0]);
    assert_int_equal(world_verdict_of(world, 0).outcome, AB_OUTCOME_DROPPED);
    world_judge_all(world);
    assert_int_equal(world->fault_count, 0);
    assert_int_equal(world->audit.counts.dropped, 1);
    (void)world_show(world, world_make(world, 0, EV, NULL, NULL, NULL));
    world->audit.counts = (ab_audit_counts_t){0};
    world_assert_only_fault(world, AB_FAULT_UNEXPECTED, 0, EV, 0);
    world_free(world);
}

static void test_audit_beginning_that_retention_removed_is_expired(void **state)
{
    world_t *world = world_new();
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        (void)world_add_record(world, "a", 3);
    }
    const int32_t partition = ab_partition_of_key(aw_span_text_view("a"), 2);
    world->parts[EV][partition].first = 2;
    world->next[EV][partition] = 2;
    world_relay(world, 2); /* 0 and 1 lay before; 3 is really missing */
    world_judge_all(world);
    assert_int_equal(world->absent_count, 3);
    assert_true(world->absent[0].perishable);
    assert_true(world->absent[1].perishable);
    assert_false(world->absent[2].perishable);
    world_free(world);
}

static void test_audit_records_of_others_are_told_apart(void **state)
{
    world_t *world = world_new();
    (void)state;
    (void)world_add_record(world, "a", 0);
    const ab_verdict_t verdict = world_verdict_of(world, 0);
    output_t *other = world_make(world, 0, ERRORS, NULL, &verdict, NULL);
    for (size_t i = 0; i < other->full.header_count; i++) {
        if (strcmp(other->headers[i].name, AB_HEADER_DLQ_GROUP) == 0) {
            other->headers[i].value = aw_span_text_view("gg");
        }
    }
    assert_int_equal(world_show(world, other), AB_SIGHT_FOREIGN);
    output_t *agents = world_make(world, 0, ERRORS, NULL, &verdict, NULL);
    agents->full.header_count = 0;
    assert_int_equal(world_show(world, agents), AB_SIGHT_FOREIGN);
    output_t *marker = world_make(world, 0, QUARANTINE, AB_COPY_TEXT_WHOLE, &verdict, NULL);
    marker->full.record.value = AW_SPAN_NULL;
    marker->full.record.key = AW_SPAN_NULL;
    marker->full.header_count = 0;
    world_put_header(marker, AB_HEADER_REDRIVEN, aw_span_text_view("in.quarantine:0:1:job-1"));
    world->next[QUARANTINE][0] = 2;
    assert_int_equal(world_show(world, marker), AB_SIGHT_MARKER);
    output_t *redriven = world_make(world, 0, EV, NULL, NULL, NULL);
    world_put_header(redriven, AB_HEADER_HOPS, aw_span_text_view("1"));
    assert_int_equal(world_show(world, redriven), AB_SIGHT_UNNAMED);
    output_t *foreign_source = world_make(world, 0, EV, NULL, NULL, NULL);
    foreign_source->headers[1].value = aw_span_text_view("other:0:0:1");
    assert_int_equal(world_show(world, foreign_source), AB_SIGHT_UNNAMED);
    world_free(world);
}

static void test_audit_marker_names_a_place_of_its_own_topic(void **state)
{
    static const struct {
        const char *value;
        ab_sight_t sight;
    } cases[] = {{"in.quarantine:2:17:job-1", AB_SIGHT_MARKER},
                 {"in.quarantine:1:17:job-1", AB_SIGHT_FOREIGN},
                 {"in.quarantine:2:18:job-1", AB_SIGHT_FOREIGN},
                 {"in.quarantine:2:17", AB_SIGHT_FOREIGN},
                 {"elsewhere:2:17:job-1", AB_SIGHT_FOREIGN},
                 {"in.quarantine:2:x:job-1", AB_SIGHT_FOREIGN},
                 {"", AB_SIGHT_FOREIGN},
                 {":", AB_SIGHT_FOREIGN}};
    world_t *world = world_new();
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ab_header_t header = {AB_HEADER_REDRIVEN, aw_span_text_view(cases[i].value)};
        const ab_full_record_t marker = {
            .record = {.topic = "in.quarantine", .partition = 2, .offset = 18},
            .headers = &header,
            .header_count = 1};
        ab_sighting_t seen = {0};
        int64_t source_ms;
        assert_int_equal(ab_audit_sight(&world->audit, QUARANTINE, &marker, &seen, &source_ms),
                         cases[i].sight);
        if (cases[i].sight == AB_SIGHT_MARKER) {
            assert_int_equal(seen.output, QUARANTINE);
            assert_int_equal(seen.partition, 2);
            assert_int_equal(seen.offset, 17);
        }
    }
    world_free(world);
}

/* The original's own headers may be of any name, and a tombstone has no value either. */
static void test_audit_copy_with_a_markers_header_is_no_marker(void **state)
{
    world_t *world = world_new();
    (void)state;
    const size_t number = world_add_record(world, "a", 0);
    static const ab_header_t forged = {AB_HEADER_REDRIVEN,
                                       {(const uint8_t *)"in.quarantine:0:0:job-1", 23}};
    world->records[number].headers = &forged;
    world->records[number].record.value = AW_SPAN_NULL;
    const ab_verdict_t verdict = world_verdict_of(world, number);
    world->next[QUARANTINE][0] = 1;
    (void)world_show(world, world_make(world, number, ERRORS, NULL, &verdict, NULL));
    output_t *copy = world_make(world, number, QUARANTINE, AB_COPY_TEXT_WHOLE, &verdict, NULL);
    copy->headers[0] = forged;
    assert_int_equal(world_show(world, copy), AB_SIGHT_OURS);
    world_judge_all(world);
    assert_int_equal(world->fault_count, 0);
    assert_int_equal(world->audit.counts.settled, 0);
    world_free(world);
}

/* A record that was refused under another configuration, and redriven to its route since. */
static world_t *settled_world(output_t **ret_redriven)
{
    world_t *world = world_new();
    (void)world_add_record(world, "a", 3);
    (void)world_add_record(world, "a", 3);
    ab_verdict_t verdict = world_verdict_of(world, 0);
    ab_verdict_reject(&verdict, "a text that no refusal has");
    (void)world_show(world, world_make(world, 0, ERRORS, NULL, &verdict, NULL));
    (void)world_show(world, world_make(world, 0, QUARANTINE, AB_COPY_TEXT_WHOLE, &verdict, NULL));
    world->seen[1].marked = true;
    world_relay(world, 1);
    *ret_redriven = world_make(world, 0, EV, NULL, NULL, NULL);
    const ab_header_t source = (*ret_redriven)->headers[1];
    (*ret_redriven)->headers[1] = (ab_header_t){AB_HEADER_HOPS, aw_span_text_view("1")};
    world_put_header(*ret_redriven, source.name, source.value);
    return world;
}

static void test_audit_redriven_record_is_settled_whatever_its_letter_says(void **state)
{
    output_t *redriven;
    world_t *world = settled_world(&redriven);
    (void)state;
    (void)world_show(world, redriven);
    world_judge_all(world);
    assert_int_equal(world->fault_count, 0); /* also not for lying behind record 1 */
    assert_int_equal(world->audit.counts.settled, 1);
    assert_int_equal(world->audit.counts.dead_lettered, 1);
    assert_int_equal(world->audit.counts.routed, 1);
    assert_int_equal(world->audit.counts.redriven_direct, 1);
    world_free(world);
}

static void test_audit_duplicates_of_a_settled_record_are_counted_where_allowed(void **state)
{
    (void)state;
    for (int allowed = 0; allowed <= 1; allowed++) {
        output_t *redriven;
        world_t *world = settled_world(&redriven);
        world->audit.duplicates_allowed = allowed;
        (void)world_show(world, redriven);
        world->seen[world->seen_count] = world->seen[0]; /* its letter */
        world->seen[world->seen_count++].offset = 7;
        world->seen[world->seen_count] = world->seen[1]; /* its quarantine record */
        world->seen[world->seen_count++].offset = 7;
        world_judge_all(world);
        assert_int_equal(world->fault_count, allowed ? 0 : 2);
        assert_int_equal(world->audit.duplicates, allowed ? 2 : 0);
        assert_int_equal(world->audit.counts.settled, 1);
        world_free(world);
    }
}

static void test_audit_redriven_record_with_another_value_is_altered(void **state)
{
    output_t *redriven;
    world_t *world = settled_world(&redriven);
    (void)state;
    redriven->full.record.value.size--;
    (void)world_show(world, redriven);
    world_assert_only_fault(world, AB_FAULT_ALTERED, 0, EV, AB_PART_OF_VALUE);
    world_free(world);
}

static void test_audit_headers_that_cannot_be_read_make_a_letter(void **state)
{
    world_t *world = world_new();
    (void)state;
    (void)world_add_record(world, "a", 3);
    ab_verdict_t verdict = world_verdict_of(world, 0);
    ab_verdict_reject(&verdict, AB_TEXT_HEADERS_UNREADABLE);
    (void)world_show(world, world_make(world, 0, ERRORS, NULL, &verdict, NULL));
    (void)world_show(world, world_make(world, 0, QUARANTINE, AB_COPY_TEXT_POINTER, &verdict, NULL));
    world->records[0].header_count = 0;
    world->records[0].headers_unreadable = true;
    world_judge_all(world);
    assert_int_equal(world->fault_count, 0);
    assert_int_equal(world->audit.counts.dead_lettered, 1);
    world_free(world);
}

static void test_audit_parts_are_named_in_words(void **state)
{
    char text[AB_FAULT_PARTS_MAX];
    (void)state;
    assert_string_equal(ab_fault_parts(0, text), "");
    assert_string_equal(ab_fault_parts(AB_PART_OF_VALUE, text), "value");
    assert_string_equal(ab_fault_parts(31, text), "key, value, headers, timestamp, partition");
    for (int i = 0; i < AB_FAULT_COUNT; i++) {
        assert_true(ab_fault_name((ab_fault_kind_t)i)[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_audit_what_the_bridge_writes_has_no_fault),
        cmocka_unit_test(test_audit_letter_that_is_missing_is_named),
        cmocka_unit_test(test_audit_routed_record_nobody_names_is_asked_for),
        cmocka_unit_test(test_audit_doubled_record_is_named_once),
        cmocka_unit_test(test_audit_duplicates_where_allowed_are_counted),
        cmocka_unit_test(test_audit_altered_record_is_named_with_its_part),
        cmocka_unit_test(test_audit_timestamp_of_the_broker_is_no_fault),
        cmocka_unit_test(test_audit_record_behind_a_later_one_of_its_key_is_named),
        cmocka_unit_test(test_audit_other_keys_may_pass_one_another),
        cmocka_unit_test(test_audit_refused_record_is_a_lawful_letter),
        cmocka_unit_test(test_audit_letter_with_made_up_text_is_altered),
        cmocka_unit_test(test_audit_record_with_two_outcomes_is_unexpected),
        cmocka_unit_test(test_audit_dropped_record_is_expected_nowhere),
        cmocka_unit_test(test_audit_beginning_that_retention_removed_is_expired),
        cmocka_unit_test(test_audit_records_of_others_are_told_apart),
        cmocka_unit_test(test_audit_marker_names_a_place_of_its_own_topic),
        cmocka_unit_test(test_audit_copy_with_a_markers_header_is_no_marker),
        cmocka_unit_test(test_audit_redriven_record_is_settled_whatever_its_letter_says),
        cmocka_unit_test(test_audit_duplicates_of_a_settled_record_are_counted_where_allowed),
        cmocka_unit_test(test_audit_redriven_record_with_another_value_is_altered),
        cmocka_unit_test(test_audit_headers_that_cannot_be_read_make_a_letter),
        cmocka_unit_test(test_audit_parts_are_named_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
