#ifndef CODEC_INBOX_FAULT_H
#define CODEC_INBOX_FAULT_H

#include "agentwire/inbox.h"
#include "codec/json/value.h"

/** Bytes of a value that a message quotes, dots included. */
#define AW__INBOX_QUOTE_MAX 96u

/** A result without a fault. */
void aw__inbox_accept(aw_inbox_result_t *ret_result);

/** Fills a result that holds no fault yet; the first one stays. at is the value at fault, for the
 * offset; NULL or made anew: none. pointer is all of this library's own words. */
void aw__inbox_fail(aw_inbox_result_t *result, aw_inbox_class_t outcome, const aw__json_value_t *at,
                    const char *pointer, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** The JSON text of a value, cut with dots where it is long; "undefined" for NULL. Returns quote.
 */
const char *aw__inbox_quote(const aw__json_value_t *value, char quote[AW__INBOX_QUOTE_MAX]);

#endif
