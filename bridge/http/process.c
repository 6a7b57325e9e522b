#include "bridge/http/process.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static void read_memory(ab_process_t *process)
{
    unsigned long long virtual_pages;
    unsigned long long resident_pages;
    const long page_size = sysconf(_SC_PAGESIZE);
    char line[128] = "";
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) {
        return;
    }
    /* NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers fit. */
    process->has_memory = fgets(line, sizeof(line), file) != NULL && page_size > 0 &&
                          sscanf(line, "%llu %llu", &virtual_pages, &resident_pages) == 2;
    (void)fclose(file);
    if (process->has_memory) {
        process->virtual_bytes = virtual_pages * (uint64_t)page_size;
        process->resident_bytes = resident_pages * (uint64_t)page_size;
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
