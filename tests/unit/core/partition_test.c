#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bridge/core/partition.h"

#define COUNTS 3

/** Made by the Java client itself, kafka-clients 4.4.0: Utils.murmur2(key), and
 *  BuiltInPartitioner.partitionForKey(key, n) for 3, 8 and 1000 partitions. Every length from 0 to
 *  20 is there, since the tail of the hash depends on the length modulo 4. */
static const struct {
    const char *key;
    size_t size;
    int32_t hash;
    int32_t partitions[COUNTS];
} VECTORS[] = {
    {"", 0, 275646681, {0, 1, 681}},
    {"\x61", 1, -1563381124, {1, 4, 524}},
    {"\x61\x62", 2, 316155434, {2, 2, 434}},
    {"\x61\x62\x63", 3, 479470107, {0, 3, 107}},
    {"\x61\x62\x63\x64", 4, -1323649548, {2, 4, 100}},
    {"\x32\x31", 2, -973932308, {0, 4, 340}},
    {"\x66\x6f\x6f\x62\x61\x72", 6, -790332482, {0, 6, 166}},
    {"\x75\x73\x65\x72\x2d\x34\x32", 7, 1459644460, {1, 4, 460}},
    {"\x61\x67\x65\x6e\x74\x2f\x37\x3a\x72\x75\x6e", 11, 936504594, {0, 2, 594}},
    {"\x15", 1, -1607309876, {0, 4, 772}},
    {"\x05\x5a", 2, 1953337079, {2, 7, 79}},
    {"\xa5\x4e\x34", 3, 894255995, {2, 3, 995}},
    {"\x0c\xbf\xf8\xc7", 4, 1771388995, {1, 3, 995}},
    {"\x9f\xa0\x54\xee\xda", 5, 560210428, {1, 4, 428}},
    {"\x46\x39\x1b\x18\x6e\x54", 6, -2060022288, {2, 0, 360}},
    {"\x04\xba\x03\x95\x2a\x74\xee", 7, 1900142232, {0, 0, 232}},
    {"\x9e\xea\x7c\x7e\x8e\x19\x42\x9a", 8, -1780427633, {0, 7, 15}},
    {"\x9c\x50\x35\x00\x36\x28\xf6\x11\x1f", 9, -181286824, {1, 0, 824}},
    {"\x2d\xd6\xf0\x79\x6f\x26\x81\x4d\xc9\xd8", 10, -1234937474, {0, 6, 174}},
    {"\x07\x75\x1b\xb5\xad\xa2\x4c\xee\xf7\x97\xa2", 11, -1830950819, {0, 5, 829}},
    {"\xad\xc8\xe5\x33\xc1\xf2\x7b\xb7\x9f\x4c\x26\x52", 12, 1325565142, {1, 6, 142}},
    {"\x29\x67\xbe\x59\x60\x78\x0f\x79\x8c\x97\xc5\xfa\x9a", 13, 1029793105, {1, 1, 105}},
    {"\xb6\xb2\x0b\x7f\x08\x06\xa2\xbb\x5a\x5c\xb0\x5c\x4e\xdd", 14, 953139292, {1, 4, 292}},
    {"\x8d\x9d\x7e\xb0\xa3\x18\x26\xc2\xfa\x7a\xbd\x50\xd8\x13\x58", 15, 1001659428, {0, 4, 428}},
    {"\xa4\x6a\xf7\x78\x82\xca\xdc\xf9\x78\x79\x1f\x45\x56\xf9\x36\x99",
     16,
     2125067429,
     {2, 5, 429}},
    {"\xf8\x10\x61\x7f\xf7\x46\x70\xbd\xc3\x07\x8d\xe3\xbe\x0d\x77\x28\xd2",
     17,
     10613699,
     {2, 3, 699}},
    {"\x4d\x0f\x24\x58\x90\x93\xb1\xf3\xeb\xbb\x20\x05\x4b\x6b\x96\xbc\xf8\x1a",
     18,
     -1945237179,
     {2, 5, 469}},
    {"\x7f\xb6\xb8\x92\xf8\x96\xb6\x1a\x11\x69\x00\x0b\x0d\x47\xf1\xd6\x7b\xe2\x9f",
     19,
     917251191,
     {0, 7, 191}},
    {"\xd1\x98\x0d\x23\x6a\x05\x51\xbe\xf3\xc8\xcc\x00\x65\xf0\xcb\x20\x06\x36\x52\xd0",
     20,
     209256114,
     {0, 2, 114}},
    {"\xff\xff\xff\xff\xff\xff\xff", 7, -71293549, {1, 3, 99}},
};

static const int32_t PARTITION_COUNTS[COUNTS] = {3, 8, 1000};

static void test_murmur2_keys_of_the_java_client_give_its_hashes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(VECTORS) / sizeof(VECTORS[0]); i++) {
        aw_span_t key = aw_span_view(VECTORS[i].key, VECTORS[i].size);

        assert_int_equal((int32_t)ab_murmur2(key), VECTORS[i].hash);
    }
}

static void test_partition_keys_of_the_java_client_give_its_partitions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(VECTORS) / sizeof(VECTORS[0]); i++) {
        aw_span_t key = aw_span_view(VECTORS[i].key, VECTORS[i].size);

        for (size_t j = 0; j < COUNTS; j++) {
            assert_int_equal(ab_partition_of_key(key, PARTITION_COUNTS[j]),
                             VECTORS[i].partitions[j]);
        }
    }
}

static void test_partition_absent_key_is_like_an_empty_one(void **state)
{
    (void)state;
    assert_int_equal(ab_partition_of_key(AW_SPAN_NULL, 1000), 681);
}

static void test_partition_one_partition_takes_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(VECTORS) / sizeof(VECTORS[0]); i++) {
        assert_int_equal(ab_partition_of_key(aw_span_view(VECTORS[i].key, VECTORS[i].size), 1), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_murmur2_keys_of_the_java_client_give_its_hashes),
        cmocka_unit_test(test_partition_keys_of_the_java_client_give_its_partitions),
        cmocka_unit_test(test_partition_absent_key_is_like_an_empty_one),
        cmocka_unit_test(test_partition_one_partition_takes_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
