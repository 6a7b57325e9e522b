#include "bench/codec/cpp_runtime.h"

#include <google/protobuf/stubs/common.h>

#include <string>

#include "beam_agents.pb.h"

using Envelope = beam_agents::v1::AgentEnvelope;

void *bench_cpp_new(void)
{
    return new Envelope;
}

void bench_cpp_free(void *envelope)
{
    delete static_cast<Envelope *>(envelope);
}

int bench_cpp_parse(void *envelope, const void *bytes, size_t size)
{
    return static_cast<Envelope *>(envelope)->ParseFromArray(bytes, static_cast<int>(size)) ? 1 : 0;
}

size_t bench_cpp_serialize(void *envelope, void *buffer, size_t capacity)
{
    const Envelope *message = static_cast<Envelope *>(envelope);
    const size_t size = message->ByteSizeLong();
    return size <= capacity && message->SerializeToArray(buffer, static_cast<int>(capacity)) ? size
                                                                                             : 0;
}

const char *bench_cpp_version(void)
{
    static const std::string version =
        google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
    return version.c_str();
}
