#!/usr/bin/env python3
"""Processes that die, stand still, come and go under load: every record once, and in order per key.

A "host" is a process with a host name of its own (hostname.c), so that membership is dynamic as by
default; an "instance" is named in the config, which makes it static and quick to take over again.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from broker import Load, wait_until  # noqa: E402
from relay_case import RelayCase, numbered_inputs  # noqa: E402

PARTITIONS = 4
PER_SECOND = 3000
ENDLESS = 1_000_000
# Transactions stay open for long, so that whatever happens finds one.
LONG_TRANSACTIONS = {"commit_interval": "1s", "commit_records": 1000000, "transaction_timeout": "6s"}


class Crash(RelayCase):
    def host(self, layout, name, **sections):
        """A bridge on a host of its own."""
        bridge = self.bridge(layout, name, host=f"{self.prefix}-{name}", instance=None, **sections)
        return bridge

    def finish(self, layout, load, *bridges):
        """The load ends, all of it is relayed, the survivors stop in good order, and nothing is wrong."""
        inputs = load.finish(early=True)
        self.wait_done(layout, *bridges)
        for bridge in bridges:
            bridge.stop()
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def more(self, layout, *bridges):
        """Some more of the load gets through."""
        self.wait_progress(layout, self.progress(layout) + PER_SECOND, *bridges)

    def load(self, layout):
        load = Load(self.broker, numbered_inputs(layout.source, PARTITIONS, ENDLESS), PER_SECOND)
        self.addCleanup(load.__exit__)
        return load.__enter__()

    def test_kill_and_restart_of_the_same_instance(self):
        layout = self.layout(PARTITIONS)
        load = self.load(layout)
        bridge = self.bridge(layout, delivery=LONG_TRANSACTIONS).start()
        for done in (3_000, 11_000, 19_000):
            self.wait_progress(layout, done, bridge)
            bridge.kill9()
            bridge.start()
        self.more(layout, bridge)
        self.finish(layout, load, bridge)

    def test_kill_and_another_host_takes_over(self):
        layout = self.layout(PARTITIONS)
        load = self.load(layout)
        first = self.host(layout, "first", delivery=LONG_TRANSACTIONS).start()
        second = self.host(layout, "second", delivery=LONG_TRANSACTIONS).start()
        self.wait_members(layout, 2)
        self.wait_progress(layout, 5_000, first, second)
        first.kill9()
        self.wait_members(layout, 1)
        self.finish(layout, load, second)

    def test_members_join_and_leave_under_load(self):
        layout = self.layout(PARTITIONS)
        load = self.load(layout)
        first = self.host(layout, "first").start()
        self.wait_progress(layout, 1_000, first)
        second = self.host(layout, "second").start()
        self.wait_members(layout, 2)
        third = self.host(layout, "third", lanes=2).start()
        self.wait_members(layout, 4)
        first.stop()
        self.wait_members(layout, 3)
        third.stop()
        self.wait_members(layout, 1)
        first.start()
        self.wait_members(layout, 2)
        self.more(layout, first, second)
        self.finish(layout, load, first, second)

    def test_standstill_past_the_session_timeout_with_another_member(self):
        layout = self.layout(PARTITIONS)
        load = self.load(layout)
        slow = self.host(layout, "slow", delivery={**LONG_TRANSACTIONS, "transaction_timeout": "60s"}).start()
        other = self.host(layout, "other", delivery=LONG_TRANSACTIONS).start()
        self.wait_members(layout, 2)
        self.wait_progress(layout, 3_000, slow, other)
        with slow.frozen():
            self.wait_members(layout, 1)  # its session has timed out, and the other took over
            self.more(layout, other)
        self.wait_members(layout, 2)
        self.more(layout, slow, other)
        self.finish(layout, load, slow, other)

    def test_standstill_past_the_transaction_timeout_alone(self):
        layout = self.layout(PARTITIONS)
        load = self.load(layout)
        bridge = self.host(layout, "alone", delivery=LONG_TRANSACTIONS).start()
        self.wait_progress(layout, 3_000, bridge)
        wait_until("a standstill met an open transaction", lambda: self.outlive_transaction(layout, bridge))
        self.more(layout, bridge)
        self.finish(layout, load, bridge)

    def outlive_transaction(self, layout, bridge):
        """Freezes the bridge until the coordinator has ended its transaction; False when none was open."""
        def is_open():
            return any(self.broker.ends(topic) != self.broker.ends(topic, "read_uncommitted")
                       for topic in layout.routes.values())
        with bridge.frozen():
            if not is_open():
                return False
            # It looks for transactions past their timeout, 6 s here, every 10 s.
            wait_until("the coordinator ended the transaction", lambda: not is_open())
        return True


if __name__ == "__main__":
    unittest.main()
