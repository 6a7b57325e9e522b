/* Preloaded into a bridge under test: gives it the host name in $AW_TEST_HOSTNAME, so that two of
 * them on one machine are what two machines would be. Everything else on the process is as in
 * production. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int gethostname(char *name, size_t size)
{
    const char *host = getenv("AW_TEST_HOSTNAME");
    size_t length = host != NULL ? strlen(host) : 0;

    if (length == 0 || length >= size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(name, host, length + 1);
    return 0;
}
