#include "bridge/http/process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Pages, the whole and the resident ones, are the first two numbers. */
static void read_memory(ab_process_t *process)
{
    char line[128] = "";
    char *end = line;
    const long page_size = sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) {
        return;
    }
    const bool got = fgets(line, sizeof(line), file) != NULL;
    (void)fclose(file);
    const unsigned long long all = strtoull(line, &end, 10);
    const unsigned long long resident = strtoull(end, NULL, 10);
    if (got && all > 0 && page_size > 0) {
        process->has_memory = true;
        process->virtual_bytes = all * (uint64_t)page_size;
        process->resident_bytes = resident * (uint64_t)page_size;
    }
}

static void read_fds(ab_process_t *process)
{
    struct rlimit limit;
    DIR *folder = opendir("/proc/self/fd");
    if (folder != NULL) {
        const struct dirent *entry;
        while ((entry = readdir(folder)) != NULL) {
            process->open_fds += entry->d_name[0] != '.';
        }
        process->open_fds -= process->open_fds > 0; /* the one that is read here */
        process->has_open_fds = closedir(folder) == 0;
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        process->has_max_fds = true;
        process->max_fds = limit.rlim_cur;
    }
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

void ab_process_read(ab_process_t *ret_process)
{
    struct rusage usage;
    *ret_process = (ab_process_t){0};
    read_memory(ret_process);
    read_fds(ret_process);
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        ret_process->has_cpu = true;
        ret_process->cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    }
}
