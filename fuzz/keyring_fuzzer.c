/* Any text as a keyring: every id of a good one is found, and an error stays inside of the text. */
#include "agentwire/keyring.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    aw_keyring_t *keyring = NULL;
    aw_error_t error = AW_ERROR_INIT;
    const int status = aw_keyring_new((aw_span_t){data, size}, &keyring, &error);
    fuzz_require((keyring != NULL) == (status == AW_OK) && error.status == status);
    if (status != AW_OK) {
        fuzz_require(error.offset >= 0 && (size_t)error.offset <= size);
        return 0;
    }
    for (size_t i = 0; i < aw_keyring_count(keyring); i++) {
        aw_span_t key;
        fuzz_require(aw_keyring_find(keyring, aw_keyring_id_view(keyring, i), &key));
        fuzz_require(key.size > 0);
    }
    aw_keyring_free(keyring);
    return 0;
}
