#!/usr/bin/env python3
"""Three brokers, replicated topics: brokers die and come back under load, and nothing is lost or doubled.

Starts a cluster of its own beside the shared broker, and stops it.
"""

import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from broker import SCRIPT, Broker, Load, state_folder, wait_until  # noqa: E402
from relay_case import RelayCase, numbered_inputs  # noqa: E402

PARTITIONS = 6
LANES = 2
PER_SECOND = 1000
ENDLESS = 1_000_000
OUTAGE_S = 12
# A dead broker is noticed in 3 s instead of 9.
PROPERTIES = ("broker.session.timeout.ms=3000", "broker.heartbeat.interval.ms=500")


class Cluster(RelayCase):
    @classmethod
    def setUpClass(cls):
        folder = state_folder().parent / "broker-cluster"
        words = [word for line in PROPERTIES for word in ("--property", line)]
        subprocess.run([sys.executable, str(SCRIPT), "start", "--fresh", "--brokers", "3", "--dir", str(folder),
                        *words], check=True)
        cls.addClassCleanup(subprocess.run, [sys.executable, str(SCRIPT), "stop", "--dir", str(folder)], check=True)
        cls.broker = Broker(folder)

    def relay(self, disturb):
        """Relays a steady load for as long as disturb takes, and audits all of it."""
        layout = self.layout(PARTITIONS)
        with Load(self.broker, numbered_inputs(layout.source, PARTITIONS, ENDLESS), PER_SECOND) as load:
            bridge = self.bridge(layout, lanes=LANES).start()
            self.wait_progress(layout, 2 * PER_SECOND, bridge)
            self.tell("the load runs")
            disturb(layout, bridge)
            self.wait_progress(layout, self.progress(layout) + 2 * PER_SECOND, bridge)
            inputs = load.finish(early=True)
            self.tell("the load ends")
        self.wait_done(layout, bridge)
        self.tell("all is relayed")
        bridge.stop()
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def settle(self):
        """Gives every leadership to the node that is to have it. Each node is to have some, and one that has just
        come back is missing among the replicas for a moment."""
        wait_until("every leader is the preferred one, and every node leads", lambda: self.broker.elect_preferred() and
                   {1, 2, 3} <= set(self.broker.leaders().values()), every_s=1)

    def test_coordinators_die_and_come_back_and_leaders_move(self):
        def disturb(layout, bridge):
            def group():
                return self.broker.coordinator("__consumer_offsets", layout.group)

            def transactions():
                return self.broker.coordinator("__transaction_state", f"{layout.group}.{bridge.name}.{lane}")

            self.settle()
            # The lanes' ids lie beside each other, so that not all are coordinated by the group's node.
            for lane in range(LANES):
                if transactions() != group():
                    break
            for role, find, other in (("group", group, transactions), ("transactions", transactions, group)):
                node = find()
                self.assertNotEqual(node, other(), "the two coordinators are to die one at a time")
                self.broker.script("kill9", node)
                # Two of three are enough.
                self.wait_progress(layout, self.progress(layout) + 2 * PER_SECOND, bridge)
                self.tell(f"node {node}, coordinator of the {role}, is dead and the others go on")
                self.assertNotEqual(node, find())
                self.broker.script("restart", node)
                self.tell(f"node {node} is back")
                # It takes its leaderships over again, and nobody dies for it.
                before = self.broker.leaders()
                self.settle()
                self.assertNotEqual(before, self.broker.leaders())
                self.tell("leaders and coordinators have moved")
        self.relay(disturb)

    def test_all_brokers_are_gone_for_a_while(self):
        def disturb(_, bridge):
            self.broker.script("kill9", 1, 2, 3)
            time.sleep(OUTAGE_S)
            bridge.check_alive()
            self.broker.script("restart", 1, 2, 3)
            self.tell("all are back")
        self.relay(disturb)


if __name__ == "__main__":
    unittest.main()
