#include "bridge/kafka/redrive_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/kafka/errors.h"
#include "bridge/kafka/relay.h"

/* Most groups that are asked for their offsets. */
#define GROUPS_MAX 1000u

static int fail_of(ab_redrive_t *redrive, const char *what, rd_kafka_resp_err_t err)
{
    if (ab_error_is_denied(err)) {
        return ab_redrive_fail(redrive, AB_EXIT_NOT_ALLOWED, "%s: %s; allow Describe on the group",
                               what, rd_kafka_err2str(err));
    }
    return ab_redrive_fail(redrive, AB_EXIT_UNAVAILABLE, "%s: %s", what, rd_kafka_err2str(err));
}

static rd_kafka_AdminOptions_t *options_for(ab_redrive_t *redrive, rd_kafka_admin_op_t operation)
{
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(redrive->probe, operation);
    char text[128];
    (void)rd_kafka_AdminOptions_set_request_timeout(options, redrive->setup.timeout_ms, text,
                                                    sizeof(text));
    return options;
}

/* The event that answers a question about one group's offsets; NULL without an answer. stable:
 * not while a transaction that moves them is open. The caller destroys it. */
static rd_kafka_event_t *ask_offsets(ab_redrive_t *redrive, const char *group, bool stable,
                                     const rd_kafka_topic_partition_list_t *partitions)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(redrive->probe);
    rd_kafka_AdminOptions_t *options =
        options_for(redrive, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS);
    rd_kafka_error_t *error = rd_kafka_AdminOptions_set_require_stable_offsets(options, stable);
    rd_kafka_error_destroy(error);
    rd_kafka_ListConsumerGroupOffsets_t *request =
        rd_kafka_ListConsumerGroupOffsets_new(group, partitions);
    rd_kafka_ListConsumerGroupOffsets(redrive->probe, &request, 1, options, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, redrive->setup.timeout_ms + 1000);
    rd_kafka_ListConsumerGroupOffsets_destroy(request);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_queue_destroy(queue);
    return event;
}

/* The offsets in such an answer, borrowed from it; NULL and *ret_error where there are none. */
static const rd_kafka_topic_partition_list_t *offsets_in(rd_kafka_event_t *event,
                                                         rd_kafka_resp_err_t *ret_error)
{
    size_t count = 0;
    *ret_error = event != NULL ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (*ret_error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return NULL;
    }
    const rd_kafka_group_result_t **groups = rd_kafka_ListConsumerGroupOffsets_result_groups(
        rd_kafka_event_ListConsumerGroupOffsets_result(event), &count);
    const rd_kafka_error_t *error = count == 1 ? rd_kafka_group_result_error(groups[0]) : NULL;
    *ret_error = error != NULL ? rd_kafka_error_code(error) : RD_KAFKA_RESP_ERR_NO_ERROR;
    return count == 1 && error == NULL ? rd_kafka_group_result_partitions(groups[0]) : NULL;
}

/* ---- the job's own ---- */

static ab_redrive_part_t *part_of(ab_redrive_t *redrive, const rd_kafka_topic_partition_t *place)
{
    for (size_t i = 0; i < redrive->part_count; i++) {
        if (redrive->parts[i].partition == place->partition &&
            strcmp(redrive->parts[i].topic, place->topic) == 0) {
            return &redrive->parts[i];
        }
    }
    return NULL;
}

static int recall_part(ab_redrive_t *redrive, const rd_kafka_topic_partition_t *place,
                       bool *ret_found)
{
    ab_redrive_part_t *part = part_of(redrive, place);
    if (place->err != RD_KAFKA_RESP_ERR_NO_ERROR) { /* not the same as nothing being there */
        return fail_of(redrive, redrive->setup.resume, place->err);
    }
    if (part == NULL || place->offset < 0) {
        return 0;
    }
    char text[AB_JOB_TEXT_MAX];
    if (!ab_job_parse(aw_span_view(place->metadata, place->metadata_size), &redrive->job) ||
        ab_job_text(&redrive->job, text) == 0) {
        return ab_redrive_fail(redrive, AB_EXIT_CONFIG,
                               "what is remembered of job %s cannot be read; was it begun by "
                               "another version?",
                               redrive->setup.resume);
    }
    *ret_found = true;
    part->position = place->offset;
    part->committed = place->offset;
    part->end = redrive->job.end;
    part->written = redrive->job.written;
    return 0;
}

int ab_redrive_recall(ab_redrive_t *redrive, bool stable, bool *ret_found)
{
    char group[sizeof(redrive->group)];
    rd_kafka_resp_err_t err;
    int code = 0;
    (void)snprintf(group, sizeof(group), "%s.redrive.%s", redrive->config->group,
                   redrive->setup.resume);
    *ret_found = false;
    /* What the job does not remember is not its: nothing of it is read. */
    for (size_t i = 0; i < redrive->part_count; i++) {
        redrive->parts[i].end = redrive->parts[i].position;
    }
    rd_kafka_topic_partition_list_t *places =
        rd_kafka_topic_partition_list_new((int)redrive->part_count);
    for (size_t i = 0; i < redrive->part_count; i++) {
        rd_kafka_topic_partition_list_add(places, redrive->parts[i].topic,
                                          redrive->parts[i].partition);
    }
    rd_kafka_event_t *event = ask_offsets(redrive, group, stable, places);
    const rd_kafka_topic_partition_list_t *offsets = offsets_in(event, &err);
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        code = fail_of(redrive, group, err);
    }
    for (int i = 0; offsets != NULL && code == 0 && i < offsets->cnt; i++) {
        code = recall_part(redrive, &offsets->elems[i], ret_found);
    }
    if (event != NULL) {
        rd_kafka_event_destroy(event);
    }
    rd_kafka_topic_partition_list_destroy(places);
    return code;
}

/* ---- others ---- */

static bool is_ours(const ab_redrive_t *redrive, const char *group)
{
    const size_t size = strlen(redrive->config->group);
    return strncmp(group, redrive->config->group, size) == 0 &&
           (group[size] == '\0' || strncmp(group + size, ".redrive.", 9) == 0);
}

static int tell_if_reader(ab_redrive_t *redrive, const char *group, const char *topic,
                          int32_t partitions, void (*on_group)(void *opaque, const char *group),
                          void *opaque)
{
    rd_kafka_resp_err_t err;
    int code = 0;
    rd_kafka_topic_partition_list_t *places = rd_kafka_topic_partition_list_new(partitions);
    for (int32_t p = 0; p < partitions; p++) {
        rd_kafka_topic_partition_list_add(places, topic, p);
    }
    rd_kafka_event_t *event = ask_offsets(redrive, group, false, places);
    const rd_kafka_topic_partition_list_t *offsets = offsets_in(event, &err);
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        code = fail_of(redrive, group, err);
    }
    for (int i = 0; offsets != NULL && i < offsets->cnt; i++) {
        if (offsets->elems[i].offset >= 0) {
            on_group(opaque, group);
            break;
        }
    }
    if (event != NULL) {
        rd_kafka_event_destroy(event);
    }
    rd_kafka_topic_partition_list_destroy(places);
    return code;
}

int ab_redrive_groups(ab_redrive_t *redrive, const char *topic,
                      void (*on_group)(void *opaque, const char *group), void *opaque)
{
    int32_t partitions = 0;
    char text[512];
    int code = 0;
    if (ab_topic_ask(redrive->probe, topic, redrive->setup.timeout_ms, &partitions, NULL, text,
                     sizeof(text)) != AB_TOPIC_OK) {
        return ab_redrive_fail(redrive, AB_EXIT_UNAVAILABLE, "%s: %s", topic, text);
    }
    rd_kafka_queue_t *queue = rd_kafka_queue_new(redrive->probe);
    rd_kafka_AdminOptions_t *options = options_for(redrive, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPS);
    rd_kafka_ListConsumerGroups(redrive->probe, options, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, redrive->setup.timeout_ms + 1000);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_queue_destroy(queue);
    const rd_kafka_resp_err_t err =
        event != NULL ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        code = fail_of(redrive, "the consumer groups", err);
    } else {
        size_t count = 0;
        const rd_kafka_ConsumerGroupListing_t **groups = rd_kafka_ListConsumerGroups_result_valid(
            rd_kafka_event_ListConsumerGroups_result(event), &count);
        if (count > GROUPS_MAX) {
            code = ab_redrive_fail(redrive, AB_EXIT_UNAVAILABLE,
                                   "there are %zu groups, too many to ask each", count);
        }
        for (size_t i = 0; i < count && code == 0; i++) {
            const char *group = rd_kafka_ConsumerGroupListing_group_id(groups[i]);
            if (!is_ours(redrive, group)) {
                code = tell_if_reader(redrive, group, topic, partitions, on_group, opaque);
            }
        }
        /* A broker that did not answer coordinates groups that are not in the list. */
        const rd_kafka_error_t **errors = rd_kafka_ListConsumerGroups_result_errors(
            rd_kafka_event_ListConsumerGroups_result(event), &count);
        if (count > 0 && code == 0) {
            code =
                fail_of(redrive, "the consumer groups of a broker", rd_kafka_error_code(errors[0]));
        }
    }
    if (event != NULL) {
        rd_kafka_event_destroy(event);
    }
    return code;
}
