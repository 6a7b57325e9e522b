#!/usr/bin/env python3
"""agent-bridge verify on a real Kafka: what is right is found right, and each planted fault is found, named
and alone.

A fault is planted in a copy of one output topic: the bridge's own records, written again by the test with one
of them left out, doubled, changed or moved. The config that verify gets names the copy in the topic's place.
"""

import json
import random
import subprocess
import sys
import time
import unittest
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from bridge import config, program  # noqa: E402
from broker import Input, Load, wait_until  # noqa: E402
from oracle import java_partition  # noqa: E402
from relay_case import RelayCase, envelope, numbered_inputs  # noqa: E402

HOUR_MS = 3_600_000


@dataclass
class Found:
    code: int
    faults: list
    summary: dict
    text: str

    def short(self):
        """Each fault as (kind, source record), in a fixed order."""
        return sorted((fault["fault"], fault["source"]) for fault in self.faults)


class VerifyCase(RelayCase):
    def verify(self, layout, *words, swap=None, **sections):
        """Runs verify with the layout's config; swap puts other topics in the place of some."""
        swap = swap or {}
        source = {"topic": layout.source,
                  "routes": {name: swap.get(topic, topic) for name, topic in layout.routes.items()},
                  **sections.pop("source", {})}
        errors = {"topic": swap.get(layout.errors, layout.errors),
                  "quarantine": swap.get(layout.quarantine, layout.quarantine), **sections.pop("errors", {})}
        settings = config(self.broker, layout.group, [source], errors=errors, **sections)
        file = self.folder / "verify.yaml"
        file.write_text(json.dumps(settings))
        done = subprocess.run([program(), "verify", "-c", str(file), "--json", *words], capture_output=True,
                              text=True, timeout=120, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode not in (0, 1):
            return Found(done.returncode, [], {}, done.stderr)
        self.assertEqual("", done.stderr)
        summary = lines.pop()["summary"]
        self.assertEqual(done.returncode, summary["exit_code"])
        self.assertTrue(summary["balanced"], summary)
        return Found(done.returncode, lines, summary, "")

    def assert_right(self, found, **counts):
        self.assertEqual(([], 0), (found.short(), found.code), found.text or found.faults[:5])
        self.assertEqual(counts, {name: found.summary[name] for name in counts})

    def relay(self, layout, inputs, **sections):
        """Relays the inputs and stops; returns the ledger."""
        self.broker.produce(inputs)
        bridge = self.bridge(layout, **sections).start()
        self.wait_done(layout, bridge)
        bridge.stop()
        for topic in layout.outputs:  # the test reads them, too
            wait_until(f"no transaction is open on {topic}",
                       lambda topic=topic: self.broker.ends(topic) == self.broker.ends(topic, "read_uncommitted"))
        return bridge.ledger()

    def mixed(self, layout, count=300, keys=17):
        """Records of all variants, and among them some of every kind that is not routed."""
        for number, item in enumerate(numbered_inputs(layout.source, 4, count, keys, size=60)):
            if number % 10 == 3:
                bad = (b"\xff\xff", None, b"", b"\x00\x00\x00\x00\x01\x0a\x01k")[number // 10 % 4]
                yield replace(item, value=bad)
            elif number % 10 == 7:
                yield replace(item, key=(b"other", None)[number // 10 % 2])
            else:
                yield item


class Faults(VerifyCase):
    """One relay run for all; each test plants in a copy of one topic."""

    def setUp(self):
        super().setUp()
        self.run_once = self.layout()
        self.inputs = list(self.mixed(self.run_once))
        self.relay(self.run_once, self.inputs)
        self._read = {}

    def records(self, topic):
        """A list of its own each time."""
        if topic not in self._read:
            self._read[topic] = sorted(self.broker.read([topic]), key=lambda record: (record.partition, record.offset))
        return list(self._read[topic])

    def plant(self, topic, change):
        """Copies a topic, its records changed as a list, and verifies with the copy in its place."""
        layout = self.run_once
        copy = f"{topic}.copy{len(self._made)}"
        self.make(layout, copy, layout.counts[topic])
        inputs = [Input(copy, r.partition, r.key, r.value, r.headers, r.timestamp_ms)
                  for r in change(self.records(topic))]
        self.broker.produce(inputs)
        return self.verify(layout, swap={topic: copy})

    @staticmethod
    def source_of(record):
        return record.header("__agent_bridge.source").decode().rpartition(":")[0]

    def expect(self, topic, change, *wanted, parts=None):
        """wanted: (kind, index of the record in the topic before the change)."""
        records = self.records(topic)
        found = self.plant(topic, change)
        self.assertEqual(sorted((kind, self.source_of(records[index])) for kind, index in wanted),
                         found.short(), found.faults[:5])
        self.assertEqual(1 if wanted else 0, found.code)
        if parts is not None:
            self.assertEqual([parts], [fault["parts"] for fault in found.faults])

    def edit(self, topic, index, parts, **changes):
        """Changes members of one record; values may be functions of the old one."""
        def change(records):
            new = {name: value(getattr(records[index], name)) if callable(value) else value
                   for name, value in changes.items()}
            records[index] = records[index]._replace(**new)
            return records
        with self.subTest(f"{topic.rpartition('.')[2]} {parts} {changes.keys()}"):
            self.expect(topic, change, ("altered", index), parts=parts)

    def test_faults_nothing_is_wrong_with_what_the_bridge_wrote(self):
        layout = self.run_once
        found = self.verify(layout)
        self.assert_right(found, records=300, expired=0, foreign=0, without_source=0, not_yet=0, source_gone=0)
        summary = found.summary
        self.assertEqual(300, summary["routed"] + summary["dead_lettered"] + summary["dropped"])
        self.assertGreater(summary["dead_lettered"], 30)
        self.assertEqual(self.broker.committed(layout.group, layout.source),
                         {part["partition"]: part["committed"] for part in summary["partitions"]})
        topic = layout.routes["external_event"]
        self.expect(topic, lambda records: records)
        self.expect(layout.errors, lambda records: records)
        self.expect(layout.quarantine, lambda records: records)

    def test_faults_a_record_removed(self):
        layout = self.run_once
        for topic in (layout.routes["tool_result"], layout.errors, layout.quarantine):
            with self.subTest(topic):
                self.expect(topic, lambda records: records[:5] + records[6:], ("missing", 5))

    def test_faults_a_record_doubled(self):
        layout = self.run_once
        for topic in (layout.routes["tool_result"], layout.errors, layout.quarantine):
            with self.subTest(topic):
                self.expect(topic, lambda records: records + [records[4]], ("duplicate", 4))

    def test_faults_duplicates_that_are_allowed_are_counted(self):
        layout = self.run_once
        topic = layout.routes["tool_result"]
        twice = self.plant(topic, lambda records: records + records)
        self.assertEqual({"duplicate"}, {fault["fault"] for fault in twice.faults})
        copy = self._made[-1]
        self.assert_right(self.verify(layout, swap={topic: copy}, delivery={"guarantee": "at_least_once"}),
                          allowed_duplicates=len(self.records(topic)))

    def test_faults_a_record_altered(self):
        layout = self.run_once
        event, errors, quarantine = layout.routes["external_event"], layout.errors, layout.quarantine

        def flip(data):
            return data[:-1] + bytes([data[-1] ^ 1])

        self.edit(event, 3, ["value"], value=flip)
        self.edit(event, 8, ["key"], key=flip)
        self.edit(event, 9, ["timestamp"], timestamp_ms=lambda ms: ms + 1)
        self.edit(event, 2, ["headers"], headers=lambda all_: ((all_[0][0], flip(all_[0][1])), *all_[1:]))
        self.edit(event, 4, ["headers"], headers=lambda all_: (("more", b""), *all_))
        self.edit(event, 5, ["headers"], headers=lambda all_: all_[1:])
        self.edit(event, 6, ["headers"], headers=lambda all_: (all_[1], all_[0]))
        self.edit(errors, 1, ["value"], value=flip)
        self.edit(errors, 1, ["headers"], headers=lambda all_: tuple(h for h in all_ if h[0] != "__dlq.errors.message"))
        records = self.records(quarantine)
        index = next(i for i, record in enumerate(records) if record.value)
        self.edit(quarantine, index, ["value"], value=flip)
        index = next(i for i, record in enumerate(records) if record.value is None)
        self.edit(quarantine, index, ["value"], value=b"")
        index = next(i for i, record in enumerate(records) if record.key is not None)
        self.edit(quarantine, index, ["headers"], headers=lambda all_: (*all_[:-1], ("__agent_bridge.copy", b"w")))

    def test_faults_a_record_in_another_partition(self):
        topic = self.run_once.routes["external_event"]
        count = self.run_once.counts[topic]

        def change(records):
            moved = records[7]
            return records[:7] + records[8:] + [moved._replace(partition=(moved.partition + 1) % count)]
        self.expect(topic, change, ("altered", 7), parts=["partition"])

    def test_faults_a_record_behind_a_later_one_of_its_key(self):
        for topic in (self.run_once.routes["external_event"], self.run_once.quarantine):
            records = self.records(topic)
            first = next(i for i, r in enumerate(records) if r.key and any(
                (s.key, s.partition) == (r.key, r.partition)
                and self.source_of(s).rpartition(":")[0] == self.source_of(r).rpartition(":")[0]
                for s in records[i + 1:]))
            second = next(i for i in range(first + 1, len(records)) if (records[i].key, records[i].partition)
                          == (records[first].key, records[first].partition)
                          and self.source_of(records[i]).rpartition(":")[0]
                          == self.source_of(records[first]).rpartition(":")[0])

            def change(all_, first=first, second=second):
                return all_[:first] + all_[first + 1:second + 1] + [all_[first]] + all_[second + 1:]
            with self.subTest(topic):
                self.expect(topic, change, ("reordered", first))

    def test_faults_keys_may_pass_one_another(self):
        topic = self.run_once.routes["external_event"]
        records = self.records(topic)
        first = next(i for i in range(len(records) - 1) if records[i].partition == records[i + 1].partition
                     and records[i].key != records[i + 1].key)

        def change(all_):
            all_[first], all_[first + 1] = all_[first + 1], all_[first]
            return all_
        self.expect(topic, change)

    def test_faults_a_record_in_a_topic_that_is_not_its_own(self):
        layout = self.run_once
        event, result = layout.routes["external_event"], layout.routes["tool_result"]
        stranger = self.records(event)[3]._replace(partition=0)
        found = self.plant(result, lambda records: records + [stranger])
        self.assertEqual([("unexpected", self.source_of(stranger))], found.short())

    def test_faults_a_source_that_never_was(self):
        layout = self.run_once
        topic = layout.routes["approval"]
        for source, wanted in ((f"{layout.source}:9:0:1", 1), (f"{layout.source}:0:999999:1", 0),
                               ("elsewhere:0:0:1", 0)):
            def change(records, source=source):
                forged = records[0]._replace(headers=(("__agent_bridge.source", source.encode()),))
                return [*records, forged]
            with self.subTest(source):
                self.assertEqual(wanted, len(self.plant(topic, change).faults))

    def test_faults_records_of_others_are_counted_and_no_fault(self):
        layout = self.run_once

        def other_group(records):
            mine = records[2]
            headers = tuple((name, b"another" if name == "__dlq.errors.group" else value)
                            for name, value in mine.headers)
            return [*records, mine._replace(headers=headers), mine._replace(headers=())]
        for topic in (layout.errors, layout.quarantine):
            found = self.plant(topic, other_group)
            self.assert_right(found, foreign=2)
        found = self.plant(layout.routes["approval"], lambda records: [*records, records[0]._replace(
            headers=(("x", b"y"),), value=b"else")])
        self.assert_right(found, foreign=1)

    def test_faults_a_record_without_its_source_header_is_found_by_content(self):
        topic = self.run_once.routes["external_event"]

        def bare(records):
            return [record._replace(headers=record.headers[:-1]) if index in (3, 6) else record
                    for index, record in enumerate(records)]
        self.assert_right(self.plant(topic, bare), without_source=2, foreign=0)
        records = self.records(topic)

        def bare_and_changed(all_):
            all_ = bare(all_)
            all_[3] = all_[3]._replace(value=all_[3].value + b"\x00")
            return all_
        found = self.plant(topic, bare_and_changed)
        self.assertEqual([("missing", self.source_of(records[3]))], found.short())
        self.assertEqual((1, 1), (found.summary["without_source"], found.summary["foreign"]))

    def test_faults_another_configuration_is_seen_in_the_hash(self):
        layout = self.run_once
        same, other = self.verify(layout), self.verify(layout, source={"on_tombstone": "drop"})
        again = self.verify(layout, memory={"per_lane": "65MiB"}, kafka={"client.id": "x"})
        self.assertEqual(same.summary["config_sha256"], again.summary["config_sha256"])
        self.assertNotEqual(same.summary["config_sha256"], other.summary["config_sha256"])
        self.assertEqual({"unexpected"}, {fault["fault"] for fault in other.faults})

    def test_faults_are_found_in_topics_larger_than_memory(self):
        layout = self.layout_of("large")
        self.relay(layout, list(numbered_inputs(layout.source, 4, 30_000, 97, size=10)))
        found = self.verify(layout, memory={"per_lane": "1MiB"}, source={"max_value": "1MiB"})
        self.assert_right(found, records=30_000, routed=30_000)
        self.assertGreater(found.summary["temporary_bytes"], 1_000_000)

    def layout_of(self, name):
        """One more layout in the same test."""
        self.prefix = f"{self.prefix}-{name}"
        return self.layout()


class Life(VerifyCase):
    """What a running system does to a verify."""

    def test_life_what_is_not_committed_is_not_expected(self):
        layout = self.layout()
        self.assert_right(self.verify(layout), records=0)
        self.broker.produce(list(self.mixed(layout, 40)))
        self.assert_right(self.verify(layout), records=0)
        self.relay(layout, list(self.mixed(layout, 100)))
        self.broker.produce(list(self.mixed(layout, 60)))
        found = self.verify(layout)
        self.assert_right(found, records=140)
        self.assertEqual(60, sum(part["end"] - part["committed"] for part in found.summary["partitions"]))

    def test_life_beside_a_bridge_at_work(self):
        layout = self.layout()
        bridge = self.bridge(layout).start()
        self.wait_members(layout, 1)
        with Load(self.broker, numbered_inputs(layout.source, 4, 1_000_000, size=100), per_second=3000) as load:
            seen = 0
            for _ in range(5):
                self.wait_progress(layout, seen + 1000, bridge)
                found = self.verify(layout)
                self.assert_right(found)
                self.assertGreater(found.summary["records"], seen)
                seen = found.summary["records"]
            load.finish(early=True)
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assert_right(self.verify(layout))

    def test_life_what_retention_removed_is_told_apart(self):
        layout = self.layout()
        inputs = list(self.mixed(layout, 400))
        self.relay(layout, inputs)
        topic = layout.routes["external_event"]
        for partition in range(layout.counts[topic]):
            self.broker.delete_before(topic, partition, 5)
        found = self.verify(layout)
        self.assert_right(found, records=400)
        self.assertGreater(found.summary["expired"], 0)
        self.broker.delete_before(layout.source, 0, 30)
        found = self.verify(layout)
        self.assert_right(found)
        self.assertGreater(found.summary["source_gone"], 0)
        self.assertEqual([30, 0, 0, 0], [part["first"] for part in found.summary["partitions"]])
        for partition in range(4):
            self.broker.delete_before(layout.source, partition, -1)
        self.assert_right(self.verify(layout), records=0)

    def test_life_since_leaves_older_records_out(self):
        layout = self.layout()
        now = int(time.time() * 1000)
        old = [replace(item, timestamp_ms=now - 5 * HOUR_MS) for item in self.mixed(layout, 100)]
        self.relay(layout, old)
        young = [replace(item, timestamp_ms=now - HOUR_MS // 2) for item in self.mixed(layout, 60)]
        self.relay(layout, young)
        self.assert_right(self.verify(layout), records=160)
        self.assert_right(self.verify(layout, "--since", "1h"), records=60)
        self.assert_right(self.verify(layout, "--since", "1m"), records=0)
        self.assert_right(self.verify(layout, "--since", "2020-01-01T00:00:00Z"), records=160)

    def test_life_the_size_ladder_is_lawful(self):
        layout = self.layout(1, {"max.message.bytes": 20_000, "message.timestamp.before.max.ms": HOUR_MS})
        self.broker.configure(layout.quarantine, **{"max.message.bytes": 20_000})
        now = int(time.time() * 1000)
        noise = random.Random(3)

        def event(number, size, age_ms=0):
            key = b"k%d" % (number % 3)
            value = envelope(key, size=size, name=f"n{number}-{noise.random()}")
            return Input(layout.source, 0, key, value, (("h", b"v"),), now - age_ms)
        inputs = [event(n, 100) for n in range(50)]
        inputs += [event(n, 30_000) for n in range(3)]
        inputs += [event(n, 100, 2 * HOUR_MS) for n in range(3)]
        inputs += [event(n, 20_000 - spare) for n, spare in enumerate(range(100, 400, 6))]
        inputs += [event(n, 100) for n in range(50)]
        ledger = self.relay(layout, inputs)
        self.assertGreater(ledger["without_source"], 0)
        self.assertGreaterEqual(ledger["dead_lettered"], 6)
        found = self.verify(layout)
        self.assert_right(found, records=len(inputs), without_source=ledger["without_source"],
                          rejected=ledger["dead_lettered"], dead_lettered=ledger["dead_lettered"])
        self.assertGreater(found.summary["pointers"] + found.summary["heads"], 2)

    def test_life_policies_that_leave_no_record(self):
        layout = self.layout(external_event="drop", approval="dead_letter")
        policy = {"on_tombstone": "drop"}
        inputs = list(self.mixed(layout, 200))
        ledger = self.relay(layout, inputs, source=policy, errors={"quarantine": "off"})
        found = self.verify(layout, source=policy, errors={"quarantine": "off"})
        self.assert_right(found, dropped=ledger["dropped"], routed=ledger["routed"],
                          dead_lettered=ledger["dead_lettered"])
        self.assertGreater(ledger["dropped"], 0)

    def test_life_without_source_headers_contents_are_held_against_each_other(self):
        layout = self.layout()
        delivery = {"source_header": False}
        inputs = list(self.mixed(layout, 200))
        ledger = self.relay(layout, inputs, delivery=delivery)
        found = self.verify(layout, delivery=delivery)
        self.assert_right(found, records=200, without_source=ledger["routed"], foreign=0)

    def test_life_redriven_records_are_records_of_their_own(self):
        layout = self.layout()
        inputs = list(self.mixed(layout, 100))
        good = next(item for item in inputs if item.value and item.key and item.key.startswith(b"entity"))
        hops = (("__agent_bridge.hops", b"1"),)
        inputs += [replace(good, headers=(*good.headers, *hops)), replace(good, headers=(
            *good.headers, ("__agent_bridge.hops", b"9")))]
        self.relay(layout, inputs)
        topic = layout.routes["external_event"]
        partition = java_partition(good.key, layout.counts[topic])
        kept, other = list(self.broker.read([layout.quarantine]))[:2]

        def mark(key, where):
            return Input(layout.quarantine, kept.partition, key, None,
                         (("__agent_bridge.redriven", f"{where}:job".encode()),))
        self.broker.produce([
            Input(topic, partition, good.key, good.value, (*good.headers, *hops)),
            mark(None, kept.where),
            # What a redrive does not write marks nothing: with a key, of what lies behind it, of another topic.
            mark(good.key, other.where), mark(None, f"{layout.quarantine}:{kept.partition}:999999"),
            mark(None, "elsewhere:0:1")])
        self.assert_right(self.verify(layout), records=102, redriven=2, redriven_direct=1, markers=1, settled=1,
                          foreign=3)

    def test_life_letters_that_were_redriven_since_are_settled(self):
        """Approvals were refused, the route was added, and a redrive sent them straight to it: what a later
        verify sees under the new configuration."""
        layout = self.layout()
        inputs = list(self.mixed(layout, 200))
        refusing = {"routes": {**layout.routes, "approval": "dead_letter"}}
        self.relay(layout, inputs, source=refusing)
        kept = [record for record in self.broker.read([layout.quarantine])
                if record.header("__agent_bridge.reason") == b"route_refused"]
        self.assertGreater(len(kept), 20)
        topic, written = layout.routes["approval"], []
        for record in reversed(kept):  # in any order
            own = record.headers[:next(i for i, h in enumerate(record.headers) if h[0] == "__dlq.errors.topic")]
            source = ("__agent_bridge.source", record.header("__agent_bridge.source"))
            written.append(Input(topic, java_partition(record.key, layout.counts[topic]), record.key, record.value,
                                 (*own, ("__agent_bridge.hops", b"1"), source),
                                 int(record.header("__agent_bridge.source_timestamp"))))
            written.append(Input(layout.quarantine, record.partition, None, None, (
                ("__agent_bridge.redriven", f"{record.where}:job-1".encode()),)))
        self.broker.produce(written)
        # Without the route its topic is none of the outputs.
        self.assert_right(self.verify(layout, source=refusing), records=200, settled=len(kept), markers=len(kept),
                          redriven_direct=0)
        found = self.verify(layout)
        self.assert_right(found, records=200, settled=len(kept), redriven_direct=len(kept))
        self.broker.produce([replace(written[0], value=written[0].value + b"\x00")])
        found = self.verify(layout)
        self.assertEqual([("altered", ["value"])], [(fault["fault"], fault["parts"]) for fault in found.faults])

    def test_life_start_latest_expects_nothing_from_before(self):
        layout = self.layout()
        self.broker.produce(list(self.mixed(layout, 80)))
        bridge = self.bridge(layout, source={"start": "latest"}).start()
        bridge.wait_event("partitions_assigned", lambda event: event.get("partitions") == 4)
        self.wait_done(layout, bridge)
        self.broker.produce(list(self.mixed(layout, 120)))
        self.wait_done(layout, bridge)
        bridge.stop()
        found = self.verify(layout, source={"start": "latest"})
        self.assert_right(found, source_gone=0)
        self.assertLessEqual(found.summary["records"], 120)
        self.assertGreater(found.summary["records"], 100)

    def test_life_a_topic_that_is_missing_is_named(self):
        layout = self.layout()
        found = self.verify(layout, swap={layout.errors: "nowhere.errors"})
        self.assertEqual(69, found.code)
        self.assertIn("nowhere.errors", found.text)

    def test_life_people_get_words(self):
        layout = self.layout()
        self.relay(layout, list(self.mixed(layout, 60)))
        done = subprocess.run([program(), "verify", "-c", str(self.folder / "bridge.yaml")], text=True,
                              capture_output=True, check=False, timeout=60)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertTrue(done.stdout.endswith(
            "60 records, 0 missing, 0 duplicate, 0 altered, 0 reordered, 0 unexpected, 0 expired\n"), done.stdout)


if __name__ == "__main__":
    unittest.main()
