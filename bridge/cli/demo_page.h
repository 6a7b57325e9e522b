#ifndef BRIDGE_CLI_DEMO_PAGE_H
#define BRIDGE_CLI_DEMO_PAGE_H

#include <stdio.h>

#include "bridge/cli/demo_audit.h"

/** What the demo prints, for people: at most 100 columns, 80 on a terminal that has no more, and
 *  colours on a terminal only, unless NO_COLOR is set. Everything but the broker's port is the same
 *  on every run. */
typedef struct ab_demo_page {
    FILE *out;
    bool colour;
    unsigned columns;
} ab_demo_page_t;

/** Looks at where out goes. */
ab_demo_page_t ab_demo_page_of(FILE *out);

/** What is about to happen, and the configuration it happens with. */
void ab_demo_page_begin(const ab_demo_page_t *page, const char *config, size_t records);

/** The table: per outcome and reason the count and one of them; a dead letter's detail; the
 *  ledger. Returns 0, or -1 when memory is short. */
int ab_demo_page_results(const ab_demo_page_t *page, const ab_demo_audit_t *audit,
                         const ab_ledger_t *ledger);

/** What was checked, or what differs; what this does not prove; what to try next. */
void ab_demo_page_end(const ab_demo_page_t *page, const ab_demo_audit_t *audit);

#endif
