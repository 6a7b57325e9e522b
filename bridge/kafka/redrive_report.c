#include "bridge/kafka/redrive_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bridge/core/text.h"

/* Progress is told at most so often. */
#define TELL_MS 250

static uint32_t random_number(void)
{
    uint32_t number = 0;
    FILE *file = fopen("/dev/urandom", "rb");
    if (file == NULL || fread(&number, sizeof(number), 1, file) != 1) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = (uint32_t)now.tv_nsec;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return number;
}

/* "20261201-011500-1c4f07aa", in UTC. */
void ab_redrive_make_id(char ret_id[AB_JOB_ID_MAX])
{
    const time_t now = time(NULL);
    struct tm parts;
    char text[20];
    (void)gmtime_r(&now, &parts);
    (void)strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &parts);
    (void)snprintf(ret_id, AB_JOB_ID_MAX, "%s-%08x", text, (unsigned)random_number());
}

static bool is_row(const ab_redrive_count_t *row, const char *reason, ab_redrive_fate_t fate,
                   const char *topic)
{
    return row->fate == fate && strcmp(row->reason, reason) == 0 && strcmp(row->topic, topic) == 0;
}

/* A new row; the last one of all takes what does not fit, so that the sum is right. */
static size_t add_row(ab_redrive_t *redrive, const char *reason, ab_redrive_fate_t fate,
                      const char *topic)
{
    if (redrive->report.count == redrive->count_room) {
        const size_t room = redrive->count_room * 2;
        ab_redrive_count_t *more =
            room <= AB_REDRIVE_COUNTS_MAX ? realloc(redrive->counts, room * sizeof(*more)) : NULL;
        if (more == NULL) {
            return redrive->report.count - 1;
        }
        redrive->counts = more;
        redrive->count_room = room;
        redrive->report.counts = more;
    }
    ab_redrive_count_t *row = &redrive->counts[redrive->report.count];
    *row = (ab_redrive_count_t){.fate = fate};
    (void)snprintf(row->reason, sizeof(row->reason), "%s", reason);
    (void)snprintf(row->topic, sizeof(row->topic), "%s", topic);
    return redrive->report.count++;
}

size_t ab_redrive_count(ab_redrive_t *redrive, aw_span_t reason, ab_redrive_fate_t fate,
                        const char *topic, uint64_t add)
{
    char text[AB_REDRIVE_REASON_MAX];
    (void)ab_text_clean(reason, text, sizeof(text));
    size_t at = redrive->last_count;
    if (at >= redrive->report.count || !is_row(&redrive->counts[at], text, fate, topic)) {
        for (at = 0; at < redrive->report.count; at++) {
            if (is_row(&redrive->counts[at], text, fate, topic)) {
                break;
            }
        }
    }
    if (at == redrive->report.count) {
        at = add_row(redrive, text, fate, topic);
    }
    if (at < redrive->report.count) {
        redrive->counts[at].records += add;
        redrive->last_count = at;
    }
    return at;
}

void ab_redrive_leave(ab_redrive_t *redrive, size_t part, const ab_redrive_left_t *left)
{
    if (redrive->item_count + redrive->rest_count == 0) {
        redrive->batch_ms = ab_redrive_now_ms();
    }
    ab_redrive_rest_t *rest = &redrive->rests[redrive->rest_count++];
    rest->part = part;
    rest->left = *left;
    (void)snprintf(rest->reason, sizeof(rest->reason), "%s", left->reason);
    (void)snprintf(rest->more, sizeof(rest->more), "%s", left->more);
    rest->left.reason = rest->reason;
    rest->left.more = rest->more;
    if (redrive->producer == NULL) {
        ab_redrive_settle_rests(redrive, true); /* a survey: nothing will become durable */
    }
}

void ab_redrive_settle_rests(ab_redrive_t *redrive, bool all)
{
    for (size_t i = 0; i < redrive->rest_count; i++) {
        const ab_redrive_rest_t *rest = &redrive->rests[i];
        if (!all && rest->left.place.offset >= redrive->parts[rest->part].committed) {
            continue;
        }
        (void)ab_redrive_count(redrive, aw_span_text_view(rest->reason), rest->left.fate, "", 1);
        redrive->report.selected++;
        if (rest->left.fate == AB_REDRIVE_MARKED) {
            redrive->report.marked++;
            continue;
        }
        redrive->report.left++;
        if (redrive->setup.on_left != NULL) {
            redrive->setup.on_left(redrive->setup.opaque, &rest->left);
        }
    }
    redrive->rest_count = 0;
}

void ab_redrive_tell(ab_redrive_t *redrive, bool now)
{
    const int64_t now_ms = ab_redrive_now_ms();
    if (redrive->setup.on_progress == NULL || (!now && now_ms - redrive->told_ms < TELL_MS)) {
        return;
    }
    redrive->told_ms = now_ms;
    redrive->setup.on_progress(redrive->setup.opaque, &redrive->report);
}
