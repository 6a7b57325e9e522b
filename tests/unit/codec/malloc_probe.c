#include "tests/unit/codec/malloc_probe.h"

#include <malloc.h>
#include <stdlib.h>

size_t aw_test_malloc_calls;
size_t aw_test_malloc_bytes;
bool aw_test_malloc_refuses;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void __real_free(void *pointer);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void __wrap_free(void *pointer);

static void *counted(void *pointer)
{
    aw_test_malloc_calls++;
    aw_test_malloc_bytes += pointer != NULL ? malloc_usable_size(pointer) : 0;
    return pointer;
}

void *__wrap_malloc(size_t size)
{
    return counted(aw_test_malloc_refuses ? NULL : __real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return counted(aw_test_malloc_refuses ? NULL : __real_calloc(count, size));
}

void __wrap_free(void *pointer)
{
    aw_test_malloc_bytes -= pointer != NULL ? malloc_usable_size(pointer) : 0;
    __real_free(pointer);
}
