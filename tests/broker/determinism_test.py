#!/usr/bin/env python3
"""The same offsets processed twice give the same dead letters: key, value, headers and partition."""

import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from broker import Input  # noqa: E402
from mutate import Message, Mutator  # noqa: E402
from relay_case import REFERENCE, RelayCase  # noqa: E402

RECORDS = 2000


class Determinism(RelayCase):
    def run_once(self, layout, suffix, kill_at=None, **sections):
        """Relays the whole source into errors and quarantine topics of this run's own."""
        errors, quarantine = f"{layout.errors}.{suffix}", f"{layout.quarantine}.{suffix}"
        self.make(layout, errors, 3)
        self.make(layout, quarantine, 3)
        self.broker.set_committed(layout.group, layout.source, {p: 0 for p in range(layout.counts[layout.source])})
        bridge = self.bridge(layout, suffix, instance=None, errors={"topic": errors, "quarantine": quarantine}, **sections).start()
        for _ in range(kill_at or 0):
            bridge.wait_event("dead_letter", since=bridge.log_size())
            bridge.kill9()
            bridge.start()
        self.wait_done(layout, bridge)
        bridge.stop()
        return [{record.header("__agent_bridge.source"): (record.partition, record.key, record.value, record.headers)
                 for record in self.broker.read([topic])} for topic in (errors, quarantine)]

    def test_two_runs_write_the_same_bytes(self):
        layout = self.layout(external_event="dead_letter")
        mutator = Mutator({"AgentEnvelope": Message.of(REFERENCE.descriptor("AgentEnvelope"))}, [], random.Random(7))
        inputs = []
        for number in range(RECORDS):
            _, value = mutator.next()
            inputs.append(Input(layout.source, number % 4, b"key-%d" % (number % 50), value, (("n", b"%d" % number),)))
        self.broker.produce(inputs)
        first = self.run_once(layout, "first")
        second = self.run_once(layout, "second", kill_at=1, delivery={"commit_records": 7})
        self.assertGreater(len(first[0]), RECORDS // 2)
        for name, one, other in zip(("errors", "quarantine"), first, second):
            different = [source for source in one.keys() | other.keys() if one.get(source) != other.get(source)]
            self.assertEqual([], different[:5], f"{name}: {len(different)} of {len(one)} differ")


if __name__ == "__main__":
    unittest.main()
