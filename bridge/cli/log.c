#include "bridge/cli/log.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bridge/cli/log_line.h"
#include "bridge/core/record.h"

/** Longest first key kept to tell accounts apart, NUL included; reasons and facilities are far
 *  shorter. */
#define KEY_MAX 48

/** An event that comes in storms: told once per pair of keys in AB_LOG_HOLD_MS. */
typedef struct storm {
    const char *event;
    const char *keys[2]; /* the names of its two fields that tell accounts apart */
    const char *held_event;
    const char *held_message;
} storm_t;

static const storm_t storms[] = {
    {"dead_letter",
     {"reason", "source_topic"},
     "dead_letters_held_back",
     "more dead letters of this reason and source were not told one by one"},
    {"state_refused",
     {"reason", "source_topic"},
     "state_refused_held_back",
     "more state records of this reason and topic were refused and not told one by one"},
    {"librdkafka",
     {"facility", "client"},
     "librdkafka_held_back",
     "more lines of this facility and client were not told one by one"},
};

/** What is held back of one storm and pair of keys. */
typedef struct held {
    const storm_t *storm; /* NULL: the shared account, not used yet */
    char first[KEY_MAX];
    char second[AB_TOPIC_MAX + 1];
    ab_level_t level;
    bool told; /* a line was written, at since_ms */
    int64_t since_ms;
    uint64_t count; /* held back since */
} held_t;

struct ab_log {
    int fd;
    ab_log_format_t format;
    ab_level_t level;
    ab_log_clock_t clock;
    pthread_mutex_t mutex; /* everything below, and the order of the lines */
    bool stuck;            /* the reader of the log stands still */
    uint64_t lost;
    size_t held_count;
    held_t held[AB_LOG_HELD_MAX + 1]; /* the last one is for all that found no place */
};

static int64_t system_ms(clockid_t id)
{
    struct timespec now;

    (void)clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t system_wall_ms(void *opaque)
{
    (void)opaque;
    return system_ms(CLOCK_REALTIME);
}

static int64_t system_monotonic_ms(void *opaque)
{
    (void)opaque;
    return system_ms(CLOCK_MONOTONIC);
}

ab_log_t *ab_log_new(const ab_log_options_t *options)
{
    static const ab_log_clock_t system_clock = {system_wall_ms, system_monotonic_ms, NULL};
    ab_log_t *log = calloc(1, sizeof(*log));

    if (log == NULL) {
        return NULL;
    }
    log->fd = options->fd;
    log->format = options->format;
    log->level = options->level;
    log->clock = options->clock != NULL ? *options->clock : system_clock;
    if (pthread_mutex_init(&log->mutex, NULL) != 0) {
        free(log);
        return NULL;
    }
    return log;
}

static size_t format_line(const ab_log_t *log, const ab_log_line_t *line,
                          char ret_text[AB_LOG_LINE_MAX])
{
    return log->format == AB_LOG_JSON ? ab_log_line_json(line, ret_text)
                                      : ab_log_line_text(line, ret_text);
}

/** Writes without waiting longer than wait_ms at a time; false when a part is left. */
static bool write_all(int fd, const char *text, size_t size, int wait_ms)
{
    while (size > 0) {
        struct pollfd ready = {fd, POLLOUT, 0};
        ssize_t written;
        int count = poll(&ready, 1, wait_ms);

        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        written = write(fd, text, size);
        if (written < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        text += written;
        size -= (size_t)written;
    }
    return true;
}

/** Writes one line; the caller holds the mutex. */
static void write_line(ab_log_t *log, ab_log_line_t *line)
{
    char text[AB_LOG_LINE_MAX];

    line->wall_ms = log->clock.wall_ms(log->clock.opaque);
    line->lost = log->lost;
    if (write_all(log->fd, text, format_line(log, line, text), log->stuck ? 0 : AB_LOG_WAIT_MS)) {
        log->lost = 0;
        log->stuck = false;
    } else {
        log->lost++;
        log->stuck = true;
    }
}

static const char *text_field(const ab_field_t *fields, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++) {
        if (fields[i].kind == AB_FIELD_TEXT && fields[i].text != NULL &&
            strcmp(fields[i].name, name) == 0) {
            return fields[i].text;
        }
    }
    return "";
}

/** The account of a pair of keys; the shared one where no place is left. */
static held_t *held_of(ab_log_t *log, const storm_t *storm, const char *first, const char *second)
{
    held_t *held;

    for (size_t i = 0; i < log->held_count; i++) {
        held = &log->held[i];
        if (held->storm == storm && strncmp(held->first, first, KEY_MAX - 1) == 0 &&
            strncmp(held->second, second, AB_TOPIC_MAX) == 0) {
            return held;
        }
    }
    if (log->held_count == AB_LOG_HELD_MAX) {
        held = &log->held[AB_LOG_HELD_MAX];
        held->storm = storm;
        return held;
    }
    held = &log->held[log->held_count++];
    held->storm = storm;
    (void)memccpy(held->first, first, '\0', KEY_MAX - 1);
    (void)memccpy(held->second, second, '\0', AB_TOPIC_MAX);
    return held;
}

/** The storm an event belongs to, NULL for one that is always told. */
static const storm_t *storm_of(const char *event)
{
    for (size_t i = 0; i < sizeof(storms) / sizeof(storms[0]); i++) {
        if (strcmp(storms[i].event, event) == 0) {
            return &storms[i];
        }
    }
    return NULL;
}

/** True when the line is to be held back; else ret_before is how many were, and the time starts
 *  anew. */
static bool hold_back(ab_log_t *log, const storm_t *storm, const ab_log_line_t *line,
                      uint64_t *ret_before)
{
    int64_t now_ms = log->clock.monotonic_ms(log->clock.opaque);
    held_t *held = held_of(log, storm, text_field(line->fields, line->field_count, storm->keys[0]),
                           text_field(line->fields, line->field_count, storm->keys[1]));

    if (held->told && now_ms - held->since_ms < AB_LOG_HOLD_MS) {
        held->count++;
        held->level = line->level;
        return true;
    }
    *ret_before = held->count;
    held->count = 0;
    held->told = true;
    held->since_ms = now_ms;
    return false;
}

void ab_log_emit(void *opaque, ab_level_t level, const char *event, const char *message,
                 const ab_field_t *fields, unsigned field_count)
{
    ab_log_t *log = opaque;
    ab_log_line_t line = {.level = level,
                          .event = event,
                          .message = message,
                          .fields = fields,
                          .field_count = field_count};
    const storm_t *storm = storm_of(event);

    assert(field_count <= AB_FIELDS_MAX);
    if (level > log->level) {
        return;
    }
    (void)pthread_mutex_lock(&log->mutex);
    if (storm == NULL || !hold_back(log, storm, &line, &line.held_back)) {
        write_line(log, &line);
    }
    (void)pthread_mutex_unlock(&log->mutex);
}

/** Tells what one account holds back; the caller holds the mutex. */
static void tell_held(ab_log_t *log, held_t *held)
{
    const ab_field_t fields[] = {
        AB_TEXT(held->storm->keys[0], held->first[0] != '\0' ? held->first : NULL),
        AB_TEXT(held->storm->keys[1], held->second[0] != '\0' ? held->second : NULL),
    };
    ab_log_line_t line = {.level = held->level,
                          .event = held->storm->held_event,
                          .message = held->storm->held_message,
                          .fields = fields,
                          .field_count = sizeof(fields) / sizeof(fields[0]),
                          .held_back = held->count};

    held->count = 0;
    write_line(log, &line);
}

static void tell_all_held(ab_log_t *log, bool all)
{
    int64_t now_ms = log->clock.monotonic_ms(log->clock.opaque);

    (void)pthread_mutex_lock(&log->mutex);
    for (size_t i = 0; i <= AB_LOG_HELD_MAX; i++) {
        held_t *held = &log->held[i];

        if (held->count != 0 && (all || now_ms - held->since_ms >= AB_LOG_HOLD_MS)) {
            held->since_ms = now_ms;
            tell_held(log, held);
        }
    }
    (void)pthread_mutex_unlock(&log->mutex);
}

void ab_log_tick(ab_log_t *log)
{
    tell_all_held(log, false);
}

void ab_log_last_words(const ab_log_t *log, ab_level_t level, const char *event,
                       const char *message)
{
    ab_log_line_t line = {.wall_ms = log->clock.wall_ms(log->clock.opaque),
                          .level = level,
                          .event = event,
                          .message = message};
    char text[AB_LOG_LINE_MAX];

    if (level <= log->level) {
        (void)write_all(log->fd, text, format_line(log, &line, text), 0);
    }
}

ab_sink_t ab_log_sink(ab_log_t *log)
{
    return (ab_sink_t){ab_log_emit, log};
}

void ab_log_free(ab_log_t *log)
{
    if (log == NULL) {
        return;
    }
    tell_all_held(log, true);
    (void)pthread_mutex_destroy(&log->mutex);
    free(log);
}
