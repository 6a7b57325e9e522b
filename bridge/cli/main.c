#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bridge/cli/cli.h"

static const ab_verb_t *const VERBS[] = {
    &ab_verb_run,      &ab_verb_demo,   &ab_verb_lint,   &ab_verb_check,   &ab_verb_health,
    &ab_verb_inspect,  &ab_verb_encode, &ab_verb_intent, &ab_verb_verify,  &ab_verb_redrive,
    &ab_verb_snapshot, &ab_verb_store,  &ab_verb_errors, &ab_verb_explain, &ab_verb_version,
};
#define VERB_COUNT (sizeof(VERBS) / sizeof(VERBS[0]))

/** A mistyped verb is compared up to this length, and is near up to this many wrong letters. */
#define VERB_NAME_MAX     16u
#define VERB_DISTANCE_MAX 2u

static void print_help(FILE *out)
{
    (void)fputs(
        "Usage: agent-bridge VERB [OPTION]...\n"
        "Moves AgentEnvelope records from Kafka topics to a topic per variant, exactly once;\n"
        "what cannot be vouched for becomes a dead letter.\n"
        "\n"
        "Verbs:\n",
        out);
    for (size_t i = 0; i < VERB_COUNT; i++) {
        (void)fprintf(out, "  %-9s %s\n", VERBS[i]->name, VERBS[i]->summary);
    }
    (void)fputs("\n"
                "'agent-bridge VERB --help' says what a verb does, takes and returns.\n"
                "'agent-bridge demo' shows all of it and needs nothing installed.\n",
                out);
}

/** How many letters must be put in, left out or changed to make one word of the other. */
static unsigned edit_distance(const char *a, const char *b)
{
    unsigned row[VERB_NAME_MAX + 1];
    size_t width = strlen(b);

    for (unsigned j = 0; j <= width; j++) {
        row[j] = j;
    }
    for (unsigned i = 1; i <= strlen(a); i++) {
        unsigned diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            unsigned best = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);

            diagonal = row[j];
            best = best < diagonal + 1 ? best : diagonal + 1;
            row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
        }
    }
    return row[width];
}

static int unknown_verb(const char *name)
{
    const ab_verb_t *nearest = NULL;
    unsigned nearest_distance = VERB_DISTANCE_MAX + 1;

    for (size_t i = 0; i < VERB_COUNT && strlen(name) <= VERB_NAME_MAX; i++) {
        unsigned distance = edit_distance(name, VERBS[i]->name);

        if (distance < nearest_distance) {
            nearest = VERBS[i];
            nearest_distance = distance;
        }
    }
    (void)fprintf(stderr, "agent-bridge: unknown verb '%s'", name);
    if (nearest != NULL) {
        (void)fprintf(stderr, "; did you mean '%s'?", nearest->name);
    }
    (void)fputs("\nTry 'agent-bridge --help'.\n", stderr);
    return AB_CLI_USAGE;
}

static const ab_verb_t *find_verb(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (strcmp(VERBS[i]->name, name) == 0) {
            return VERBS[i];
        }
    }
    return NULL;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

static int dispatch(int argc, char **argv)
{
    static char version_name[] = "version";
    static char *version_argv[] = {version_name, NULL};
    const ab_verb_t *verb;

    if (argc < 2) {
        print_help(stderr);
        return AB_CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return AB_CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        return ab_verb_version.run(1, version_argv);
    }
    verb = find_verb(argv[1]);
    if (verb == NULL) {
        return unknown_verb(argv[1]);
    }
    if (asks_for_help(argc - 1, argv + 1)) {
        (void)fputs(verb->help, stdout);
        return AB_CLI_OK;
    }
    return verb->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    int code;

    /* A reader that goes away shows as a write error, which is reported; a signal says nothing. */
    (void)signal(SIGPIPE, SIG_IGN);
    opterr = 0;
    code = dispatch(argc, argv);
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        (void)fprintf(stderr, "agent-bridge: standard output could not be written: %s\n",
                      errno != 0 ? strerror(errno) : "an earlier write failed");
        return code != AB_CLI_OK ? code : AB_CLI_IO;
    }
    return code;
}
