#!/usr/bin/env python3
"""contract: tea on a real Kafka: 10,000 mixed envelopes, a tenth of them broken in ten ways.

What is good comes from the frozen cases of golden/tea, each made one of a kind; what is broken is broken here, in a
place that is known. Every broken one has to become a dead letter with that reason, byte and pointer, everything else
has to come out byte for byte.
"""

import json
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from broker import Input  # noqa: E402
from relay_case import ENVELOPE, RelayCase  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
CASES = [json.loads(line) for line in (ROOT / "golden/tea/v1/tea-cases.jsonl").open()]
COUNT = 10_000
BROKEN_EVERY = 10
# A case that is not near a limit of its own, so that a member more does not break it.
GOOD_MAX = 20_000
ID = "0198a7c4-1d03-7b41-9f21-5c0de0000003"
DELTA = ('{"protocolVersion":"1.0","type":"message_delta","eventId":"%s","sessionId":"%s","runId":"%s","turnId":"%s",'
         '"sequence":"12","timestamp":"2027-11-05T14:08:31.250Z","n":%%d,"payload":{"messageId":"%s","contentIndex":0,'
         '"delta":{"type":"text_delta","text":"Ahoy \u00e9"}}}') % ((ID,) * 5)
ABORT = ('{"protocolVersion":"2.0","type":"abort","commandId":"%s","sessionId":"%s",'
         '"timestamp":"2027-11-05T14:08:31.250Z","n":%%d,"payload":{}}') % ((ID,) * 2)


def good_texts():
    """Texts of all kinds that pass, in the order of the file."""
    return [case["input"] for case in CASES
            if case["expect"] in ("ok", "skippable") and len(case["input"]) < GOOD_MAX]


def replaced(old, new, pointer, reason="contract_violation", text=DELTA):
    """Breaks a text by replacing a piece; the fault begins at the end of what new has before its '^'."""
    before, _, after = new.partition("^")

    def make(number):
        whole = text % number
        at = whole.index(old) + len(before)
        return whole.replace(old, before + after, 1), at, pointer, reason
    return make


def cut(number):
    whole = (DELTA % number)[:-1]
    return whole, len(whole.encode()), "", "contract_violation"


WAYS = (
    replaced('"2027-11-05T14:08:31.250Z"', '^"yesterday"', "/timestamp"),
    replaced('"sequence":"12"', '"sequence":^12', "/sequence"),
    replaced('"eventId":"0198a7c4', '"eventId":^"0198A7C4', "/eventId"),
    replaced('"text":"Ahoy \u00e9"', '"text":^""', "/payload/delta/text"),
    replaced('"contentIndex":0', '"contentIndex":^4294967296', "/payload/contentIndex"),
    replaced('"text_delta"', '^"audio_delta"', "/payload/delta/type"),
    replaced('"runId"', '^"eventId"', "/eventId"),
    replaced('"message_delta"', '^"tide_gauge"', "/type"),
    replaced('"2.0"', '^"2.0"', "/protocolVersion", "unsupported_version", ABORT),
    cut,
)


class Tea(RelayCase):
    def inputs(self, layout):
        """The records, and for each broken event what has to be said of it."""
        good = good_texts()
        self.assertGreater(len(good), 150)
        breaches = {}
        now = int(time.time() * 1000)
        inputs = []
        for number in range(COUNT):
            if number % BROKEN_EVERY == 0:
                text, at, pointer, reason = WAYS[number // BROKEN_EVERY % len(WAYS)](number)
                breaches[text.encode()] = (reason, len(text[:at].encode()), pointer)
            else:
                text = good[number % len(good)].replace("{", '{ "of-the-test":%d,' % number, 1)
            key = b"entity-%03d" % (number % 97)
            value = ENVELOPE(entity_key=key, event_time_ms=now - number,
                             external_event=text.encode()).SerializeToString()
            inputs.append(Input(layout.source, number % 97 % 4, key, value, (("n", b"%d" % number),), now - number))
        self.assertEqual(len(breaches), COUNT // BROKEN_EVERY)
        return inputs, breaches

    def test_ten_thousand_events_each_comes_out_where_it_belongs(self):
        layout = self.layout()
        inputs, breaches = self.inputs(layout)

        def contract(value, event):
            breach = breaches.get(event)
            return breach and (breach[0], value.index(event) + breach[1], breach[2])

        inputs = self.broker.produce(inputs)
        bridge = self.bridge(layout, source={"contract": "tea"}).start()
        self.wait_done(layout, bridge, timeout_s=120)
        bridge.stop()
        self.assert_clean(self.audit(inputs, layout, {"contract": contract}), layout.outputs)
        ledger = bridge.ledger()
        self.assertEqual((ledger["consumed"], ledger["routed"], ledger["dead_lettered"], ledger["balanced"]),
                         (COUNT, COUNT - len(breaches), len(breaches), True))
        self.assertEqual(ledger["dead_lettered_unsupported_version"], 100)
        self.assertEqual(ledger["dead_lettered_contract_violation"], 900)

    def test_other_variants_and_opaque_sources_are_left_alone(self):
        layout = self.layout()
        key = b"k"
        values = [ENVELOPE(entity_key=key, tool_result={"intent_id": "i", "payload": b"{"}).SerializeToString(),
                  ENVELOPE(entity_key=key, external_event=b"{").SerializeToString()]
        inputs = self.broker.produce([Input(layout.source, 0, key, value, (), 1) for value in values])
        bridge = self.bridge(layout).start()
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assert_clean(self.audit(inputs, layout), layout.outputs)


if __name__ == "__main__":
    unittest.main()
