#ifndef BRIDGE_HTTP_PROCESS_H
#define BRIDGE_HTTP_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/** What the kernel says of this process. A part that it does not say is left out, never 0. */
typedef struct ab_process {
    bool has_memory;
    bool has_open_fds;
    bool has_max_fds;
    bool has_cpu;
    uint64_t resident_bytes;
    uint64_t virtual_bytes;
    uint64_t open_fds;
    uint64_t max_fds;
    double cpu_seconds; /* user and system */
} ab_process_t;

/** Looks now. */
void ab_process_read(ab_process_t *ret_process);

#endif
