#ifndef AGENTWIRE_CRYPTO_H
#define AGENTWIRE_CRYPTO_H

#include "agentwire/span.h"
#include "agentwire/status.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a SHA-256. */
#define AW_SHA256_SIZE 32u
/** Characters of a SHA-256 in hex, NUL included. */
#define AW_SHA256_HEX_SIZE (2u * AW_SHA256_SIZE + 1u)

/** The SHA-256 of input; the absent span counts as empty. OpenSSL may allocate for the time of the
 * call. Returns AW_OK, or AW_STATUS_NO_MEMORY when OpenSSL cannot work (ret_digest is then
 * untouched). */
AW_CHECKED int aw_sha256(aw_span_t input, uint8_t ret_digest[AW_SHA256_SIZE]);

/** The same as lower-case hex with a NUL behind it. */
AW_CHECKED int aw_sha256_hex(aw_span_t input, char ret_hex[AW_SHA256_HEX_SIZE]);

/** The HMAC-SHA256 of input under key, of any size. As aw_sha256(). */
AW_CHECKED int aw_hmac_sha256(aw_span_t key, aw_span_t input, uint8_t ret_mac[AW_SHA256_SIZE]);

/** True when both hold the same bytes. The time it takes depends on the sizes alone. */
bool aw_bytes_equal_secret(aw_span_t a, aw_span_t b);

/** Overwrites secret bytes with zeros, and is never optimised away. */
void aw_bytes_wipe(void *bytes, size_t size_bytes);

/** Writes 2 * bytes.size lower-case hex digits and a NUL into ret_hex. */
void aw_hex_write(aw_span_t bytes, char *ret_hex);

/** The version of the OpenSSL that runs, "3.0.17". Static storage. */
const char *aw_crypto_library_version(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
