#include "tests/unit/codec/malloc_probe.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

size_t aw_test_malloc_calls;
size_t aw_test_malloc_bytes;
size_t aw_test_malloc_allowed = SIZE_MAX;
const char *aw_test_freed_search;
size_t aw_test_freed_looked;
size_t aw_test_freed_found;

/* NOLINTBEGIN(readability-identifier-naming): the linker makes these names of its --wrap. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void __real_free(void *pointer);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void __wrap_free(void *pointer);
/* NOLINTEND(readability-identifier-naming) */

static int is_allowed(void)
{
    if (aw_test_malloc_allowed == SIZE_MAX) {
        return 1;
    }
    if (aw_test_malloc_allowed == 0) {
        return 0;
    }
    aw_test_malloc_allowed--;
    return 1;
}

static void *counted(void *pointer)
{
    aw_test_malloc_calls++;
    aw_test_malloc_bytes += pointer != NULL ? malloc_usable_size(pointer) : 0;
    return pointer;
}

void *__wrap_malloc(size_t size)
{
    return counted(is_allowed() ? __real_malloc(size) : NULL);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return counted(is_allowed() ? __real_calloc(count, size) : NULL);
}

void __wrap_free(void *pointer)
{
    if (aw_test_freed_search != NULL && pointer != NULL) {
        aw_test_freed_looked++;
        aw_test_freed_found += memmem(pointer, malloc_usable_size(pointer), aw_test_freed_search,
                                      strlen(aw_test_freed_search)) != NULL;
    }
    aw_test_malloc_bytes -= pointer != NULL ? malloc_usable_size(pointer) : 0;
    __real_free(pointer);
}
