#!/usr/bin/env python3
"""Processes that die, stand still, come and go under load: every record once, and in order per key.

A "host" is a process with a host name of its own (hostname.c), so that membership is dynamic as by
default; an "instance" is named in the config, which makes it static and quick to take over again.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from broker import Load  # noqa: E402
from relay_case import RelayCase, numbered_inputs  # noqa: E402

PARTITIONS = 4
PER_SECOND = 4000
# Transactions stay open for long, so that whatever happens finds one.
LONG_TRANSACTIONS = {"commit_interval": "1s", "commit_records": 1000000, "transaction_timeout": "6s"}


class Crash(RelayCase):
    def host(self, layout, name, **sections):
        """A bridge on a host of its own."""
        bridge = self.bridge(layout, name, host=f"{self.prefix}-{name}", instance=None, **sections)
        return bridge

    def finish(self, layout, load, inputs, *bridges):
        """Everything is written and relayed; the survivors stop in good order; nothing is wrong."""
        load.finish()
        self.wait_done(layout, *bridges)
        for bridge in bridges:
            bridge.stop()
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def load(self, layout, count):
        inputs = list(numbered_inputs(layout.source, PARTITIONS, count))
        load = Load(self.broker, inputs, PER_SECOND)
        self.addCleanup(load.__exit__)
        return inputs, load.__enter__()

    def test_kill_and_restart_of_the_same_instance(self):
        layout = self.layout(PARTITIONS)
        inputs, load = self.load(layout, 30_000)
        bridge = self.bridge(layout, delivery=LONG_TRANSACTIONS).start()
        for done in (3_000, 11_000, 19_000):
            self.wait_progress(layout, done, bridge)
            bridge.kill9()
            bridge.start()
        self.finish(layout, load, inputs, bridge)

    def test_kill_and_another_host_takes_over(self):
        layout = self.layout(PARTITIONS)
        inputs, load = self.load(layout, 30_000)
        first = self.host(layout, "first", delivery=LONG_TRANSACTIONS).start()
        second = self.host(layout, "second", delivery=LONG_TRANSACTIONS).start()
        self.wait_members(layout, 2)
        self.wait_progress(layout, 5_000, first, second)
        first.kill9()
        self.finish(layout, load, inputs, second)

    def test_members_join_and_leave_under_load(self):
        layout = self.layout(PARTITIONS)
        inputs, load = self.load(layout, 60_000)
        first = self.host(layout, "first").start()
        self.wait_progress(layout, 1_000, first)
        second = self.host(layout, "second").start()
        self.wait_members(layout, 2)
        third = self.host(layout, "third", lanes=2).start()
        self.wait_members(layout, 4)
        self.assertTrue(load.running(), "the rebalances were to happen under load")
        first.stop()
        self.wait_members(layout, 3)
        third.stop()
        self.wait_members(layout, 1)
        self.assertTrue(load.running(), "the rebalances were to happen under load")
        first.start()
        self.wait_members(layout, 2)
        self.finish(layout, load, inputs, first, second)

    def test_standstill_past_the_session_timeout_with_another_member(self):
        layout = self.layout(PARTITIONS)
        inputs, load = self.load(layout, 60_000)
        slow = self.host(layout, "slow", delivery={**LONG_TRANSACTIONS, "transaction_timeout": "60s"}).start()
        other = self.host(layout, "other", delivery=LONG_TRANSACTIONS).start()
        self.wait_members(layout, 2)
        self.wait_progress(layout, 3_000, slow, other)
        slow.freeze(9)
        self.wait_members(layout, 2)
        self.finish(layout, load, inputs, slow, other)

    def test_standstill_past_the_transaction_timeout_alone(self):
        layout = self.layout(PARTITIONS)
        inputs, load = self.load(layout, 60_000)
        bridge = self.host(layout, "alone", delivery=LONG_TRANSACTIONS).start()
        self.wait_progress(layout, 3_000, bridge)
        # The coordinator looks for transactions that are too old every 10 s.
        bridge.freeze(18)
        self.finish(layout, load, inputs, bridge)


if __name__ == "__main__":
    unittest.main()
