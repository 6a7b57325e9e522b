#ifndef BRIDGE_KAFKA_CHECK_JUDGE_H
#define BRIDGE_KAFKA_CHECK_JUDGE_H

#include "bridge/kafka/check.h"
#include "bridge/kafka/check_facts.h"

/** What an errors or quarantine topic must take, so that every dead letter fits. */
#define AB_CHECK_LETTER_BYTES 16384
/** Room for key, headers and batch around a value of max_value. */
#define AB_CHECK_RECORD_ROOM 1024

/** Holds facts against a configuration and appends what is to be said: a row a topic, a row a
 *  finding. Asks nobody. */
void ab_check_judge(const ab_config_t *config, const ab_check_facts_t *facts,
                    ab_check_report_t *report);

/** Longest text of ab_check_time_text(), NUL included. */
#define AB_CHECK_TIME_MAX 32

/** Milliseconds in words: "7d", "90m", "for ever" for a negative number, "without limit" for the
 *  largest. Returns ret_text. */
const char *ab_check_time_text(int64_t ms, char ret_text[AB_CHECK_TIME_MAX]);

#endif
