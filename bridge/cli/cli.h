#ifndef BRIDGE_CLI_CLI_H
#define BRIDGE_CLI_CLI_H

/** Exit codes of the verbs, after sysexits.h. Those of a relay are in bridge/kafka/relay.h. */
typedef enum ab_cli_exit {
    AB_CLI_OK = 0,
    AB_CLI_FINDINGS = 1,     /* the work was done and found something to complain about */
    AB_CLI_USAGE = 64,       /* the command line is wrong */
    AB_CLI_DATA = 65,        /* the input is bad */
    AB_CLI_NO_INPUT = 66,    /* an input file cannot be read */
    AB_CLI_UNAVAILABLE = 69, /* what was asked does not answer */
    AB_CLI_FATAL = 70,       /* memory ran out, a thread could not be made */
    AB_CLI_IO = 74,          /* standard output, or a file of the verb's, could not be written */
    AB_CLI_CONFIG = 78       /* the configuration is wrong */
} ab_cli_exit_t;

/** One verb. Each lives in a file of its own, which exports nothing but this. */
typedef struct ab_verb {
    const char *name;
    const char *summary; /* a few words for the list of verbs */
    const char *help;    /* the whole text of --help, with a newline at its end */
    /** Does the work and returns an exit code. argv[0] is the verb's name; --help and -h were seen
     *  to already. Results go to stdout, whose errors main.c reports; complaints go to stderr. */
    int (*run)(int argc, char **argv);
} ab_verb_t;

extern const ab_verb_t ab_verb_run;
extern const ab_verb_t ab_verb_demo;
extern const ab_verb_t ab_verb_lint;
extern const ab_verb_t ab_verb_check;
extern const ab_verb_t ab_verb_health;
extern const ab_verb_t ab_verb_inspect;
extern const ab_verb_t ab_verb_encode;
extern const ab_verb_t ab_verb_intent;
extern const ab_verb_t ab_verb_verify;
extern const ab_verb_t ab_verb_redrive;
extern const ab_verb_t ab_verb_snapshot;
extern const ab_verb_t ab_verb_store;
extern const ab_verb_t ab_verb_errors;
extern const ab_verb_t ab_verb_explain;
extern const ab_verb_t ab_verb_version;

/** Complains about the command line on stderr, "agent-bridge VERB: …", and says where help is.
 *  Returns AB_CLI_USAGE, so that a verb can return the call. */
int ab_cli_usage_error(const ab_verb_t *verb, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The same for what getopt_long() refused: result is what it returned, ':' (the option string
 *  begins with a colon) or '?'. Call it at once, before the next getopt_long(). */
int ab_cli_option_error(const ab_verb_t *verb, char **argv, int result);

#endif
