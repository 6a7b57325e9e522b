#!/usr/bin/env python3
"""Makes deploy/samples, or proves that it still is what this script makes.

    scripts/make_samples.py --check     exit 1 when a file differs (a test)
    scripts/make_samples.py --write

records.tsv is what deploy/tools/traffic writes: every variant for ten agents, and one record for each way
a record can be wrong by itself. states.tsv is what deploy/tools/states writes: the published state of eight
of them. The reference runtime encodes them, tests/support/oracle.py says what must become of each record, and
tests/support/snapshots.py what an export request is answered with; nothing here comes from agent-bridge.
"""

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import snapshots  # noqa: E402
from oracle import Oracle, Policy  # noqa: E402
from reference import Reference  # noqa: E402

FOLDER = ROOT / "deploy" / "samples"
AGENTS = 10
PUBLISHED = 8  # of them; nothing was ever published of the others
BEGAN_MS = 1767225600000  # 2026-01-01T00:00:00Z
ROUTES = {"external_event": "agents.events", "tool_result": "agents.results",
          "approval": "agents.approvals", "export_request": "agents.snapshots.answers"}
HEAD = """\
# Sample records for the topic agents.in. Made by scripts/make_samples.py with the reference runtime.
# A line a record, with tabs between: name, key and value in hex (a value of - is NULL), and what must become of it:
# the topic that it comes to, or the reason of its dead letter. An export request has one part more: the value of
# its answer, once states.tsv has been published.
"""
STATE_HEAD = """\
# Sample states for the topic agents.snapshots. Made by scripts/make_samples.py with the reference runtime.
# A line a state, with tabs between: name, key and value in hex, and its topic.
"""


class Maker:
    def __init__(self):
        reference = Reference()
        self.reference = reference
        self.envelope = reference.classes["AgentEnvelope"]
        self.snapshot = reference.classes["StateSnapshot"]
        self.oracle = Oracle(reference, Policy(ROUTES))

    def good(self, number):
        """One envelope of each variant for one agent."""
        key = b"agent-%02d" % number
        intent = f"intent-{number:02d}-1"
        time = BEGAN_MS + 60000 * number
        event = json.dumps({"kind": "message", "text": f"Ticket {4000 + number}: größer als erwartet"},
                           ensure_ascii=False, separators=(",", ":")).encode()
        payloads = {
            "external_event": event,
            "tool_result": {"intent_id": intent, "entity_key": key, "seq": 3, "status": "OK",
                            "payload": b'{"rows":%d}' % (17 * number), "completed_at_ms": time + 1200},
            "approval": {"intent_id": intent, "approved": number % 3 != 0, "approver": "dana@example.org",
                         "decided_at_ms": time + 2500},
            "export_request": {"request_id": f"export-{number:02d}"},
        }
        for step, (variant, payload) in enumerate(payloads.items()):
            yield f"{variant} of {key.decode()}", key, self.bytes(key, time + step, **{variant: payload})

    def state(self, number):
        """What the pipeline has published of one agent, a second before its first sample record."""
        key = b"agent-%02d" % number
        time = BEGAN_MS + 60000 * number - 1000
        value = b"ticket %d" % (4000 + number)
        state = self.snapshot(
            state_schema_version=1, entity_key=key, seq=3, snapshot_at_ms=time,
            memory={"state_schema_version": 1, "total_value_bytes": len(value),
                    "entries": [{"key": "subject", "value": value, "last_access_ms": time}]},
            llm_cache={"state_schema_version": 1})
        if number % 2 == 0:  # waits for its tool
            intent = f"intent-{number:02d}-1"
            state.continuation.state_schema_version = 1
            state.continuation.seq = 3
            state.continuation.pending_intent_ids.append(intent)
            state.pending.add(intent_id=intent, entity_key=key, seq=3)
        return state.SerializeToString(deterministic=True)

    def answer(self, key, value):
        """What the export request in this envelope has to be answered with."""
        request = self.envelope.FromString(value)
        facts = request.event_time_ms, request.export_request.request_id
        number = int(key.removeprefix(b"agent-"))
        if number >= PUBLISHED:
            return snapshots.empty(key, *facts, self.reference)
        return snapshots.expected(self.state(number), *facts, self.reference)[0]

    def broken(self):
        """One record for each reason that lies in the record alone."""
        key = b"agent-03"
        result = self.bytes(key, BEGAN_MS, tool_result={"intent_id": "intent-03-2", "status": "OK",
                                                        "payload": b"{}"})
        approval = self.bytes(key, BEGAN_MS, approval={"intent_id": "intent-03-2", "approver": "dana"})
        yield "a record without a value", key, None
        yield "cut off in the middle", key, result[:-5]
        yield "a number of eleven bytes", key, result + b"\x10" + b"\xff" * 10 + b"\x01"
        yield "field number 0", key, result + b"\x00\x01"
        yield "wire type 7", key, result + b"\x1f"
        yield "a group that never ends", key, result + b"\x7b\x08\x01"
        yield "an approver in Latin-1", key, approval.replace(b"dana", b"Ren\xe9")
        yield "a schema registry's header before it", key, b"\x00\x00\x00\x00\x07\x00" + result
        yield "a payload of a later version", key, self.bytes(key, BEGAN_MS) + b"\x3a\x02hi"
        yield "no payload at all", key, self.bytes(key, BEGAN_MS)
        yield "nobody's event", key, self.bytes(b"", BEGAN_MS, external_event=b"hello")
        yield "under another agent's key", b"agent-04", result
        yield "an answer to no intent", key, self.bytes(key, BEGAN_MS, approval={"approved": True})

    def bytes(self, key, time, **payload):
        message = self.envelope(entity_key=key, event_time_ms=time, **payload)
        return message.SerializeToString(deterministic=True)

    def line(self, name, key, value):
        verdict = self.oracle.judge(key, value, (), BEGAN_MS)
        words = (name, key.hex(), "-" if value is None else value.hex(),
                 verdict.topic or verdict.reason)
        if verdict.topic == ROUTES["export_request"]:
            words += (self.answer(key, value).hex(),)
        return "\t".join(words) + "\n"

    def records(self):
        good = [record for number in range(AGENTS) for record in self.good(number)]
        broken = list(self.broken())
        # The broken ones lie between the good ones, as in life.
        for place, record in enumerate(broken):
            good.insert(2 + 4 * place, record)
        return HEAD + "".join(self.line(*record) for record in good)

    def states(self):
        rows = ((f"agent-{n:02d}", f"agent-{n:02d}".encode().hex(), self.state(n).hex(), "agents.snapshots")
                for n in range(PUBLISHED))
        return STATE_HEAD + "".join("\t".join(("state of " + row[0], *row[1:])) + "\n" for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true")
    mode.add_argument("--write", action="store_true")
    maker, write = Maker(), parser.parse_args().write
    for name, text in (("records.tsv", maker.records()), ("states.tsv", maker.states())):
        file = FOLDER / name
        if write:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            print(f"{file.relative_to(ROOT)} is not what scripts/make_samples.py makes: run it with --write",
                  file=sys.stderr)
            return 1
        else:
            print(f"{name}: {len(text.splitlines())} lines are as made")
    return 0


if __name__ == "__main__":
    sys.exit(main())
