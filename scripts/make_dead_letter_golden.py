#!/usr/bin/env python3
"""Makes golden/dead-letter/v1/cases.jsonl, or proves that it still is what this script makes.

    scripts/make_dead_letter_golden.py --check     exit 1 when the file differs (a test)
    scripts/make_dead_letter_golden.py --write     only before the folder is frozen

Nothing here comes from the C code. A case is a record and a policy; which reason it must get, where
and with which text is written down by hand below. The reference runtime says whether the value is
an envelope, what its key and time are, and how the dead letter's value is encoded; json.dumps
writes the detail. tests/unit/core/dead_letter_golden_test.c holds the C code against the file.
"""

import argparse
import dataclasses
import hashlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from reference import Reference  # noqa: E402

CASES = ROOT / "golden" / "dead-letter" / "v1" / "cases.jsonl"
KEY_MAX = 1024
DETAIL_MAX = 4096

MEANING = {
    "tombstone": "the record's value is NULL",
    "oversized": "the value is larger than the source's max_value",
    "unknown_variant": "the envelope's payload is of a kind this build does not know",
    "payload_not_set": "the envelope holds no payload",
    "missing_entity_key": "entity_key is empty",
    "missing_record_key": "the record has no key",
    "missing_intent_id": "the payload has no intent_id",
    "hop_limit": "the record was redriven more often than errors.max_hops",
    "route_refused": "the variant's route is dead_letter",
}
PAST_THE_END = "length runs past the end"
RECORD_KEY = "the record's key is not the envelope's entity_key"
RESULT_KEY = "tool_result.entity_key is not the envelope's entity_key"
BARE_RESULT = ("the value looks like a bare ToolResult: its producer left out the AgentEnvelope "
               "around it")

UNREAD = {"tombstone", "oversized", "decode_truncated", "decode_varint", "decode_bad_tag",
          "decode_wire_type", "decode_group", "invalid_utf8", "framed_payload"}

POLICY = {
    "external_event": "agents.events", "tool_result": "agents.results",
    "approval": "agents.approvals", "export_request": "agents.exports",
    "unknown_variant": "dead_letter", "on_tombstone": "dead_letter",
    "on_key_mismatch": "dead_letter", "on_null_key": "accept", "max_value": 8388608, "max_hops": 3,
}


@dataclasses.dataclass
class Case:
    """One record, and what is said of it by hand."""

    name: str
    value: bytes | None
    reason: str
    text: str = ""  # empty: the reason's own
    at: int | None = None
    field: str = ""
    key: bytes | None = b"user-42"
    topic: str = "agents.in"
    partition: int = 3
    offset: int = 1042
    timestamp_ms: int = 1700000000500
    timestamp_type: str = "create"
    hops: int = 0
    group: str = "agent-bridge"
    output_topic: str | None = None
    policy: dict = dataclasses.field(default_factory=dict)  # what differs from POLICY

    def said(self):
        text = self.text or MEANING[self.reason]
        return f"output topic {self.output_topic}: {text}" if self.output_topic else text


class Maker:
    """Turns cases into the lines of the file."""

    def __init__(self):
        self.reference = Reference()
        self.envelope_class = self.reference.classes["AgentEnvelope"]
        self.record_class = self.reference.classes["ActivationErrorRecord"]

    def envelope(self, **fields) -> bytes:
        """An envelope of the entity user-42, as the reference writes it."""
        fields = {"entity_key": b"user-42", "event_time_ms": 1700000000000} | fields
        return self.envelope_class(**fields).SerializeToString(deterministic=True)

    def result(self, **fields) -> bytes:
        return self.reference.classes["ToolResult"](**fields).SerializeToString(deterministic=True)

    def identity(self, case):
        """The dead letter's entity_key and event_time_ms: the envelope's own, where it was read."""
        if case.reason not in UNREAD:
            envelope = self.reference.parse("AgentEnvelope", case.value)
            assert envelope is not None, f"{case.name}: the reference refuses this envelope"
            return envelope.entity_key, envelope.event_time_ms
        if case.reason not in ("tombstone", "oversized"):
            assert self.reference.parse("AgentEnvelope", case.value) is None, \
                f"{case.name}: the reference accepts this value"
        time_ms = 0 if case.timestamp_type == "none" else case.timestamp_ms
        return case.key or b"", time_ms

    def detail(self, case, entity_key) -> str:
        members = {"source": f"{case.topic}:{case.partition}:{case.offset}", "text": case.said(),
                   "v": 1}
        if case.at is not None:
            members["at"] = case.at
        if case.field:
            members["field"] = case.field
        if case.value is not None:
            members["sha256"] = hashlib.sha256(case.value).hexdigest()
            members["size"] = len(case.value)
        for name, key in (("entity_key", entity_key), ("record_key", case.key or b"")):
            if len(key) > KEY_MAX:
                members[f"{name}_sha256"] = hashlib.sha256(key).hexdigest()
                members[f"{name}_size"] = len(key)
        text = json.dumps(members, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        assert len(text.encode()) <= DETAIL_MAX
        return text

    @staticmethod
    def headers(case):
        timestamp = -1 if case.timestamp_type == "none" else case.timestamp_ms
        headers = [
            ["__dlq.errors.topic", case.topic],
            ["__dlq.errors.partition", str(case.partition)],
            ["__dlq.errors.offset", str(case.offset)],
            ["__dlq.errors.group", case.group],
            ["__dlq.errors.message", case.said()],
            ["__agent_bridge.reason", case.reason],
            ["__agent_bridge.hops", str(case.hops)],
        ]
        if case.value is not None:
            headers += [
                ["__agent_bridge.sha256", hashlib.sha256(case.value).hexdigest()],
                ["__agent_bridge.value_size", str(len(case.value))],
            ]
        if case.timestamp_type != "none":
            headers += [
                ["__agent_bridge.source_timestamp", str(case.timestamp_ms)],
                ["__agent_bridge.source_timestamp_type", case.timestamp_type],
            ]
        source = f"{case.topic}:{case.partition}:{case.offset}:{timestamp}"
        return headers + [["__agent_bridge.source", source]]

    def line(self, case) -> str:
        entity_key, time_ms = self.identity(case)
        kept = entity_key[:KEY_MAX]
        detail = self.detail(case, entity_key)
        record = self.record_class(entity_key=kept, reason=case.reason, detail=detail,
                                   event_time_ms=time_ms)
        value = self.envelope_class(
            entity_key=kept, event_time_ms=time_ms,
            external_event=record.SerializeToString(deterministic=True))
        return json.dumps({
            "name": case.name,
            "record": {
                "topic": case.topic, "partition": case.partition, "offset": case.offset,
                "timestamp_ms": case.timestamp_ms, "timestamp_type": case.timestamp_type,
                "key_hex": None if case.key is None else case.key.hex(),
                "value_hex": None if case.value is None else case.value.hex(),
                "hops": case.hops,
            },
            "policy": POLICY | case.policy,
            "group": case.group,
            "output_topic": case.output_topic,
            "output_text": case.text if case.reason == "produce_rejected" else None,
            "letter": {
                "reason": case.reason, "at": case.at, "field": case.field, "detail": detail,
                "key_hex": kept.hex() if kept else None,
                "value_hex": value.SerializeToString(deterministic=True).hex(),
                "headers": self.headers(case),
            },
        }, ensure_ascii=False)

    def checks_before_the_scan(self):
        event = self.envelope(external_event=b"payload")
        yield Case("tombstone", None, "tombstone")
        yield Case("tombstone_without_key", None, "tombstone", key=None)
        yield Case("tombstone_without_timestamp", None, "tombstone", timestamp_type="none",
                   timestamp_ms=0)
        yield Case("tombstone_log_append_time", None, "tombstone", timestamp_type="append")
        yield Case("oversized", event, "oversized", policy={"max_value": len(event) - 1})
        yield Case("oversized_takes_nothing_from_the_value", event, "oversized", key=b"other",
                   policy={"max_value": 1})

    def refused_by_the_scan(self):
        yield Case("truncated_length", b"\x0a\x07user-42\x22\x02\x0a\x05", "decode_truncated",
                   PAST_THE_END, at=12, field="tool_result.intent_id")
        yield Case("truncated_without_key", b"\x0a\x07user-", "decode_truncated", PAST_THE_END,
                   at=1, field="entity_key", key=None)
        yield Case("truncated_with_empty_key", b"\x0a\x07user-", "decode_truncated", PAST_THE_END,
                   at=1, field="entity_key", key=b"")
        yield Case("truncated_without_timestamp", b"\x0a\x07user-", "decode_truncated",
                   PAST_THE_END, at=1, field="entity_key", timestamp_type="none", timestamp_ms=0)
        yield Case("truncated_tag", b"\x0a\x01k\xff", "decode_truncated", "tag runs past the end",
                   at=3)
        yield Case("varint_of_eleven_bytes", b"\x10" + b"\xff" * 10 + b"\x01", "decode_varint",
                   "varint is longer than ten bytes", at=1, field="event_time_ms")
        yield Case("tag_zero", b"\x0a\x01k\x00\x00", "decode_bad_tag", "field number is 0", at=3)
        yield Case("wire_type_six", b"\x0a\x01k\x0e", "decode_wire_type", "wire type is 6 or 7",
                   at=3, field="entity_key")
        yield Case("end_group_alone", b"\x0a\x01k\x4c", "decode_group",
                   "group ends without a start", at=3, field="#9")
        yield Case("bad_utf8_intent_id", b"\x0a\x01k\x22\x03\x0a\x01\xff", "invalid_utf8",
                   "string holds ill-formed UTF-8", at=7, field="tool_result.intent_id")
        yield Case("json_text", b'{"entity_key":"user-42"}', "decode_truncated", PAST_THE_END, at=2,
                   field="#15")
        yield Case("registry_framing", b"\x00\x00\x00\x00\x07" + self.envelope(external_event=b"x"),
                   "framed_payload", "the bytes are an envelope behind a schema-registry header",
                   at=0)

    def refused_by_the_checks(self):
        event = self.envelope(external_event=b"payload")
        future = self.envelope() + b"\x9a\x06\x02\x08\x01"
        yield Case("empty_value", b"", "payload_not_set")
        yield Case("no_payload", self.envelope(), "payload_not_set")
        yield Case("negative_event_time", self.envelope(event_time_ms=-1), "payload_not_set")
        yield Case("future_variant", future, "unknown_variant", field="#99")
        yield Case("no_entity_key", self.envelope(entity_key=b"", external_event=b"x"),
                   "missing_entity_key", field="entity_key")
        yield Case("key_mismatch", event, "key_mismatch", text=RECORD_KEY, field="entity_key",
                   key=b"user-43")
        yield Case("binary_keys_differ", self.envelope(entity_key=b"\x00\xff", external_event=b"x"),
                   "key_mismatch", text=RECORD_KEY, field="entity_key", key=b"\xff\x00")
        yield Case("bare_result_where_mismatch_is_ignored",
                   self.result(intent_id="intent-7", entity_key=b"user-42", status=1,
                               payload=b"\x0a\x01i"),
                   "key_mismatch", text=BARE_RESULT, field="entity_key",
                   policy={"on_key_mismatch": "ignore"})
        yield Case("no_record_key", event, "missing_record_key", key=None,
                   policy={"on_null_key": "dead_letter"})
        yield Case("no_intent_id", self.envelope(approval={"approved": True}), "missing_intent_id",
                   field="approval.intent_id")
        yield Case("result_of_another_entity",
                   self.envelope(tool_result={"intent_id": "i", "entity_key": b"user-43"}),
                   "key_mismatch", text=RESULT_KEY, field="tool_result.entity_key")
        yield Case("too_many_hops", event, "hop_limit", hops=4)
        yield Case("forged_hops", event, "hop_limit", hops=4294967295)
        yield Case("route_refused", event, "route_refused", field="external_event",
                   policy={"external_event": "dead_letter"})

    def refused_by_an_output(self):
        event = self.envelope(external_event=b"payload")
        too_large = "the record is larger than the topic takes"
        yield Case("produce_rejected", event, "produce_rejected", text=too_large,
                   output_topic="agents.events")
        yield Case("produce_rejected_with_hops", event, "produce_rejected", text=too_large, hops=2,
                   output_topic="agents.events", offset=9223372036854775807)

    def at_the_limits(self):
        long_topic = "t" * 249
        for size in (KEY_MAX, KEY_MAX + 1, 3000):
            key = bytes(range(256)) * 12
            key = key[:size]
            yield Case(f"refused_with_record_key_of_{size}_bytes", b"\xff", "decode_truncated",
                       "tag runs past the end", at=0, key=key)
            yield Case(f"entity_key_of_{size}_bytes",
                       self.envelope(entity_key=key, approval={"approver": "x"}),
                       "missing_intent_id", field="approval.intent_id", key=key)
        yield Case("only_the_record_key_is_long", self.envelope(external_event=b"x"),
                   "key_mismatch", text=RECORD_KEY, field="entity_key", key=b"k" * 1025)
        yield Case("longest_topics_and_numbers", self.envelope(external_event=b"x"),
                   "produce_rejected", text="the record is larger than the topic takes",
                   topic=long_topic, output_topic="o" * 249, partition=2147483647,
                   offset=9223372036854775807, timestamp_ms=9223372036854775807, hops=3)

    def lines(self):
        for group in (self.checks_before_the_scan, self.refused_by_the_scan,
                      self.refused_by_the_checks, self.refused_by_an_output, self.at_the_limits):
            for case in group():
                yield self.line(case)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true")
    mode.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    text = "".join(line + "\n" for line in Maker().lines())
    if arguments.write:
        CASES.write_text(text, encoding="utf-8")
        return 0
    committed = CASES.read_text(encoding="utf-8")
    if text == committed:
        print(f"{len(text.splitlines())} cases are as frozen")
        return 0
    for made, frozen in zip(text.splitlines(), committed.splitlines()):
        if made != frozen:
            print(f"differs: {json.loads(frozen)['name']}\n  frozen {frozen}\n  made   {made}",
                  file=sys.stderr)
    print(f"{CASES.relative_to(ROOT)}: {len(committed.splitlines())} cases, this script makes "
          f"{len(text.splitlines())}; a frozen file never changes: a new format gets a new v<N>",
          file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
