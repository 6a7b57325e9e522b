#ifndef BENCH_CODEC_CPP_RUNTIME_H
#define BENCH_CODEC_CPP_RUNTIME_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An AgentEnvelope of the C++ runtime, used again and again, which is its quickest way. */
void *bench_cpp_new(void);
void bench_cpp_free(void *envelope);

/** 1 when the bytes are accepted. */
int bench_cpp_parse(void *envelope, const void *bytes, size_t size);

/** Serializes into a buffer that is large enough; returns the size. */
size_t bench_cpp_serialize(void *envelope, void *buffer, size_t capacity);

/** "3.21.12". */
const char *bench_cpp_version(void);

#ifdef __cplusplus
}
#endif

#endif
