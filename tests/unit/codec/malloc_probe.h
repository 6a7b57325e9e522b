#ifndef TESTS_UNIT_CODEC_MALLOC_PROBE_H
#define TESTS_UNIT_CODEC_MALLOC_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* Stands before malloc, calloc and free of a program linked with AW_WRAP_MALLOC (CMakeLists.txt).
 * The program's own calls count too, those inside of shared libraries do not. */

/** Calls of malloc and calloc so far. */
extern size_t aw_test_malloc_calls;

/** Bytes that malloc and calloc gave out and free has not taken back. */
extern size_t aw_test_malloc_bytes;

/** While set, malloc and calloc give nothing. */
extern bool aw_test_malloc_refuses;

#endif
