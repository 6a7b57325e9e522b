#ifndef BENCH_CODEC_LINEAR_H
#define BENCH_CODEC_LINEAR_H

#include <stdbool.h>

#include <jansson.h>

/** Most that 16 MiB may take, of what 1 MiB takes. */
#define BENCH_LINEAR_MAX 17.0

/** Scans each hostile family at 1 MiB and at 16 MiB, prints and returns the ratios; *ret_met is
 * false when one is above the limit. */
json_t *bench_linear(unsigned rounds, bool *ret_met);

#endif
