#include "bridge/kafka/redrive_state.h"

#include <string.h>

#include "agentwire/crypto.h"
#include "agentwire/envelope.h"
#include "agentwire/status.h"
#include "bridge/kafka/relay.h"

static const ab_policy_t *policy_of(const ab_config_t *config, const char *topic)
{
    for (size_t s = 0; s < config->source_count; s++) {
        if (strcmp(config->sources[s].policy.topic, topic) == 0) {
            return &config->sources[s].policy;
        }
    }
    return NULL;
}

/* The key that the value names; empty where it cannot be read. */
static aw_span_t entity_key_of(aw_span_t value)
{
    aw_envelope_view_t view;
    if (value.data == NULL || aw_envelope_scan(value, &view, NULL) != AW_OK) {
        return AW_SPAN_NULL;
    }
    return view.entity_key;
}

static bool is_selected(const ab_redrive_t *redrive, const ab_full_record_t *record,
                        const ab_trailer_t *trailer)
{
    const ab_selection_t *selection = &redrive->job.selection;
    const ab_record_t *stored = &record->record;
    const int64_t written_ms =
        stored->timestamp_type == AB_TIMESTAMP_NONE ? INT64_MIN : stored->timestamp_ms;
    const aw_span_t entity_key = selection->key.data != NULL && trailer->copy == AB_COPY_WHOLE
                                     ? entity_key_of(stored->value)
                                     : AW_SPAN_NULL;
    ab_coordinates_t place = {.partition = stored->partition, .offset = stored->offset};
    const size_t size = strnlen(stored->topic, AB_TOPIC_MAX);
    memcpy(place.topic, stored->topic, size);
    place.topic[size] = '\0';
    return ab_selection_fits(selection, &place, written_ms, trailer, stored->key, entity_key);
}

/* The value is the one that was dead-lettered. False also when OpenSSL has no memory. */
static bool is_the_value(const ab_trailer_t *trailer, aw_span_t value)
{
    char sha256[AW_SHA256_HEX_SIZE];
    if (trailer->sha256.data == NULL || value.data == NULL) {
        return trailer->sha256.data == NULL && value.data == NULL;
    }
    return value.size == trailer->value_size && aw_sha256_hex(value, sha256) == AW_OK &&
           aw_span_equal(trailer->sha256, aw_span_text_view(sha256));
}

/* Reads the original where it came from. Returns 0 and a fate (WRITE: it is there), or why the job
 * cannot go on. */
static int fetch_original(ab_redrive_t *redrive, ab_redrive_choice_t *choice)
{
    if (redrive->originals == NULL) {
        const ab_reader_options_t options = {.timeout_ms = redrive->setup.timeout_ms};
        char text[AB_READER_TEXT_MAX];
        redrive->originals = ab_reader_new(redrive->config, &options, text);
        if (redrive->originals == NULL) {
            return ab_redrive_fail(redrive, AB_EXIT_FATAL, "%s", text);
        }
    }
    const ab_read_status_t status =
        ab_reader_fetch(redrive->originals, &choice->trailer.source, &choice->original);
    switch (status) {
    case AB_READ_OK:
        choice->fate =
            choice->original.headers_unreadable ? AB_REDRIVE_UNREADABLE : AB_REDRIVE_WRITE;
        choice->trailer.own_headers = choice->original.header_count;
        return 0;
    case AB_READ_NOTHING:
    case AB_READ_MISSING:
        choice->fate = AB_REDRIVE_GONE;
        choice->more = ab_reader_text_view(redrive->originals);
        return 0;
    default:
        return ab_redrive_fail(redrive, ab_read_exit_code(status), "%s",
                               ab_reader_text_view(redrive->originals));
    }
}

static void take_whole(const ab_full_record_t *record, ab_redrive_choice_t *choice)
{
    const ab_trailer_t *trailer = &choice->trailer;
    choice->fate = AB_REDRIVE_WRITE;
    choice->original = *record;
    choice->original.record.partition = trailer->source.partition;
    choice->original.record.offset = trailer->source.offset;
    choice->original.record.timestamp_ms = trailer->timestamp_ms;
    choice->original.record.timestamp_type = trailer->timestamp_type;
}

/* Gets hold of the original, and judges it with the present configuration. */
static int judge_original(ab_redrive_t *redrive, const ab_full_record_t *record,
                          ab_redrive_choice_t *choice)
{
    if (choice->trailer.copy == AB_COPY_WHOLE) {
        take_whole(record, choice);
    } else {
        const int code = fetch_original(redrive, choice);
        if (code != 0 || choice->fate != AB_REDRIVE_WRITE) {
            return code;
        }
    }
    ab_record_t *original = &choice->original.record;
    original->topic = choice->trailer.source.topic;
    original->hops = ab_redrive_hops(&choice->trailer);
    choice->original.header_count =
        ab_redrive_kept_headers(choice->original.headers, &choice->trailer);
    if (!is_the_value(&choice->trailer, original->value)) {
        choice->fate = AB_REDRIVE_ALTERED;
        return 0;
    }
    aw_arena_reset(redrive->scratch);
    if (ab_redrive_plan(original, policy_of(redrive->config, original->topic), &redrive->job,
                        redrive->scratch, &choice->plan) != AW_OK) {
        return ab_redrive_fail(redrive, AB_EXIT_FATAL, "memory ran out");
    }
    choice->fate = choice->plan.fate;
    if (choice->fate == AB_REDRIVE_REFUSED_AGAIN) {
        choice->more = ab_reason_code(choice->plan.verdict.reason);
    }
    return 0;
}

bool ab_redrive_judge(ab_redrive_t *redrive, ab_redrive_part_t *part,
                      const ab_full_record_t *record, ab_redrive_choice_t *ret_choice,
                      int *ret_code)
{
    char job[AB_JOB_ID_MAX];
    ab_coordinates_t marked;
    *ret_code = 0;
    memset(ret_choice, 0, sizeof(*ret_choice));
    if (ab_marker_read(record, &marked, job)) {
        return false;
    }
    bool known = !record->headers_unreadable &&
                 ab_trailer_read(record->headers, record->header_count, &ret_choice->trailer);
    if (known && ret_choice->trailer.copy == AB_COPY_NONE) {
        known = false; /* a dead letter's headers on something that is no copy */
        memset(&ret_choice->trailer, 0, sizeof(ret_choice->trailer));
    }
    if (!is_selected(redrive, record, &ret_choice->trailer)) {
        return false;
    }
    if (!redrive->job.again && ab_offset_set_has(&part->marked, record->record.offset)) {
        ret_choice->fate = AB_REDRIVE_MARKED;
    } else if (!known) {
        ret_choice->fate = record->headers_unreadable ? AB_REDRIVE_UNREADABLE : AB_REDRIVE_FOREIGN;
    } else {
        *ret_code = judge_original(redrive, record, ret_choice);
    }
    return true;
}
