#include "agentwire/crypto.h"

#include <limits.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

int aw_sha256(aw_span_t input, uint8_t ret_digest[AW_SHA256_SIZE])
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (EVP_Digest(input.data, input.size, digest, &size, EVP_sha256(), NULL) != 1 ||
        size != AW_SHA256_SIZE) {
        return AW_STATUS_NO_MEMORY;
    }
    memcpy(ret_digest, digest, AW_SHA256_SIZE);
    return AW_OK;
}

int aw_sha256_hex(aw_span_t input, char ret_hex[AW_SHA256_HEX_SIZE])
{
    uint8_t digest[AW_SHA256_SIZE];
    int status = aw_sha256(input, digest);
    if (status == AW_OK) {
        aw_hex_write(aw_span_view(digest, sizeof digest), ret_hex);
    }
    return status;
}

int aw_hmac_sha256(aw_span_t key, aw_span_t input, uint8_t ret_mac[AW_SHA256_SIZE])
{
    static const uint8_t nothing[1] = {0}; /* a NULL key would mean the one before */
    uint8_t mac[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (key.size > INT_MAX ||
        HMAC(EVP_sha256(), key.data != NULL ? key.data : nothing, (int)key.size, input.data,
             input.size, mac, &size) == NULL ||
        size != AW_SHA256_SIZE) {
        return AW_STATUS_NO_MEMORY;
    }
    memcpy(ret_mac, mac, AW_SHA256_SIZE);
    return AW_OK;
}

bool aw_bytes_equal_secret(aw_span_t a, aw_span_t b)
{
    return a.size == b.size && (a.size == 0 || CRYPTO_memcmp(a.data, b.data, a.size) == 0);
}

void aw_bytes_wipe(void *bytes, size_t size_bytes)
{
    OPENSSL_cleanse(bytes, size_bytes);
}

void aw_hex_write(aw_span_t bytes, char *ret_hex)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes.size; i++) {
        ret_hex[2 * i] = digits[bytes.data[i] >> 4];
        ret_hex[2 * i + 1] = digits[bytes.data[i] & 0x0f];
    }
    ret_hex[2 * bytes.size] = '\0';
}

const char *aw_crypto_library_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}
