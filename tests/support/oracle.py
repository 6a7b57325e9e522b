"""What must happen to one record: DESIGN section 3 written a second time, on the reference runtime.

Nothing here is shared with agent-bridge. The verdict on the bytes is the reference's (reference.py);
where it refuses them, defects.py says which byte is to blame and why, and the two are held against each
other on every call. The partition is the Java client's murmur2.
"""

import hashlib
import struct
from dataclasses import dataclass, field

from google.protobuf.unknown_fields import UnknownFieldSet

from defects import envelope_defect
from mutate import Message

U32 = 0xFFFFFFFF
FUTURE_NUMBER = 7  # AgentEnvelope's own fields are 1 to 6
HOPS_HEADER = "__agent_bridge.hops"
SOURCE_HEADER = "__agent_bridge.source"
VARIANTS = ("external_event", "tool_result", "approval", "export_request")


def murmur2(key):
    """As org.apache.kafka.common.utils.Utils.murmur2 computes it; unsigned."""
    m = 0x5BD1E995
    size = len(key)
    h = 0x9747B28C ^ size
    whole = size & ~3
    for (k,) in struct.iter_unpack("<I", key[:whole]):
        k = k * m & U32
        k ^= k >> 24
        h = (h * m & U32) ^ (k * m & U32)
    tail = key[whole:]
    if tail:
        h ^= int.from_bytes(tail, "little")
        h = h * m & U32
    h ^= h >> 13
    h = h * m & U32
    return h ^ h >> 15


def java_partition(key, count):
    return (murmur2(key) & 0x7FFFFFFF) % count


# ---- the verdict -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Policy:
    """What a source's config says, in its own words. Routes map a variant to a topic, dead_letter or drop."""

    routes: dict
    on_tombstone: str = "dead_letter"
    on_key_mismatch: str = "dead_letter"
    on_null_key: str = "accept"
    max_value: int = 8 << 20
    max_hops: int = 3
    # (value, external_event) -> None, or (reason, byte of the value, field) of what breaks the contract
    contract: object = None


@dataclass(frozen=True)
class Verdict:
    outcome: str  # routed, dead_lettered, dropped
    topic: str | None = None  # with routed
    reason: str | None = None  # with dead_lettered
    at: int | None = None  # with a defect of the bytes
    field: str | None = None  # likewise; None: not judged here
    entity_key: bytes = b""
    event_time_ms: int = 0


@dataclass
class Oracle:
    """Judges records under one policy. reference is a reference.Reference."""

    reference: object
    policy: Policy
    _envelope: object = field(init=False)

    def __post_init__(self):
        self._envelope = Message.of(self.reference.descriptor("AgentEnvelope"))

    def judge(self, key, value, headers, timestamp_ms):
        """The verdict on one record."""
        policy = self.policy
        refused = {"entity_key": key or b"", "event_time_ms": timestamp_ms}
        if value is None:
            if policy.on_tombstone == "drop":
                return Verdict("dropped")
            return Verdict("dead_lettered", reason="tombstone", **refused)
        if len(value) > policy.max_value:
            return Verdict("dead_lettered", reason="oversized", **refused)
        envelope = self.reference.parse("AgentEnvelope", value)
        defect = envelope_defect(self._envelope, value)
        if (envelope is None) != (defect is not None):
            raise AssertionError(f"the oracle contradicts the reference: {defect} on {value.hex()}")
        if defect is not None:
            return Verdict("dead_lettered", reason=defect.reason, at=defect.offset, field=defect.field, **refused)
        return self._judge_envelope(value, envelope, key, headers)

    def _judge_envelope(self, value, envelope, key, headers):
        known = {"entity_key": envelope.entity_key, "event_time_ms": envelope.event_time_ms}
        variant = envelope.WhichOneof("payload") or "unknown_variant"
        route = self.policy.routes.get(variant, "dead_letter")
        reason = self._first_reason(envelope, variant, route, key, headers)
        if self.policy.contract and variant == "external_event" and reason in (None, "hop_limit", "route_refused"):
            breach = self.policy.contract(value, envelope.external_event)
            if breach is not None:
                return Verdict("dead_lettered", reason=breach[0], at=breach[1], field=breach[2], **known)
        if reason is not None:
            return Verdict("dead_lettered", reason=reason, **known)
        if route == "drop":
            return Verdict("dropped")
        return Verdict("routed", topic=route, **known)

    def _first_reason(self, envelope, variant, route, key, headers):
        """Checks 4, 5, 6, 8 and 9 of DESIGN section 3, in this order."""
        policy = self.policy
        if variant == "unknown_variant":
            if all(known.field_number < FUTURE_NUMBER for known in UnknownFieldSet(envelope)):
                return "payload_not_set"
            if route == "dead_letter":
                return "unknown_variant"
        if not envelope.entity_key:
            return "missing_entity_key"
        if key is None:
            if policy.on_null_key == "dead_letter":
                return "missing_record_key"
        elif key != envelope.entity_key:
            if policy.on_key_mismatch != "ignore":
                return "key_mismatch"
        if variant in ("tool_result", "approval"):
            payload = getattr(envelope, variant)
            if not payload.intent_id:
                return "missing_intent_id"
            if variant == "tool_result" and payload.entity_key not in (b"", envelope.entity_key):
                return "key_mismatch"
        if _hops(headers) > policy.max_hops:
            return "hop_limit"
        return "route_refused" if route == "dead_letter" else None


def _hops(headers):
    """The last hops header; what is no plain number stops the record."""
    for name, value in reversed(headers):
        if name == HOPS_HEADER:
            if value and value.isdigit():
                return int(value)
            return U32
    return 0


def source_text(topic, partition, offset, timestamp_ms):
    return f"{topic}:{partition}:{offset}:{timestamp_ms}".encode()


def sha256_hex(data):
    return hashlib.sha256(data).hexdigest()
