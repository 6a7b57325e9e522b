#!/usr/bin/env python3
"""A source with contract: session_inbox, on values of every version and kind, a tenth of them broken: each
broken one is dead-lettered with the class that the specification gives it, the others arrive byte for byte."""

import json
import sys
import time
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from audit import Audit  # noqa: E402
from broker import Input  # noqa: E402
from oracle import Verdict  # noqa: E402
from relay_case import ENVELOPE, REFERENCE, RelayCase  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "golden/session-inbox"
COUNT = 10_000
PARTITIONS = 4
KEYS = 97
PREFIX = "SessionInboxWireError."
# What is no JSON, and the byte at which that shows.
MALFORMED = {"": 0, "{": 1, '{"kind":"clear"': 15, '{"kind":"clear"}}': 16, "{'kind':'clear'}": 1,
             '{"kind":"clear",}': 16, '\ufeff{"kind":"clear"}': 0, '{"kind":"\\ud800"}': 9,
             '{"kind":"clear","n":1e999}': 20,
             '{"kind":"send","payload":' + "[" * 200 + "]" * 200 + "}": 25 + 119}


def read_lines(path):
    return [json.loads(line) for line in path.open()]


def good_values():
    """Every value that the fixtures and the case file call good."""
    values = [one["value"] for path in sorted(FOLDER.glob("v*/fixtures.jsonl")) for one in read_lines(path)]
    return values + [one["input"] for one in read_lines(FOLDER / "v1/cases.jsonl")
                     if one["op"] == "decode" and one["expect"] == "ok"]


def broken_values():
    """(value, class) of every value that the case file calls broken, and of what is no JSON."""
    return [(one["input"], one["expect"].removeprefix(PREFIX)) for one in read_lines(FOLDER / "v1/cases.jsonl")
            if one["op"] == "decode" and one["expect"] != "ok"] + [(text, "malformed_json") for text in MALFORMED]


def element_that_is_no_object(value, at):
    """The byte of the first element of the list at a byte that is no object."""
    decoder = json.JSONDecoder()
    at += 1
    while True:
        element, end = decoder.raw_decode(value, at)
        if not isinstance(element, dict):
            return at
        at = end + 1


def place_of(value, outcome):
    """The byte at which a broken value is broken, found the plain way; None where something is missing."""
    if outcome == "malformed_json":
        return MALFORMED[value]
    member = {"unknown-kind": "kind", "legacy-send-payload": "payload", "legacy-send-delivery": "delivery",
              "legacy-deliver": "payloads"}.get(outcome, "version")
    name = f'"{member}":'
    if not value.startswith("{"):
        return 0 if outcome == "no-version" else None
    if name not in value:
        return None
    at = value.index(name) + len(name)
    in_list = outcome == "legacy-deliver" and value[at] == "["
    return element_that_is_no_object(value, at) if in_list else at


def numbered(value, number):
    """The same value as one of a kind, where it is an object: with a member that no version has."""
    return value[:-1] + f',"berth":{number}}}' if value.startswith('{"') else value


class Inbox(RelayCase):
    def item(self, layout, number, value):
        key = b"session-%02d" % (number % KEYS)
        now = int(time.time() * 1000)
        envelope = ENVELOPE(entity_key=key, event_time_ms=now - number, external_event=value.encode())
        item = Input(layout.source, number % KEYS % PARTITIONS, key, envelope.SerializeToString(), (), now)
        return item, now - number

    def test_ten_thousand_values_a_tenth_broken(self):
        layout = self.layout(PARTITIONS)
        good, broken = good_values(), broken_values()
        inputs, classes, times, places = [], [], [], []
        for number in range(COUNT):
            value, outcome = broken[number // 10 % len(broken)] if number % 10 == 7 else \
                (numbered(good[number % len(good)], number), "ok")
            item, at = self.item(layout, number, value)
            inputs.append(item)
            classes.append(outcome)
            times.append(at)
            place = None if outcome == "ok" else place_of(value, outcome)
            places.append(None if place is None else len(item.value) - len(value.encode()) + place)
        self.broker.produce(inputs)
        bridge = self.bridge(layout, source={"contract": "session_inbox"}).start()
        self.wait_done(layout, bridge, timeout_s=120)
        bridge.stop()
        audit = Audit()
        for item, outcome, at, place in zip(inputs, classes, times, places):
            known = {"entity_key": item.key, "event_time_ms": at}
            if outcome == "ok":
                verdict = Verdict("routed", layout.routes["external_event"], **known)
            else:
                reason = "unsupported_version" if outcome == "newer-version" else "contract_violation"
                verdict = Verdict("dead_lettered", reason=reason, at=place, **known)
            audit.expect_verdict(item, verdict, layout.settings())
        self.assert_clean(audit, layout.outputs)
        self.assert_classes(layout, inputs, classes)
        ledger = bridge.ledger()
        self.assertEqual((COUNT, COUNT - COUNT // 10, COUNT // 10, True),
                         (ledger["consumed"], ledger["routed"], ledger["dead_lettered"], ledger["balanced"]))

    def assert_classes(self, layout, inputs, classes):
        """Each dead letter's text begins with the class; together they are all that decoding can give."""
        wanted = {f"{item.topic}:{item.partition}:{item.offset}": outcome
                  for item, outcome in zip(inputs, classes) if outcome != "ok"}
        found = {}
        for record in self.broker.read([layout.errors]):
            letter = REFERENCE.parse("AgentEnvelope", record.value)
            detail = json.loads(REFERENCE.parse("ActivationErrorRecord", letter.external_event).detail)
            name, outcome, _ = detail["text"].split(": ", 2)
            self.assertEqual("session_inbox", name)
            found[detail["source"]] = outcome
        self.assertEqual(wanted, found)
        self.assertEqual({"no-version", "bad-version", "newer-version", "unknown-kind", "legacy-deliver",
                          "legacy-send-payload", "legacy-send-delivery", "malformed_json"}, set(found.values()))
        print(f"{COUNT} values; dead letters by class: {dict(Counter(found.values()))}", flush=True)


if __name__ == "__main__":
    unittest.main()
