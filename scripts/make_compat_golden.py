#!/usr/bin/env python3
"""Writes golden/wire/v1/<case>/: messages of schema version 1, as a promise that they stay readable.

    .venv/bin/python scripts/make_compat_golden.py [--check]

Each folder has input.bin, the serialized message, and expect.json: its type, its fields as proto3 JSON, what
migration says of it, and where it came from. All of it is the reference runtime's; the codec has no part in it.
--check writes nothing and fails when a folder is not what the runtime says today.
"""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import reference  # noqa: E402

FOLDER = ROOT / "golden" / "wire" / "v1"
CURRENT = 1
MIGRATES = ("MemoryBlob", "Continuation", "LlmCacheBlob")
FUTURE = bytes.fromhex("a20605 6c61746572 b80601 c30608 02c406".replace(" ", ""))  # 100, 103, a group of 104
TRACE_ID, SPAN_ID, PARENT_ID = bytes(range(16)), bytes(range(8)), bytes(range(8, 16))
TIME = 1700000000000


def memory(version):
    return {"state_schema_version": version, "total_value_bytes": 12, "entries": [
        {"key": "profile", "value": b"\x00\xffabc", "last_access_ms": TIME},
        {"key": "history/é", "value": b"", "last_access_ms": TIME + 1},
        {"key": "", "value": b"seven b"}]}


def llm_cache(version):
    return {"state_schema_version": version, "total_response_bytes": 5, "entries": [
        {"cache_key": "z", "response": b"hello", "response_digest": b"\x01" * 32,
         "created_at_ms": TIME, "last_access_ms": TIME + 5},
        {"cache_key": "a", "response_digest": b"\x02" * 32, "created_at_ms": TIME, "digest_only": True}]}


def continuation(version, **more):
    return {"state_schema_version": version, "seq": 9, "step_index": 3, "adapter": "graph",
            "pending_intent_ids": ["i-9", "i-1", "i-5"], "snapshot": b"\x80\x04K\x01.",
            "suspended_at_ms": TIME, "deadline_ms": TIME + 60000, **more}


def intent(**more):
    return {"intent_id": "i-1", "entity_key": b"acct-7", "seq": 9, "step_index": 3, "tool_name": "refund",
            "args_json": '{ "amount" : 12.50, "a":1 }', "created_at_ms": TIME,
            "expires_at_ms": TIME + 60000, "attempt": 1, **more}


def result(**more):
    return {"intent_id": "i-1", "entity_key": b"acct-7", "seq": 9, "completed_at_ms": TIME + 9, **more}


def envelope(**more):
    return {"entity_key": b"acct-7", "event_time_ms": TIME, **more}


def trace(**more):
    return {"trace_id": TRACE_ID, "span_id": SPAN_ID, "parent_span_id": PARENT_ID,
            "entity_key": b"acct-7", "seq": 9, "step_index": 3, "event_type": 2,
            "attributes": {"model": "m-1", "a": "", "aa": "é", "": "empty key"},
            "start_ms": TIME, "end_ms": TIME + 12, **more}


def snapshot(**more):
    return {"state_schema_version": 1, "entity_key": b"acct-7", "seq": 10, "snapshot_at_ms": TIME + 99,
            "request_id": "incident-88", **more}


def whole_messages():
    """(name, type, fields, bytes behind, origin)."""
    signed = {"kind": 1, "trace_id": TRACE_ID, "signature_scheme": 1, "signing_key_id": "ops-1",
              "signature": b"\x05" * 32}
    yield "memory_blob", "MemoryBlob", memory(1), b"", "every field"
    yield "tool_intent", "ToolIntent", intent(**signed), b"", "every field"
    yield "tool_result", "ToolResult", result(status=1, payload=b"\x00\xff", error_message="é"), b"", \
        "every field"
    yield "trace_event", "TraceEvent", trace(), b"", "every field"
    yield "envelope_external_event", "AgentEnvelope", envelope(external_event=b"\x00payload"), b"", \
        "a variant"
    yield "envelope_tool_result", "AgentEnvelope", envelope(tool_result=result(status=2)), b"", "a variant"
    yield "envelope_approval", "AgentEnvelope", envelope(approval={
        "intent_id": "i-1", "approved": True, "approver": "ops@example.test", "decided_at_ms": TIME}), \
        b"", "a variant"
    yield "envelope_export_request", "AgentEnvelope", envelope(
        export_request={"request_id": "incident-88"}), b"", "a variant"
    yield "activation_error_record", "ActivationErrorRecord", {
        "entity_key": b"acct-7", "reason": "activation_error", "detail": "{}", "event_time_ms": TIME}, \
        b"", "every field"
    yield "continuation", "Continuation", continuation(1, escalations=2), b"", "every field"
    yield "llm_cache_blob", "LlmCacheBlob", llm_cache(1), b"", "every field, one entry by digest only"
    yield "long_term_record", "LongTermRecord", {
        "state_schema_version": 1, "key": "prefs", "value": b"\x00", "seq": 4, "updated_at_ms": TIME}, \
        b"", "every field"
    yield "state_snapshot", "StateSnapshot", snapshot(
        memory=memory(0), llm_cache=llm_cache(1), continuation=continuation(7, escalations=1),
        pending=[intent(kind=2), intent(intent_id="i-0")]), b"", \
        "every field, with blobs of versions 0, 1 and 7 inside"


def variations():
    """The same for what one message can be besides whole."""
    for number in (0, 1, 2, 3, -1):
        yield f"tool_intent_kind_{number}".replace("-", "minus_"), "ToolIntent", intent(kind=number), b"", \
            "an enum's value, named or not"
    for number in (0, 1, 2):
        yield f"tool_intent_scheme_{number}", "ToolIntent", intent(signature_scheme=number), b"", \
            "an enum's value, named or not"
    for number in range(6):
        yield f"tool_result_status_{number}", "ToolResult", result(status=number), b"", \
            "an enum's value, named or not"
    for number in range(9):
        yield f"trace_event_type_{number}", "TraceEvent", trace(event_type=number), b"", \
            "an enum's value, named or not"
    yield "tool_intent_before_kind_trace_signature", "ToolIntent", intent(), b"", \
        "written before kind, trace_id and the signature's fields were there"
    yield "continuation_before_escalations", "Continuation", continuation(1), b"", \
        "written before escalations was there"
    yield "envelope_before_export_request", "AgentEnvelope", envelope(), FUTURE[:0], \
        "written before the export variant was there, and holding none"
    for name, fields in (("MemoryBlob", memory), ("LlmCacheBlob", llm_cache),
                         ("Continuation", continuation)):
        for version in (0, 2):
            yield f"{name.lower()}_version_{version}", name, fields(version), b"", \
                "before there were versions" if version == 0 else "of a version that is not known yet"
    for name, fields in (("MemoryBlob", memory(1)), ("ToolIntent", intent()), ("ToolResult", result()),
                         ("TraceEvent", trace()), ("AgentEnvelope", envelope(external_event=b"x")),
                         ("StateSnapshot", snapshot()), ("Continuation", continuation(1)),
                         ("LlmCacheBlob", llm_cache(1)),
                         ("ActivationErrorRecord", {"reason": "r"}), ("LongTermRecord", {"key": "k"})):
        yield f"{name.lower()}_with_future_fields", name, fields, FUTURE, "fields of a later schema behind"


def migration(type_name, fields):
    if type_name not in MIGRATES:
        return "invalid_argument"
    return "ok" if fields.get("state_schema_version", 0) <= CURRENT else "version_newer"


def files(judge, case):
    """name -> bytes of one folder."""
    name, type_name, fields, behind, origin = case
    message = judge.classes[type_name](**fields)
    data = message.SerializeToString(deterministic=True) + behind
    verdict = judge.judge(type_name, data)
    expect = {"type": type_name, "json": verdict.value, "migration": migration(type_name, fields),
              "unknown_bytes": len(behind),
              "origin": f"scripts/make_compat_golden.py under Python protobuf {reference.REQUIRED_VERSION} "
                        f"on upb: {origin}"}
    text = json.dumps(expect, ensure_ascii=False, sort_keys=True, indent=1) + "\n"
    return {FOLDER / name / "input.bin": data, FOLDER / name / "expect.json": text.encode()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    judge = reference.Reference()
    cases = [*whole_messages(), *variations()]
    failed = False
    for case in cases:
        for path, data in files(judge, case).items():
            if not check:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(data)
            elif not path.exists() or path.read_bytes() != data:
                print(f"{path}: not what protobuf {reference.REQUIRED_VERSION} says", file=sys.stderr)
                failed = True
    print(f"{len(cases)} cases")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
