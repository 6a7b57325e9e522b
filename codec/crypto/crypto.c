#include "agentwire/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

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
