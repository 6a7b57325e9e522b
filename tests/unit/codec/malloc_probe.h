#ifndef TESTS_UNIT_CODEC_MALLOC_PROBE_H
#define TESTS_UNIT_CODEC_MALLOC_PROBE_H

#include <stddef.h>
#include <stdint.h>

/* Stands before malloc, calloc and free of a program linked with AW_WRAP_MALLOC (CMakeLists.txt).
 * The program's own calls count too, those inside of shared libraries do not. */

/** Calls of malloc and calloc so far. */
extern size_t aw_test_malloc_calls;

/** Bytes that malloc and calloc gave out and free has not taken back. */
extern size_t aw_test_malloc_bytes;

/** How many calls of malloc and calloc will still be served; all while it is SIZE_MAX. */
extern size_t aw_test_malloc_allowed;

/** While this text is set, every freed piece of memory is looked through for it: how many pieces
 * were, and how many held it. */
extern const char *aw_test_freed_search;
extern size_t aw_test_freed_looked;
extern size_t aw_test_freed_found;

#endif
