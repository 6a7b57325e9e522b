"""What the reference runtime says about bytes of beam_agents.v1.

The reference is the official Python protobuf runtime on upb, 6.33.6, and no other: Debian's
python3-protobuf, the C++ and the pure Python back ends and the 7.x line all decide differently on some
input. This module refuses to work on any of them, so that a wrong oracle can never bless the codec.

The message classes are built from the descriptor set that protoc makes of protos/beam_agents.proto: the
public schema itself, not generated code that could be stale.
"""

import json
import os
import pathlib
import subprocess
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROTO = ROOT / "protos" / "beam_agents.proto"
PACKAGE = "beam_agents.v1"
REQUIRED_VERSION = "6.33.6"

# The messages that stand alone: the ones a record, a state or a request can be made of.
TYPES = (
    "MemoryBlob", "ToolIntent", "ToolResult", "TraceEvent", "AgentEnvelope", "StateSnapshot",
    "ActivationErrorRecord", "Continuation", "LlmCacheBlob", "LongTermRecord",
)


class WrongRuntime(RuntimeError):
    """The runtime at hand is not the reference."""


def _import_runtime():
    """The runtime's modules, once it is proven to be the reference."""
    hint = "run 'make setup', then use .venv/bin/python"
    try:
        import google.protobuf as runtime
        from google.protobuf import (descriptor_pb2, descriptor_pool, json_format, message,
                                     message_factory)
        from google.protobuf.internal import api_implementation
    except ImportError as error:
        raise WrongRuntime(f"no protobuf runtime in {sys.executable} ({error}): {hint}") from error
    kind = api_implementation.Type()
    if runtime.__version__ != REQUIRED_VERSION or kind != "upb":
        raise WrongRuntime(
            f"{runtime.__file__} is protobuf {runtime.__version__} on {kind}; "
            f"the reference is {REQUIRED_VERSION} on upb: {hint}")
    return descriptor_pb2, descriptor_pool, json_format, message, message_factory


def compact_text(value) -> str:
    """JSON without blanks, as `agent-bridge inspect --compact` prints it."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def indented_text(value) -> str:
    """The same as `agent-bridge inspect` prints it, without the line end."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, indent=2)


@dataclass(frozen=True)
class Verdict:
    """What the reference says. All but `accepted` is None where the bytes were refused."""

    accepted: bool
    variant: str | None = None  # AgentEnvelope only: the payload that is set
    value: dict | None = None  # the proto3 JSON, as Python objects
    deterministic: bytes | None = None

    def answer(self, type_name: str) -> str:
        """The line that `inspect --batch` answers for accepted bytes."""
        variant = ""
        if type_name == "AgentEnvelope":
            variant = f'"variant":{json.dumps(self.variant)},'
        return (f'{{"ok":true,{variant}"json":{compact_text(self.value)},'
                f'"deterministic_hex":"{self.deterministic.hex()}"}}')


class Reference:
    """The ten message types under the reference runtime."""

    def __init__(self, proto: pathlib.Path = PROTO):
        (descriptor_pb2, descriptor_pool, self._json_format, self._message,
         message_factory) = _import_runtime()
        self.descriptor_set = descriptor_pb2.FileDescriptorSet.FromString(descriptor_set(proto))
        pool = descriptor_pool.DescriptorPool()
        for file in self.descriptor_set.file:
            pool.Add(file)
        self.classes = {
            name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))
            for name in TYPES
        }

    def descriptor(self, type_name: str):
        return self.classes[type_name].DESCRIPTOR

    def parse(self, type_name: str, data: bytes):
        """The message, or None where the reference refuses the bytes."""
        try:
            return self.classes[type_name].FromString(data)
        except self._message.DecodeError:
            return None

    def indented_json(self, message) -> str:
        """What `agent-bridge inspect` has to print, without the line end."""
        return self._json_format.MessageToJson(message, indent=2, sort_keys=True,
                                               ensure_ascii=False)

    def judge(self, type_name: str, data: bytes) -> Verdict:
        message = self.parse(type_name, data)
        if message is None:
            return Verdict(accepted=False)
        variant = message.WhichOneof("payload") if type_name == "AgentEnvelope" else None
        return Verdict(accepted=True, variant=variant,
                       value=self._json_format.MessageToDict(message),
                       deterministic=message.SerializeToString(deterministic=True))


def descriptor_set(proto: pathlib.Path) -> bytes:
    """What protoc makes of a .proto."""
    protoc = os.environ.get("PROTOC", "protoc")
    done = subprocess.run(
        [protoc, f"--proto_path={proto.parent}", "--descriptor_set_out=/dev/stdout", proto.name],
        stdout=subprocess.PIPE, check=True)
    return done.stdout


def agent_bridge() -> str:
    """The program under test, from $AGENT_BRIDGE."""
    path = os.environ.get("AGENT_BRIDGE", "")
    if not os.access(path, os.X_OK):
        raise SystemExit(
            f"AGENT_BRIDGE={path!r} is no program: set it to the built agent-bridge "
            "(build/dev/bridge/cli/agent-bridge); ctest does so by itself")
    return path
