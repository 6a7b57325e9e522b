#ifndef TESTS_MOCK_AUDIT_RUN_H
#define TESTS_MOCK_AUDIT_RUN_H

/* The demo's records through the real relay once. cmocka wants these before itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bridge/cli/demo_audit.h"
#include "bridge/config/config.h"
#include "bridge/kafka/embedded.h"

typedef struct run {
    ab_demo_plan_t *plan;
    ab_embedded_t *embedded;
    ab_client_t *client;
    ab_findings_t findings;
    ab_config_t *config;
    ab_ledger_t ledger;
    ab_records_t *records[AB_DEMO_TOPIC_COUNT];
    ab_demo_topics_t topics;
    void *folder; /* of the stores */
} run_t;

/* Setup and teardown of the group: *state is a run_t whose topics have been read back. */
int audit_run_open(void **state);
int audit_run_close(void **state);

#endif
