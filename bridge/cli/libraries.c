#include "bridge/cli/libraries.h"

#include <jansson.h>
#include <string.h>

#include "agentwire/crypto.h"
#include "agentwire/message.h"
#include "bridge/config/config.h"
#include "bridge/kafka/properties.h"
#include "bridge/state/store.h"
#include "git_describe.h"

size_t ab_libraries(ab_library_t ret_libraries[AB_LIBRARIES_MAX])
{
    const ab_library_t libraries[] = {
        {"jansson", AB_BUILT_JANSSON, jansson_version_str()},
        {"libmicrohttpd", AB_BUILT_MICROHTTPD, ab_http_library_version()},
        {"librdkafka", AB_BUILT_RDKAFKA, ab_kafka_version()},
        {"libyaml", AB_BUILT_YAML, ab_config_yaml_version()},
        {"lmdb", AB_BUILT_LMDB, ab_store_library_version()},
        {"openssl", AB_BUILT_CRYPTO, aw_crypto_library_version()},
        {"protobuf-c", AB_BUILT_PROTOBUF_C, aw_message_library_version()},
    };

    _Static_assert(sizeof(libraries) / sizeof(libraries[0]) <= AB_LIBRARIES_MAX, "all fit");
    memcpy(ret_libraries, libraries, sizeof(libraries));
    return sizeof(libraries) / sizeof(libraries[0]);
}

const char *ab_program_version(void)
{
    return AB_VERSION;
}

const char *ab_program_revision(void)
{
    return AB_GIT_DESCRIBE;
}
