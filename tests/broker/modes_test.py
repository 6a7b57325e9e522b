#!/usr/bin/env python3
"""What the settings of delivery and errors promise, on a real Kafka: at_least_once, on_failure, the breaker."""

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from audit import Audit  # noqa: E402
from broker import Input, Load, wait_until  # noqa: E402
from face import Face  # noqa: E402
from oracle import SOURCE_HEADER, Verdict  # noqa: E402
from relay_case import RelayCase, envelope, numbered_inputs  # noqa: E402

PARTITIONS = 4
PER_SECOND = 3000
ENDLESS = 1_000_000
HOUR_MS = 3_600_000
EVENT_TIME_MS = 1_700_000_000_000
PLAIN = {"guarantee": "at_least_once"}
# A member that only holds its place in the group, until its input ends.
MEMBER = """
import select, sys, confluent_kafka
member = confluent_kafka.Consumer({"bootstrap.servers": sys.argv[1], "group.id": sys.argv[2],
                                   "partition.assignment.strategy": "cooperative-sticky",
                                   "enable.auto.commit": False, "log_level": 2})
member.subscribe([sys.argv[3]])
while not select.select([sys.stdin], [], [], 0)[0]:
    member.poll(0.2)
member.close()
"""


def poison(layout, count, partitions=1):
    """Values that no parser takes."""
    return [Input(layout.source, n % partitions, b"k%d" % n, b"\xff\xff") for n in range(count)]


class Modes(RelayCase):
    def load(self, layout):
        load = Load(self.broker, numbered_inputs(layout.source, PARTITIONS, ENDLESS), PER_SECOND)
        self.addCleanup(load.__exit__)
        return load.__enter__()

    def host(self, layout, name, **sections):
        return self.bridge(layout, name, host=f"{self.prefix}-{name}", instance=None, **sections)

    def more(self, layout, *bridges):
        self.wait_progress(layout, self.progress(layout) + PER_SECOND, *bridges)

    def last_of_each(self, layout):
        """The outputs with only the last of what was written more than once, and how many were more.

        Whoever starts again begins at what is committed and writes everything behind it again, in order:
        so the last of each are in order, too."""
        records = list(self.broker.read(layout.outputs))
        last = {(record.topic, record.header(SOURCE_HEADER)): at for at, record in enumerate(records)}
        kept = sorted(last.values())
        return [records[at] for at in kept], len(records) - len(kept)

    def assert_none_missing(self, inputs, layout):
        """Returns how many were written again."""
        records, again = self.last_of_each(layout)
        problems = self.audit(inputs, layout).see_all(records).finish()
        self.assertEqual([], problems, "\n".join(problems))
        self.tell(f"{len(records)} records, {again} written again")
        return again


class AtLeastOnce(Modes):
    def test_restarts_and_rebalances_in_good_order_write_nothing_twice(self):
        layout = self.layout(PARTITIONS)
        load = self.load(layout)
        first = self.host(layout, "first", delivery=PLAIN).start()
        self.wait_progress(layout, 3_000, first)
        second = self.host(layout, "second", delivery=PLAIN).start()
        self.wait_members(layout, 2)
        self.more(layout, first, second)
        first.stop()
        self.more(layout, second)
        first.start()
        self.wait_members(layout, 2)
        self.more(layout, first, second)
        inputs = load.finish(early=True)
        self.wait_done(layout, first, second)
        for bridge in (first, second):
            bridge.stop()
            self.assertEqual(0, bridge.ledger()["stale"])
        self.assertEqual(0, self.assert_none_missing(inputs, layout))

    def test_a_slow_member_of_the_group_makes_nothing_be_written_twice(self):
        layout = self.layout(PARTITIONS)
        load = self.load(layout)
        first = self.host(layout, "first", delivery=PLAIN).start()
        self.wait_progress(layout, 3_000, first)
        slow = subprocess.Popen([sys.executable, "-c", MEMBER, self.broker.bootstrap, layout.group, layout.source],
                                stdin=subprocess.PIPE)
        self.addCleanup(slow.wait)
        self.addCleanup(slow.kill)
        self.wait_members(layout, 2)
        slow.send_signal(signal.SIGSTOP)
        second = self.host(layout, "second", delivery=PLAIN).start()
        # The second asks for a place, and until the slow member has answered, the first waits for its own;
        # commits are due meanwhile.
        time.sleep(4)
        slow.send_signal(signal.SIGCONT)
        self.wait_members(layout, 3)
        slow.stdin.close()
        self.more(layout, first, second)
        inputs = load.finish(early=True)
        self.wait_done(layout, first, second)
        for bridge in (first, second):
            bridge.stop()
        self.assertEqual(0, self.assert_none_missing(inputs, layout))

    def test_kill9_and_restart_lose_nothing(self):
        layout = self.layout(PARTITIONS)
        load = self.load(layout)
        bridge = self.bridge(layout, delivery=PLAIN).start()
        for done in (3_000, 11_000, 19_000):
            self.wait_progress(layout, done, bridge)
            bridge.kill9()
            bridge.start()
        self.more(layout, bridge)
        inputs = load.finish(early=True)
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assert_none_missing(inputs, layout)

    def test_broker_killed_and_started_again_loses_nothing(self):
        layout = self.layout(PARTITIONS)
        inputs = self.broker.produce(list(numbered_inputs(layout.source, PARTITIONS, 60_000)))
        bridge = self.bridge(layout, delivery=PLAIN).start()
        self.wait_progress(layout, 1_000, bridge)
        self.broker.script("kill9", 1)
        time.sleep(3)
        self.broker.script("restart", 1)
        self.wait_done(layout, bridge, timeout_s=120)
        bridge.stop()
        self.assert_none_missing(inputs, layout)

    def test_refused_records_step_down_the_ladder_and_the_others_stay_in_order(self):
        layout = self.layout(1, {"message.timestamp.before.max.ms": HOUR_MS})
        now = int(time.time() * 1000)
        inputs = [Input(layout.source, 0, b"k%d" % (n % 5),
                        envelope(b"k%d" % (n % 5), event_time_ms=EVENT_TIME_MS, name=f"n{n}-"), (), now)
                  for n in range(400)]
        bad = {3, 4, 199, 200, 399}
        for at in bad:
            inputs[at] = replace(inputs[at], timestamp_ms=now - 2 * HOUR_MS)
        self.broker.produce(inputs)
        bridge = self.bridge(layout, delivery=PLAIN).start()
        self.wait_done(layout, bridge)
        bridge.stop()
        audit = Audit()
        for number, item in enumerate(inputs):
            known = {"entity_key": item.key, "event_time_ms": EVENT_TIME_MS}
            verdict = (Verdict("dead_lettered", reason="produce_rejected", **known) if number in bad
                       else Verdict("routed", layout.routes["external_event"], **known))
            audit.expect_verdict(item, verdict, layout.settings())
        records, again = self.last_of_each(layout)
        problems = audit.see_all(records).finish()
        self.assertEqual([], problems, "\n".join(problems))
        self.assertEqual((400, 5), (bridge.ledger()["consumed"], bridge.ledger()["dead_lettered"]))
        self.tell(f"{again} written again")

    def test_status_and_metrics_say_it(self):
        layout = self.layout(1)
        face = Face()
        bridge = self.bridge(layout, delivery=PLAIN, http=face.section).start()
        self.broker.produce(list(numbered_inputs(layout.source, 1, 100)))
        self.wait_done(layout, bridge)
        self.assertEqual("at_least_once", json.loads(face.get("/status")[1])["guarantee"])
        wait_until("a commit is counted", lambda: face.metrics()["offset_commits_total", "committed"] > 0)
        metrics = face.metrics()
        self.assertEqual((1, 0), (metrics["guarantee", "at_least_once"], metrics["guarantee", "exactly_once"]))
        self.assertEqual(0, metrics["transactions_total", "committed"])
        bridge.stop()


class OnFailure(Modes):
    def refused(self, on_failure):
        """A layout whose errors topic takes no dead letter, one poison record among good ones, and a bridge."""
        layout = self.layout(1)
        self.broker.configure(layout.errors, **{"max.message.bytes": 100})
        inputs = list(numbered_inputs(layout.source, 1, 20, size=20))
        inputs[10] = Input(layout.source, 0, b"entity-010", b"\xff")
        self.broker.produce(inputs)
        return layout, inputs, self.bridge(layout, errors={"on_failure": on_failure}).start()

    def test_block_waits_and_goes_on_by_itself(self):
        layout, inputs, bridge = self.refused("block")
        bridge.wait_event("dead_letter_refused")
        self.wait_progress(layout, 10, bridge)
        time.sleep(2)
        bridge.check_alive()
        self.assertEqual(10, self.progress(layout), "nothing is skipped")
        self.broker.configure(layout.errors, **{"max.message.bytes": 1_000_000})
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def test_stop_ends_with_70_and_a_later_start_goes_on(self):
        layout, inputs, bridge = self.refused("stop")
        bridge.wait_exit(70)
        self.assertEqual(1, len(bridge.events("dead_letter_refused")))
        self.assertLessEqual(self.progress(layout), 10)
        self.broker.configure(layout.errors, **{"max.message.bytes": 1_000_000})
        bridge.start()
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assert_clean(self.audit(inputs, layout), layout.outputs)


class Breaker(Modes):
    def tripped(self, layout, bridge, face):
        event = bridge.wait_event("breaker_opened")
        self.assertEqual(layout.source, event["topic"])
        self.assertGreaterEqual(event["read"], 500)
        self.assertEqual("decode_truncated", event["reason"])
        wait_until("the metric shows it", lambda: face.metrics()["open_breakers", layout.source] == 1)
        source, = json.loads(face.get("/status")[1])["sources"]
        self.assertEqual((1, "decode_truncated"),
                         (source["breaker"]["open_lanes"], source["breaker"]["last_reason"]))
        self.assertEqual("ready", face.readiness())

    def test_opens_on_poison_and_closes_by_itself(self):
        """20 probes of 10 seconds each: this takes over three minutes."""
        layout = self.layout(2)
        face = Face()
        bridge = self.bridge(layout, http=face.section, errors={"breaker": {}},
                             health={"stuck_after": "5s"}).start()
        inputs = self.broker.produce(poison(layout, 500, 2))
        self.tripped(layout, bridge, face)
        self.tell("open")
        self.wait_progress(layout, 500, bridge)
        inputs += self.broker.produce(list(numbered_inputs(layout.source, 2, 3_000)))
        time.sleep(25)
        self.assertLess(self.progress(layout), 510, "a record every ten seconds")
        self.assertEqual("ready", face.readiness())
        bridge.wait_event("breaker_closed", timeout_s=240)
        self.tell("closed")
        self.wait_done(layout, bridge)
        wait_until("the metric shows it", lambda: face.metrics()["open_breakers", layout.source] == 0)
        bridge.stop()
        self.assertEqual(0, bridge.ledger()["stale"])
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def test_a_restart_with_the_fix_reads_on_at_once(self):
        """All of one variant is dead-lettered by a configuration that is then put right."""
        layout = self.layout(2)
        face = Face()
        routes = {**layout.routes, "external_event": "dead_letter"}
        bad = self.bridge(layout, "bad", source={"routes": routes}, http=face.section,
                          errors={"breaker": {}}).start()
        inputs = self.broker.produce([Input(layout.source, n % 2, b"k%d" % (n % 2), envelope(b"k%d" % (n % 2),
                                                                                              name=f"n{n}-"))
                                      for n in range(5_000)])
        event = bad.wait_event("breaker_opened")
        self.assertEqual("route_refused", event["reason"])
        bad.stop()
        dead = self.progress(layout)
        self.assertLess(dead, 5_000)
        good = self.bridge(layout, "good", errors={"breaker": {}}).start()
        self.wait_done(layout, good)
        good.stop()
        self.assertEqual((5_000 - dead, 0), (good.ledger()["routed"], good.ledger()["dead_lettered"]))
        self.assertEqual([], good.events("breaker_opened"))
        records = {record.header(SOURCE_HEADER) for record in self.broker.read(layout.outputs)}
        self.assertEqual(len(inputs), len(records))

    def test_ten_percent_of_poison_never_opens_it(self):
        layout = self.layout(2)
        bad = iter(poison(layout, 10_000, 2))
        inputs = [next(bad) if n % 10 == 7 else item
                  for n, item in enumerate(numbered_inputs(layout.source, 2, 40_000, size=50))]
        self.broker.produce(inputs)
        bridge = self.bridge(layout, errors={"breaker": {}}).start()
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assertEqual([], bridge.events("breaker_opened"))
        self.assert_clean(self.audit(inputs, layout), layout.outputs)


class Rebalances(Modes):
    def test_partitions_that_stay_are_not_read_again(self):
        """Cooperative: a lane keeps what it keeps. A record delivered again would show as stale."""
        layout = self.layout(6)
        load = Load(self.broker, numbered_inputs(layout.source, 6, ENDLESS), PER_SECOND)
        self.addCleanup(load.__exit__)
        load.__enter__()
        bridges = []
        for name in ("one", "two", "three"):
            bridges.append(self.host(layout, name).start())
            self.wait_members(layout, len(bridges))
            self.more(layout, *bridges)
        bridges[1].stop()
        self.wait_members(layout, 2)
        self.more(layout, bridges[0], bridges[2])
        inputs = load.finish(early=True)
        self.wait_done(layout, bridges[0], bridges[2])
        for bridge in (bridges[0], bridges[2]):
            bridge.stop()
        for bridge in bridges:
            self.assertEqual(0, bridge.ledger()["stale"], bridge.name)
        self.assert_clean(self.audit(inputs, layout), layout.outputs)


class Memory(Modes):
    """The resident memory of a lane, sampled while a flood meets a broker that stands still."""

    PER_LANE = 8 << 20
    # What is prefetched, what is on its way, a fetch response that pins both, and the allocator's slack.
    ROOM = 6 * PER_LANE

    def resident(self, bridge):
        text = Path(f"/proc/{bridge.process.pid}/status").read_text()
        return int(text.split("VmRSS:")[1].split()[0]) * 1024

    def flood(self, delivery):
        layout = self.layout(2)
        inputs = self.broker.produce(list(numbered_inputs(layout.source, 2, 150_000, size=1000)))
        self.tell("written")
        bridge = self.bridge(layout, memory={"per_lane": "8MiB"}, source={"max_value": "1MiB"},
                             delivery=delivery).start()
        bridge.wait_event("lane_started")
        base = self.resident(bridge)
        self.wait_progress(layout, 5_000, bridge)
        most = flooded = self.resident(bridge)
        pid = self.broker.state["nodes"][0]["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            for _ in range(150):
                most = max(most, self.resident(bridge))
                time.sleep(0.1)
        finally:
            os.kill(pid, signal.SIGCONT)
        stalled = most

        def look():
            nonlocal most
            most = max(most, self.resident(bridge))
            bridge.check_alive()
        self.broker.wait_done(layout.group, layout.source, 120, look)
        bridge.stop()
        self.tell(f"MiB: {base >> 20} at the start, {flooded >> 20} under flood, {stalled >> 20} while the broker "
                  f"stood still, {most >> 20} at most")
        self.assertLess(most - base, self.ROOM)
        self.assertEqual(bridge.ledger()["balanced"], True)
        return layout, inputs

    def test_flood_and_a_standing_broker_exactly_once(self):
        layout, inputs = self.flood({"transaction_timeout": "60s"})
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def test_flood_and_a_standing_broker_at_least_once(self):
        layout, inputs = self.flood(PLAIN)
        self.assert_none_missing(inputs, layout)


if __name__ == "__main__":
    unittest.main()
