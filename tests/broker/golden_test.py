#!/usr/bin/env python3
"""Every known input on a real Kafka: where each came out, against the verdict of the reference runtime.

    golden_test.py [unittest's words]
    golden_test.py --upstream              only the first test, with the agents' own project's envelopes

The inputs are those of golden/wire/v1 and mutations of them, each written by an independent client in several forms (keys,
headers, timestamps), and records that fail one check each.
What must come of each is computed here, from the reference and DESIGN section 3, never by the bridge.
"""

import random
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import golden  # noqa: E402
from broker import Input  # noqa: E402
from mutate import Message, Mutator  # noqa: E402
from oracle import SOURCE_HEADER, VARIANTS  # noqa: E402
from relay_case import ENVELOPE, REFERENCE, RelayCase, envelope  # noqa: E402

UPSTREAM = False
HEADERS = (
    (),
    (("trace", b"\x00\x01\xff"),),
    (("twice", b"1"), ("other", None), ("twice", b""), ("twice", b"1"), ("", b"no name"), ("größe", b"utf-8")),
    ((SOURCE_HEADER, b"forged:0:0:0"), ("__agent_bridge.hops", b"2"), ("long", b"x" * 5000)),
    (("__agent_bridge.hops", b"99"), ("__agent_bridge.hops", b"3")),
)
MAX_VALUE = 16384
MUTATED = 1000


def forms(envelopes, topic, partitions):
    """Each value under the right key, no key, another key and an empty one, with changing headers."""
    began = int(time.time() * 1000) - 10_000_000
    for number, value in enumerate(envelopes):
        message = REFERENCE.parse("AgentEnvelope", value) if value is not None else None
        entity_key = message.entity_key if message is not None else b"key-of-refused-%d" % number
        for form, key in enumerate((entity_key, None, entity_key + b"-other", b"")):
            at = number * 4 + form
            yield Input(topic, at % partitions, key, value, HEADERS[at % len(HEADERS)], began + at)


def failing_values():
    """At least one value for each check, beside what the golden inputs hold."""
    yield None
    yield b""
    yield b"\x00"
    yield b"{\"json\": true}"
    yield bytes(MAX_VALUE + 1)
    yield ENVELOPE(entity_key=b"k", external_event=b"x" * (MAX_VALUE - 30)).SerializeToString()
    yield ENVELOPE(external_event=b"nobody's").SerializeToString()
    yield ENVELOPE(entity_key=b"k", tool_result={"payload": b"no id"}).SerializeToString()
    yield ENVELOPE(entity_key=b"k", approval={"approved": True}).SerializeToString()
    yield ENVELOPE(entity_key=b"k", tool_result={"intent_id": "i", "entity_key": b"o"}).SerializeToString()
    yield ENVELOPE(entity_key=b"k" * 3000, approval={"approver": "long keys are cut"}).SerializeToString()
    yield ENVELOPE(entity_key=b"k" * 3000, external_event=b"but not in routed records").SerializeToString()
    yield ENVELOPE(entity_key=bytes(range(256)), event_time_ms=-1, external_event=b"").SerializeToString()
    yield REFERENCE.classes["ToolResult"](intent_id="bare", entity_key=b"k").SerializeToString()
    for header in (b"\x00\x00\x00\x00\x07", b"\x00\x00\x00\x00\x07\x00", b"\x00\x00\x00\x00\x07\x02\x08"):
        yield header + envelope(b"framed")
    for variant in VARIANTS:
        yield envelope(b"entity-of-" + variant.encode(), variant, size=200, name="a name")
    yield envelope(b"k", "tool_result") + b"\x3a\x03new"
    yield ENVELOPE(entity_key=b"k").SerializeToString() + b"\xa2\x06\x03new"


class Golden(RelayCase):
    def relay(self, values, layout, policy, settings, **config):
        """Writes the values in all forms, relays them, and audits every record that came out."""
        inputs = self.broker.produce(list(forms(values, layout.source, layout.counts[layout.source])))
        bridge = self.bridge(layout, **config).start()
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assert_clean(self.audit(inputs, layout, policy, settings), layout.outputs)
        oracle = layout.oracle(**policy)
        verdicts = [oracle.judge(i.key, i.value, i.headers, i.timestamp_ms) for i in inputs]
        self.assert_ledger(bridge.ledger(), verdicts)
        return verdicts

    def assert_ledger(self, ledger, verdicts):
        """The bridge's own account says the same as the independent one."""
        outcomes = [verdict.outcome for verdict in verdicts]
        found = {name: ledger[name] for name in ("consumed", "routed", "dead_lettered", "dropped", "balanced")}
        self.assertEqual(found, {
            "consumed": len(verdicts), "routed": outcomes.count("routed"),
            "dead_lettered": outcomes.count("dead_lettered"), "dropped": outcomes.count("dropped"),
            "balanced": True})
        for reason in {verdict.reason for verdict in verdicts} - {None}:
            wanted = sum(verdict.reason == reason for verdict in verdicts)
            self.assertEqual(wanted, ledger.get(f"dead_lettered_{reason}"), reason)

    def values(self):
        if UPSTREAM:
            return [data for _, name, data in golden.upstream() if name == "AgentEnvelope"]
        values = [data for _, name, data in golden.inputs() if name == "AgentEnvelope"]
        values += [data for name, data in golden.corpus() if name == "AgentEnvelope"]
        values += failing_values()
        mutator = Mutator({"AgentEnvelope": Message.of(REFERENCE.descriptor("AgentEnvelope"))},
                          [("AgentEnvelope", value) for value in values if value], random.Random(11))
        return values + [mutator.next()[1] for _ in range(MUTATED)]

    def test_every_input_comes_out_where_the_reference_says(self):
        values = self.values()
        self.assertGreaterEqual(len(values), 2 if UPSTREAM else 60)
        layout = self.layout()
        policy = {"max_value": MAX_VALUE}
        verdicts = self.relay(values, layout, policy, layout.settings(), source={"max_value": f"{MAX_VALUE}B"})
        if not UPSTREAM:
            self.assert_all_happened(layout, verdicts)

    def assert_all_happened(self, layout, verdicts):
        """The inputs try something: each topic, and each reason that these settings can give."""
        self.assertEqual({v.topic for v in verdicts} - {None}, set(layout.routes.values()))
        self.assertEqual({v.reason for v in verdicts} - {None}, {
            "tombstone", "oversized", "decode_truncated", "decode_varint", "decode_bad_tag", "decode_wire_type",
            "decode_group", "invalid_utf8", "framed_payload", "unknown_variant", "payload_not_set",
            "missing_entity_key", "key_mismatch", "missing_intent_id"})

    def test_every_choice_of_the_config(self):
        later = f"{self.prefix}.later"
        layout = self.layout(unknown_variant=later, approval="dead_letter", export_request="drop")
        self.make(layout, later, 2)
        policy = {"on_tombstone": "drop", "on_key_mismatch": "ignore", "on_null_key": "dead_letter", "max_hops": 2}
        verdicts = self.relay(self.values(), layout, {**policy, "max_value": MAX_VALUE},
                              layout.settings(by_source=True), errors={"max_hops": 2},
                              source={"on_tombstone": "drop", "on_key_mismatch": "ignore", "partition": "source",
                                      "on_null_key": "dead_letter", "max_value": f"{MAX_VALUE}B"})
        self.assertLessEqual({"missing_record_key", "route_refused", "hop_limit"}, {v.reason for v in verdicts})
        self.assertIn(later, {v.topic for v in verdicts})
        self.assertIn("dropped", {v.outcome for v in verdicts})

    def test_quarantine_off_and_no_source_header(self):
        layout = self.layout(partitions=1, counts={"external_event": 1})
        layout.quarantine = None
        values = [envelope(b"k", size=50, name=str(n)) for n in range(50)] + [b"\x00"]
        inputs = self.broker.produce([Input(layout.source, 0, b"k", v, (("h", b"1"),)) for v in values])
        bridge = self.bridge(layout, errors={"quarantine": "off"}, delivery={"source_header": False}).start()
        self.wait_done(layout, bridge)
        bridge.stop()
        routed = list(self.broker.read([layout.routes["external_event"]]))
        self.assertEqual([(i.key, i.value, i.headers, i.timestamp_ms) for i in inputs[:-1]],
                         [(r.key, r.value, r.headers, r.timestamp_ms) for r in routed])
        others = [topic for topic in layout.outputs if topic not in (layout.errors, layout.routes["external_event"])]
        self.assertEqual([], list(self.broker.read(others)))
        self.assert_clean(self.audit(inputs[-1:], layout), [layout.errors])


if __name__ == "__main__":
    if "--upstream" in sys.argv:
        UPSTREAM = True
        sys.argv[sys.argv.index("--upstream")] = "Golden.test_every_input_comes_out_where_the_reference_says"
    unittest.main()
