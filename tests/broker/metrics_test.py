#!/usr/bin/env python3
"""What the bridge says over HTTP while it relays on a real Kafka: readiness, metrics, and clients that pester it."""

import json
import socket
import sys
import threading
import time
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from broker import Input, wait_until  # noqa: E402
from face import Face  # noqa: E402
from relay_case import RelayCase, numbered_inputs  # noqa: E402

class Pest:
    """Threads that ask for everything over and over, while idle connections pile up. Use with `with`."""

    def __init__(self, face):
        self.face, self.ended, self.answers, self.failures = face, threading.Event(), 0, []
        self.threads = [threading.Thread(target=run, daemon=True) for run in (self._ask, self._wait)]

    def _ask(self):
        while not self.ended.is_set():
            for path in ("/metrics", "/status", "/", "/livez"):
                try:
                    status, _ = self.face.get(path)
                    self.answers += status == 200
                except OSError as error:
                    self.failures.append(f"{path}: {error}")

    def _wait(self):
        idle = []
        while not self.ended.is_set():
            idle.append(socket.create_connection(("127.0.0.1", self.face.port)))
            if len(idle) > 500:
                idle.pop(0).close()
            time.sleep(0.002)
        for client in idle:
            client.close()

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join(30)


class Metrics(RelayCase):
    def test_counters_are_what_happened_and_the_relay_is_not_held_up(self):
        layout, face = self.layout(), Face()
        good = list(numbered_inputs(layout.source, 4, 20000, size=200))
        bad = [Input(layout.source, n % 4, b"k", value, (), int(time.time() * 1000))
               for n, value in enumerate([None, b"\xff", b"", b"\x0a\x01k", b"\x0a\x05k"] * 4)]
        inputs = good + bad
        bridge = self.bridge(layout, http=face.section, lanes=2).start()
        face.wait_code("ready")
        with Pest(face) as pest:
            self.broker.produce(inputs)
            self.wait_done(layout, bridge)
        self.assertGreater(pest.answers, 20)
        self.assertEqual(pest.failures, [])
        wait_until("every outcome is counted",
                   lambda: face.metrics()["consumed_records_total", ""] == len(inputs))
        wait_until("the sources are shown as done",
                   lambda: face.metrics()["lag_records", layout.source] == 0)
        metrics = face.metrics()
        for name, label, number in (
                ("records_total", "routed", len(good)), ("records_total", "dead_lettered", len(bad)),
                ("records_total", "dropped", 0), ("dead_lettered_records_total", "tombstone", 4),
                ("routed_records_total", "approval", len(good) // 4),
                ("assigned_partitions", layout.source, 4), ("stuck_partitions", layout.source, 0),
                ("oldest_unfinished_seconds", layout.source, 0), ("lanes", "running", 2),
                ("record_age_seconds_count", "", len(inputs)), ("ready", "", 1),
                ("transaction_duration_seconds_count", "", metrics["transactions_total", "committed"])):
            self.assertEqual(metrics[name, label], number, (name, label))
        self.assertEqual(sum(number for (name, _), number in metrics.items()
                             if name == "dead_lettered_records_total"), len(bad))
        self.assertLess(abs(metrics["last_dead_letter_timestamp_seconds", ""] - time.time()), 120)
        source = json.loads(face.get("/status")[1])["sources"][0]
        self.assertEqual({part["partition"]: part["consumed"] for part in source["partitions"]},
                         Counter(one.partition for one in inputs))
        for part in source["partitions"]:
            self.assertTrue(part["balanced"], part)
            self.assertEqual(part["dead_lettered"],
                             sum(one.partition == part["partition"] for one in bad))
        self.assertGreaterEqual(metrics["rebalances_total", "assigned"], 2)
        bridge.stop()
        ledger = bridge.ledger()
        self.assertEqual(ledger["consumed"], metrics["consumed_records_total", ""])
        for (name, reason), number in metrics.items():
            if name == "dead_lettered_records_total":
                self.assertEqual(ledger.get(f"dead_lettered_{reason}", 0), number, reason)
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def test_member_without_a_partition_is_ready(self):
        layout = self.layout(partitions=1)
        faces = [Face(), Face()]
        for number, face in enumerate(faces):
            self.bridge(layout, f"bridge-{number}", http=face.section).start()
        for face in faces:
            face.wait_code("ready")
        wait_until("one holds the partition and the other none", lambda: sorted(
            face.metrics()["assigned_partitions", layout.source] for face in faces) == [0, 1])
        self.assertEqual([face.readiness() for face in faces], ["ready", "ready"])

    def test_topic_that_is_not_there_yet_is_the_reason(self):
        layout, face = self.layout(), Face()
        missing = layout.routes["approval"] = f"{self.prefix}.not-there"
        bridge = self.bridge(layout, http=face.section, topics={"missing": "wait"}).start()
        face.wait_code("waiting_topics")
        self.assertEqual(face.get("/livez")[0], 200)
        self.make(layout, missing, 1)
        face.wait_code("ready")
        bridge.stop()


if __name__ == "__main__":
    unittest.main(verbosity=2)
