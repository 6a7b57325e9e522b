#include "bridge/core/digest.h"

/* J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF", 2012. The key is that of
 * the paper's test vector: bytes 00 to 0f. */
#define KEY_LOW  0x0706050403020100u
#define KEY_HIGH 0x0f0e0d0c0b0a0908u

static uint64_t rotated(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void mix(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotated(v[1], 13) ^ v[0];
    v[3] = rotated(v[3], 16) ^ v[2];
    v[0] = rotated(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotated(v[1], 17) ^ v[2];
    v[3] = rotated(v[3], 21) ^ v[0];
    v[2] = rotated(v[2], 32);
}

static void take_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v);
    mix(v);
    v[0] ^= word;
}

void ab_digest_init(ab_digest_t *digest)
{
    *digest = (ab_digest_t){.v = {KEY_LOW ^ 0x736f6d6570736575u, KEY_HIGH ^ 0x646f72616e646f6du,
                                  KEY_LOW ^ 0x6c7967656e657261u, KEY_HIGH ^ 0x7465646279746573u}};
}

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++) {
        word |= (uint64_t)bytes[i] << (8 * i);
    }
    return word;
}

static void take_byte(ab_digest_t *digest, uint8_t byte)
{
    const unsigned place = (unsigned)(digest->total % 8);
    digest->tail |= (uint64_t)byte << (8 * place);
    digest->total++;
    if (place == 7) {
        take_word(digest->v, digest->tail);
        digest->tail = 0;
    }
}

void ab_digest_add(ab_digest_t *digest, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    size_t used = 0;
    while (used < size && digest->total % 8 != 0) {
        take_byte(digest, bytes[used++]);
    }
    for (; size - used >= 8; used += 8) {
        take_word(digest->v, word_at(bytes + used));
        digest->total += 8;
    }
    while (used < size) {
        take_byte(digest, bytes[used++]);
    }
}

uint64_t ab_digest_end(ab_digest_t *digest)
{
    take_word(digest->v, digest->tail | digest->total << 56);
    digest->v[2] ^= 0xff;
    for (int i = 0; i < 4; i++) {
        mix(digest->v);
    }
    return digest->v[0] ^ digest->v[1] ^ digest->v[2] ^ digest->v[3];
}

uint64_t ab_digest_of(aw_span_t bytes)
{
    ab_digest_t digest;
    if (bytes.data == NULL) {
        return 0;
    }
    ab_digest_init(&digest);
    ab_digest_add(&digest, bytes.data, bytes.size);
    const uint64_t found = ab_digest_end(&digest);
    return found != 0 ? found : 1;
}

static void add_number(ab_digest_t *digest, uint64_t number)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(number >> (8 * i));
    }
    ab_digest_add(digest, bytes, sizeof(bytes));
}

static void add_headers(ab_digest_t *digest, const ab_header_t *headers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(headers[i].name);
        add_number(digest, length);
        ab_digest_add(digest, headers[i].name, length);
        add_number(digest, headers[i].value.data != NULL ? headers[i].value.size : UINT64_MAX);
        ab_digest_add(digest, headers[i].value.data, headers[i].value.size);
    }
}

uint64_t ab_digest_of_headers(const ab_header_t *headers, size_t count, const ab_header_t *more,
                              size_t more_count)
{
    ab_digest_t digest;
    ab_digest_init(&digest);
    add_headers(&digest, headers, count);
    add_headers(&digest, more, more_count);
    return ab_digest_end(&digest);
}
