#include "tests/unit/core/audit_world.h"

#define EXPORT_REQUEST 6

/* Requests that are answered; "ev" is the snapshots topic. */
typedef struct answers {
    world_t *world;
    ab_policy_t policy;
    size_t request; /* the number of the second one, of which nothing is written yet */
} answers_t;

static void open_answers(answers_t *answers)
{
    answers->world = world_new();
    answers->policy = *answers->world->source.policy;
    answers->policy.routes[AB_SLOT_EXPORT_REQUEST] = (ab_route_t){AB_ROUTE_ANSWER, NULL};
    answers->world->source.policy = &answers->policy;
    answers->world->source.snapshots = EV;
    (void)world_add_record(answers->world, "a", EXPORT_REQUEST);
    answers->request = world_add_record(answers->world, "a", EXPORT_REQUEST);
    world_relay(answers->world, 0);
}

/* An answer says something else than its request did. */
static output_t *answer_of(const answers_t *answers)
{
    output_t *answer = world_make(answers->world, answers->request, EV, NULL, NULL, NULL);
    answer->full.record.value = aw_span_text_view("a snapshot");
    return answer;
}

static void test_audit_answered_requests_have_no_fault(void **state)
{
    answers_t answers;
    (void)state;
    open_answers(&answers);
    (void)world_show(answers.world, answer_of(&answers));
    world_judge_all(answers.world);
    assert_int_equal(answers.world->fault_count, 0);
    assert_int_equal(answers.world->audit.counts.answered, 2);
    world_free(answers.world);
}

static void test_audit_answer_that_is_missing_is_named(void **state)
{
    answers_t answers;
    (void)state;
    open_answers(&answers);
    world_assert_only_fault(answers.world, AB_FAULT_MISSING, 1, EV, 0);
    assert_int_equal(answers.world->audit.counts.answered, 1);
    assert_int_equal(answers.world->audit.counts.missing_outcomes, 1);
    world_free(answers.world);
}

static void test_audit_answer_that_is_doubled_is_named(void **state)
{
    (void)state;
    for (int allowed = 0; allowed <= 1; allowed++) {
        answers_t answers;
        open_answers(&answers);
        answers.world->audit.duplicates_allowed = allowed;
        (void)world_show(answers.world, answer_of(&answers));
        (void)world_show(answers.world, answer_of(&answers));
        if (allowed) {
            world_judge_all(answers.world);
            assert_int_equal(answers.world->fault_count, 0);
        } else {
            world_assert_only_fault(answers.world, AB_FAULT_DUPLICATE, 1, EV, 0);
        }
        assert_int_equal(answers.world->audit.duplicates, allowed);
        assert_int_equal(answers.world->audit.counts.answered, 2);
        world_free(answers.world);
    }
}

static void test_audit_answer_that_is_altered_is_named(void **state)
{
    (void)state;
    for (int part = 0; part < 2; part++) {
        answers_t answers;
        open_answers(&answers);
        output_t *answer = answer_of(&answers);
        if (part == 0) {
            answer->full.record.key = aw_span_text_view("b");
        } else {
            answer->full.record.partition ^= 1;
        }
        (void)world_show(answers.world, answer);
        world_assert_only_fault(answers.world, AB_FAULT_ALTERED, 1, EV,
                                part == 0 ? AB_PART_OF_KEY : AB_PART_OF_PARTITION);
        world_free(answers.world);
    }
}

static void test_audit_answer_and_letter_are_one_too_many(void **state)
{
    answers_t answers;
    (void)state;
    open_answers(&answers);
    ab_verdict_t verdict = world_verdict_of(answers.world, answers.request);
    ab_verdict_refuse_answer(&verdict, AB_REASON_STATE_UNKNOWN);
    (void)world_show(answers.world, answer_of(&answers));
    (void)world_show(answers.world,
                     world_make(answers.world, answers.request, ERRORS, NULL, &verdict, NULL));
    world_assert_only_fault(answers.world, AB_FAULT_UNEXPECTED, 1, ERRORS, 0);
    world_free(answers.world);
}

static void test_audit_request_that_no_state_could_answer_is_a_lawful_letter(void **state)
{
    static const ab_reason_t reasons[] = {AB_REASON_STATE_UNKNOWN, AB_REASON_STATE_NOT_READY};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        answers_t answers;
        open_answers(&answers);
        ab_verdict_t verdict = world_verdict_of(answers.world, answers.request);
        ab_verdict_refuse_answer(&verdict, reasons[i]);
        for (int topic = ERRORS; topic <= QUARANTINE; topic++) {
            (void)world_show(answers.world, world_make(answers.world, answers.request, topic,
                                                       AB_COPY_TEXT_WHOLE, &verdict, NULL));
        }
        world_judge_all(answers.world);
        assert_int_equal(answers.world->fault_count, 0);
        assert_int_equal(answers.world->audit.counts.answered, 1);
        assert_int_equal(answers.world->audit.counts.dead_lettered, 1);
        world_free(answers.world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_audit_answered_requests_have_no_fault),
        cmocka_unit_test(test_audit_answer_that_is_missing_is_named),
        cmocka_unit_test(test_audit_answer_that_is_doubled_is_named),
        cmocka_unit_test(test_audit_answer_that_is_altered_is_named),
        cmocka_unit_test(test_audit_answer_and_letter_are_one_too_many),
        cmocka_unit_test(test_audit_request_that_no_state_could_answer_is_a_lawful_letter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
