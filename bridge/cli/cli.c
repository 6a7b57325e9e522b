#include "bridge/cli/cli.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int ab_cli_usage_error(const ab_verb_t *verb, const char *format, ...)
{
    va_list arguments;

    (void)fprintf(stderr, "agent-bridge %s: ", verb->name);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "\nTry 'agent-bridge %s --help'.\n", verb->name);
    return AB_CLI_USAGE;
}

int ab_cli_option_error(const ab_verb_t *verb, char **argv, int result)
{
    const char *word = argv[optind - 1];

    if (result == ':') {
        return ab_cli_usage_error(verb, "option '%s' needs a value", word);
    }
    /* getopt_long() names a short option in optopt, which may stand in the middle of a word; a long
     * one is unknown (optopt 0), or known and given a value that it does not take. */
    if (strncmp(word, "--", 2) != 0 && optopt != 0) {
        return ab_cli_usage_error(verb, "unknown option '-%c'", optopt);
    }
    if (optopt != 0) {
        return ab_cli_usage_error(verb, "option '%s' takes no value", word);
    }
    return ab_cli_usage_error(verb, "unknown or ambiguous option '%s'", word);
}
