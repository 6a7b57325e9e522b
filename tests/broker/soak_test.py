#!/usr/bin/env python3
"""200,000 envelopes of 1 KB over 8 partitions with three kill -9 and two rebalances, checked one by one."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from broker import Load  # noqa: E402
from relay_case import RelayCase, numbered_inputs  # noqa: E402

RECORDS = 200_000
PARTITIONS = 8
KILLS = (25_000, 75_000, 125_000)
BROKEN_EVERY = 499  # of the records, one is cut short


class Soak(RelayCase):
    def test_every_record_once_and_in_order(self):
        layout = self.layout(PARTITIONS)
        inputs = list(numbered_inputs(layout.source, PARTITIONS, RECORDS, keys=1009, size=1000))
        for item in inputs[::BROKEN_EVERY]:
            item.value = item.value[:-1]
        self.tell("made")
        with Load(self.broker, inputs) as load:
            bridge = self.bridge(layout, "instance").start()
            guest = self.bridge(layout, "guest", host=f"{self.prefix}-guest", instance=None)
            for number, done in enumerate(KILLS):
                self.wait_progress(layout, done, bridge)
                bridge.kill9()
                bridge.start()
                if number == 0:
                    guest.start()
                    self.wait_members(layout, 2)
                elif number == 1:
                    self.wait_members(layout, 2)
                    guest.stop()
            load.finish()
        self.tell("written")
        self.wait_done(layout, bridge)
        bridge.stop()
        self.tell("relayed")
        audit = self.audit(inputs, layout)
        self.assert_clean(audit, layout.outputs)
        self.assertEqual(RECORDS + len(inputs[::BROKEN_EVERY]), audit.records)
        self.tell("checked")


if __name__ == "__main__":
    unittest.main()
