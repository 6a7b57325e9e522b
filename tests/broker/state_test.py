#!/usr/bin/env python3
"""Export requests answered from published state, on a real Kafka.

AW_STATE_RECORDS, AW_STATE_KEYS and AW_STATE_REQUESTS make the long test longer; docs/proof.md says how.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
import unittest
import uuid
from dataclasses import dataclass
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))

import snapshots  # noqa: E402
from broker import Input, wait_until  # noqa: E402
from confluent_kafka import Producer  # noqa: E402
from oracle import java_partition  # noqa: E402
from relay_case import ENVELOPE, REFERENCE, RelayCase, envelope  # noqa: E402
from state_model import STATE_AT, STATE_OFFSET, STATE_REFUSED, StateModel  # noqa: E402

SNAPSHOT = REFERENCE.classes["StateSnapshot"]
PARTITIONS = 3
RECORDS = int(os.environ.get("AW_STATE_RECORDS", "6000"))
KEYS = int(os.environ.get("AW_STATE_KEYS", "600"))
REQUESTS = int(os.environ.get("AW_STATE_REQUESTS", "600"))


@dataclass
class Request:
    """An export request that was written, and what its writer knew."""

    topic: str
    partition: int
    key: bytes
    request_id: str
    time_ms: int
    end: int  # of the state partition: everything below had been written
    offset: int = None
    timestamp_ms: int = None


class StateCase(RelayCase):
    def state_layout(self, partitions=PARTITIONS, state_partitions=None):
        layout = self.layout(partitions, export_request="answer")
        self.state, self.snapshots = f"{self.prefix}.state", f"{self.prefix}.snapshots"
        self.make(layout, self.state, state_partitions or partitions, **{"cleanup.policy": "compact"})
        self.make(layout, self.snapshots, 4)
        return layout

    def answering(self, layout, name="bridge", snapshots_config=None, **sections):
        self.store = self.folder / f"{name}-state"
        return self.bridge(layout, name, state={"dir": str(self.store), "snapshots_from": [self.state]},
                           snapshots={"topic": self.snapshots, **(snapshots_config or {})}, **sections)

    def publish(self, key, value, partition=0, topic=None):
        """Writes one state record; it is visible when this returns. Returns its offset."""
        item = Input(topic or self.state, partition, key, value)
        self.broker.produce([item])
        return item.offset

    def ask(self, layout, key, request_id=None, partition=0, time_ms=1700000000123):
        """Writes one request and returns it."""
        request = Request(layout.source, partition, key, request_id or uuid.uuid4().hex, time_ms, 0)
        item = Input(layout.source, partition, key, request_value(request), timestamp_ms=5)
        self.broker.produce([item])
        request.offset, request.timestamp_ms = item.offset, 5
        return request

    def answers(self, request):
        return [record for record in self.broker.read([self.snapshots])
                if REFERENCE.parse("StateSnapshot", record.value).request_id == request.request_id]

    def answer(self, request, timeout_s=30):
        """The one answer to a request."""
        found = wait_until(f"an answer to {request.request_id}", lambda: self.answers(request), timeout_s)
        self.assertEqual(1, len(found))
        return found[0]

    def letter(self, layout, timeout_s=30):
        """(reason, record) of the one dead letter."""
        found = wait_until("a dead letter", lambda: list(self.broker.read([layout.errors])), timeout_s)
        self.assertEqual(1, len(found))
        return text(found[0], "__agent_bridge.reason"), found[0]


def text(record, name):
    """A header's value as text, None without it."""
    value = record.header(name)
    return None if value is None else value.decode()


def request_value(request):
    return ENVELOPE(entity_key=request.key, event_time_ms=request.time_ms,
                    export_request={"request_id": request.request_id}).SerializeToString()


class Publishing:
    """state_publisher.py at work; ends is what it said last."""

    def __init__(self, broker, topic, records, keys, seed, per_second):
        words = [broker.bootstrap, topic, PARTITIONS, keys, records, seed, per_second]
        self.process = subprocess.Popen([sys.executable, str(SUPPORT / "state_publisher.py"), *map(str, words)],
                                        stdout=subprocess.PIPE, text=True)
        self.ends, self.written = {}, 0
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self):
        for line in self.process.stdout:
            said = json.loads(line)
            self.ends = {int(p): end for p, end in said["ends"].items()}
            self.written = said["written"]

    @property
    def running(self):
        return self._thread.is_alive()

    def finish(self):
        self._thread.join(600)
        if self.process.wait(30) != 0:
            raise AssertionError(f"the publisher ended with {self.process.returncode}")

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Asking:
    """Writes requests for random keys from a thread, each with what the publisher had said before."""

    def __init__(self, broker, source, keys, count, publishing, seed):
        self.written, self.error = [], None
        self._arguments = (broker, source, keys, count, publishing, random.Random(seed))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            self._write(*self._arguments)
        except BaseException as error:
            self.error = error

    def _write(self, broker, source, keys, count, publishing, rng):
        producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True, "linger.ms": 0})
        while len(self.written) < count or publishing.running:
            chosen = rng.randrange(keys + keys // 50)  # some were never published
            ends = publishing.ends
            request = Request(source, chosen % PARTITIONS, b"entity-%06d" % chosen, f"r{len(self.written)}",
                              rng.choice((0, 1, 1700000000000, -5)), ends.get(chosen % PARTITIONS, 0))

            def delivered(error, message, request=request):
                if error:
                    self.error = error
                request.offset, request.timestamp_ms = message.offset(), message.timestamp()[1]

            producer.produce(source, request_value(request), request.key, request.partition, on_delivery=delivered)
            self.written.append(request)
            producer.poll(0)
            if len(self.written) % 20 == 0:
                # Something else to relay on the way.
                producer.produce(source, envelope(request.key, name=f"e{len(self.written)}"), request.key,
                                 request.partition)
                time.sleep(0.02)
        producer.flush(60)

    def finish(self):
        self._thread.join(600)
        if self.error is not None or self._thread.is_alive():
            raise AssertionError(f"writing requests failed: {self.error}")
        return self.written


class Answers(StateCase):
    def test_every_answer_is_the_models_through_kills_rebalances_and_a_lost_store(self):
        layout = self.state_layout()
        per_second = max(300, RECORDS // 20)
        publishing = Publishing(self.broker, self.state, RECORDS, KEYS, 7, per_second)
        self.addCleanup(publishing.close)
        asking = Asking(self.broker, layout.source, KEYS, REQUESTS, publishing, 8)
        first = self.answering(layout, "first").start()
        for number in range(3):
            wait_until("the publisher is on", lambda: publishing.written >= RECORDS * (number + 1) // 6, 300)
            first.kill9()
            if number == 1:
                shutil.rmtree(self.folder / "first-state")
            first.start()
        self.tell("three kills and a lost store")
        second = self.answering(layout, "second").start()
        self.wait_members(layout, 2)
        wait_until("the publisher is on", lambda: publishing.written >= RECORDS * 4 // 6, 300)
        second.stop()
        publishing.finish()
        requests = asking.finish()
        self.tell(f"{len(requests)} requests are written")
        self.wait_done(layout, first)
        first.stop()
        self.check(layout, requests)
        self.check_stores(layout)

    def check(self, layout, requests):
        model = StateModel(self.state, self.broker.read([self.state]), REFERENCE)
        by_id = {}
        for record in self.broker.read([self.snapshots]):
            by_id.setdefault(REFERENCE.parse("StateSnapshot", record.value).request_id, []).append(record)
        problems = [line for request in requests for line in model.problems(request, by_id.pop(request.request_id, []))]
        self.assertEqual([], problems[:10], f"{len(problems)} problems")
        self.assertEqual({}, by_id)
        self.assertEqual([], list(self.broker.read([layout.errors])))
        with_state = sum(model.final(r.partition, r.key)[0] is not None for r in requests)
        self.assertGreater(with_state, len(requests) // 3)
        self.tell(f"{len(requests)} answers are the model's")

    def check_stores(self, layout):
        """The store that went through all of it equals one rebuilt from scratch."""
        contents = []
        for name in ("first", "fresh"):
            bridge = self.answering(layout, name).start()
            done = self.ask(layout, b"entity-000000")
            self.answer(done)
            for partition in range(1, PARTITIONS):
                self.answer(self.ask(layout, b"entity-%06d" % partition, partition=partition))
            bridge.stop()
            contents.append(store_content(self.folder / f"{name}-state"))
        self.assertEqual(contents[0], contents[1])
        self.assertEqual(PARTITIONS, len(contents[0][0]))
        self.assertGreater(len(contents[0][1]), KEYS // 2)


def store_content(folder):
    """Every key of every store, with the hash of its state; and how many keys there are."""
    done = subprocess.run([os.environ["AGENT_BRIDGE"], "store", "list", "--keys", "--dir", str(folder), "--json"],
                          capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    keys = [line for line in lines if "key_hex" in line]
    stores = [(line["topic"], line["partition"], line["keys"], line["marked_keys"])
              for line in lines if "next_offset" in line]
    return stores, keys


class Promises(StateCase):
    def test_published_state_is_answered_with_its_very_bytes(self):
        layout = self.state_layout()
        published = bytes.fromhex("fa06036e6577") + SNAPSHOT(
            state_schema_version=9, entity_key=b"k", seq=7, snapshot_at_ms=11,
            pending=[{"intent_id": "i"}]).SerializeToString() + bytes.fromhex("3a00 2a0610011801 0801")
        offset = self.publish(b"k", published)
        bridge = self.answering(layout).start()
        request = self.ask(layout, b"k")
        answer = self.answer(request)
        value, _ = snapshots.expected(published, request.time_ms, request.request_id, REFERENCE)
        self.assertEqual(value, answer.value)
        self.assertEqual(b"k", answer.key)
        self.assertEqual(f"{self.state}:0:{offset}", text(answer, STATE_OFFSET))
        self.assertEqual("11", text(answer, STATE_AT))
        bridge.stop()
        self.assertEqual(1, bridge.ledger()["answered"])

    def test_same_state_and_request_give_the_same_bytes_on_another_machine(self):
        layout = self.state_layout()
        self.publish(b"k", SNAPSHOT(entity_key=b"k", seq=7, snapshot_at_ms=11).SerializeToString())
        first = self.answering(layout, "first").start()
        request = self.ask(layout, b"k")
        once = self.answer(request)
        first.stop()
        self.broker.set_committed(layout.group, layout.source, {request.partition: request.offset})
        second = self.answering(layout, "second", lanes=2).start()
        both = wait_until("the second answer", lambda: len(found := self.answers(request)) == 2 and found)
        self.assertEqual((once.key, once.value, once.headers), (both[1].key, both[1].value, both[1].headers))
        second.stop()

    def test_state_written_before_the_request_is_always_seen(self):
        layout = self.state_layout()
        bridge = self.answering(layout).start()
        producer = Producer({"bootstrap.servers": self.broker.bootstrap, "linger.ms": 0,
                             "transactional.id": self.prefix})
        producer.init_transactions(30)
        requests = []
        for number in range(1, 22):
            state = SNAPSHOT(entity_key=b"k", seq=number).SerializeToString()
            producer.begin_transaction()
            producer.produce(self.state, state, b"k", 0)
            if number % 3 == 0:
                producer.abort_transaction(30)
            else:
                producer.commit_transaction(30)
            requests.append((number - (number % 3 == 0), self.ask(layout, b"k")))
        self.answer(requests[-1][1])
        found = {REFERENCE.parse("StateSnapshot", record.value).request_id:
                 REFERENCE.parse("StateSnapshot", record.value).seq for record in self.broker.read([self.snapshots])}
        for number, request in requests:
            # A later state may have come in between, an earlier one never.
            seen = found[request.request_id]
            self.assertGreaterEqual(seen, number)
            self.assertNotEqual(0, seen % 3, "an aborted state was seen")
        bridge.stop()

    def test_at_least_once_answers_every_request_through_a_kill(self):
        layout = self.state_layout()
        bridge = self.answering(layout, delivery={"guarantee": "at_least_once"}).start()
        states, requests = {}, {}
        for number in range(1, 41):
            states[number] = SNAPSHOT(entity_key=b"k", seq=number).SerializeToString()
            self.publish(b"k", states[number])
            request = self.ask(layout, b"k")
            requests[request.request_id] = number, request
            if number == 20:
                self.answer(request)
                bridge.kill9()
                bridge.start()

        def all_answered():
            found = [(REFERENCE.parse("StateSnapshot", record.value), record)
                     for record in self.broker.read([self.snapshots])]
            return found if {message.request_id for message, _ in found} == requests.keys() else None

        for message, record in wait_until("every request is answered", all_answered):
            number, request = requests[message.request_id]
            # Each answer, also one written again, is of a state at least as new as its request.
            self.assertGreaterEqual(message.seq, number)
            wanted, _ = snapshots.expected(states[message.seq], request.time_ms, request.request_id, REFERENCE)
            self.assertEqual(wanted, record.value)
        bridge.stop()

    def test_tombstone_forgets_and_an_unknown_key_gets_an_answer_without_state(self):
        layout = self.state_layout()
        self.publish(b"k", SNAPSHOT(entity_key=b"k", seq=7).SerializeToString())
        self.publish(b"k", None)
        bridge = self.answering(layout).start()
        for key in (b"k", b"never"):
            request = self.ask(layout, key)
            answer = self.answer(request)
            self.assertEqual(snapshots.empty(key, request.time_ms, request.request_id, REFERENCE), answer.value)
            self.assertIsNone(answer.header(STATE_OFFSET))
        bridge.stop()

    def test_unknown_key_becomes_a_dead_letter_where_the_config_says_so(self):
        layout = self.state_layout()
        bridge = self.answering(layout, snapshots_config={"unknown_key": "dead_letter"}).start()
        self.ask(layout, b"never")
        self.assertEqual("state_unknown", self.letter(layout)[0])
        bridge.stop()

    def test_refused_state_record_keeps_the_state_and_is_named_in_the_answer(self):
        layout = self.state_layout()
        good = SNAPSHOT(entity_key=b"k", seq=7).SerializeToString()
        self.publish(b"k", good)
        bad = self.publish(b"k", b"\x12\x09short")
        bridge = self.answering(layout).start()
        request = self.ask(layout, b"k")
        answer = self.answer(request)
        self.assertEqual(snapshots.answer(good, request.time_ms, request.request_id), answer.value)
        self.assertEqual(f"undecodable:{self.state}:0:{bad}", text(answer, STATE_REFUSED))
        self.assertEqual([], list(self.broker.read([layout.errors])))
        refused = bridge.wait_event("state_refused")
        self.assertEqual(("undecodable", bad), (refused["reason"], refused["offset"]))
        bridge.stop()

    def test_open_transaction_of_a_writer_costs_max_wait_and_stops_nothing_else(self):
        layout = self.state_layout()
        bridge = self.answering(layout, snapshots_config={"max_wait": "2s"}).start()
        self.answer(self.ask(layout, b"before"))
        producer = Producer({"bootstrap.servers": self.broker.bootstrap, "transactional.id": self.prefix,
                             "linger.ms": 0, "transaction.timeout.ms": 60000})
        producer.init_transactions(30)
        producer.begin_transaction()
        producer.produce(self.state, SNAPSHOT(entity_key=b"k").SerializeToString(), b"k", 0)
        producer.flush(30)
        request = self.ask(layout, b"k")
        elsewhere = [Input(layout.source, 1, b"x", envelope(b"x")), Input(layout.source, 0, b"k", envelope(b"k"))]
        self.broker.produce(elsewhere)
        routed = layout.routes["external_event"]
        wait_until("the other partition goes on", lambda: any(r.key == b"x" for r in self.broker.read([routed])))
        reason, letter = self.letter(layout)
        self.assertEqual("state_not_ready", reason)
        self.assertEqual(f"{layout.source}:0:{request.offset}:5", text(letter, "__agent_bridge.source"))
        self.wait_done(layout, bridge)
        producer.abort_transaction(30)
        self.answer(self.ask(layout, b"after"))
        self.assertEqual(0, len(self.answers(request)))
        bridge.stop()

    def test_partition_counts_that_differ_are_refused_at_the_start(self):
        layout = self.state_layout(state_partitions=5)
        bridge = self.answering(layout).start()
        bridge.wait_exit(78)
        event = bridge.events("partitions_differ")[0]
        self.assertEqual((PARTITIONS, 5), (event["source_partitions"], event["partitions"]))

    def test_partition_counts_that_come_to_differ_turn_requests_into_letters(self):
        layout = self.state_layout()
        bridge = self.answering(layout).start()
        self.answer(self.ask(layout, b"before"))
        self.broker.grow(self.state, PARTITIONS + 2)

        def asked_and_refused():
            self.ask(layout, b"k")
            return bridge.events("partitions_differ")

        wait_until("a request is refused", asked_and_refused, every_s=1)
        letters = wait_until("a dead letter", lambda: list(self.broker.read([layout.errors])))
        self.assertEqual("state_not_ready", text(letters[0], "__agent_bridge.reason"))
        self.broker.produce([Input(layout.source, 0, b"k", envelope(b"k"))])
        wait_until("the relay goes on", lambda: list(self.broker.read([layout.routes["external_event"]])))
        bridge.stop()

    def test_topic_start_that_moved_past_the_store_rebuilds_it(self):
        layout = self.state_layout()
        self.broker.configure(self.state, **{"cleanup.policy": "compact,delete"})
        for number in range(10):
            self.publish(b"k%d" % number, SNAPSHOT(entity_key=b"k%d" % number).SerializeToString())
        bridge = self.answering(layout).start()
        self.assertIsNotNone(self.answer(self.ask(layout, b"k2")).header(STATE_OFFSET))
        bridge.stop()
        for number in range(10, 20):
            self.publish(b"k%d" % number, SNAPSHOT(entity_key=b"k%d" % number).SerializeToString())
        self.broker.delete_before(self.state, 0, 15)
        bridge.start()
        self.assertIsNone(self.answer(self.ask(layout, b"k2")).header(STATE_OFFSET))
        self.assertIsNotNone(self.answer(self.ask(layout, b"k17")).header(STATE_OFFSET))
        self.assertIn("begins behind", bridge.events("store_rebuilt")[0]["text"])
        bridge.stop()

    def test_damaged_store_is_rebuilt_and_the_answer_is_the_same(self):
        layout = self.state_layout()
        self.publish(b"k", SNAPSHOT(entity_key=b"k", seq=3).SerializeToString())
        bridge = self.answering(layout).start()
        first = self.answer(self.ask(layout, b"k"))
        bridge.stop()
        data = self.store / self.state / "0" / "data.mdb"
        data.write_bytes(b"\x5a" * data.stat().st_size)
        bridge.start()
        second = self.answer(self.ask(layout, b"k"))
        self.assertEqual(first.header(STATE_OFFSET), second.header(STATE_OFFSET))
        self.assertEqual("it is damaged", bridge.events("store_rebuilt")[0]["text"])
        bridge.stop()


class Verbs(StateCase):
    def run_verb(self, bridge, *words, wanted=0):
        done = subprocess.run([os.environ["AGENT_BRIDGE"], *words, "-c", str(bridge.config_file)],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(wanted, done.returncode, done.stdout + done.stderr)
        return done

    def test_snapshot_prints_the_state_its_age_and_where_it_came_from(self):
        layout = self.state_layout()
        published = SNAPSHOT(entity_key=b"k\xff", seq=7, snapshot_at_ms=1700000000000).SerializeToString()
        partition = java_partition(b"k\xff", PARTITIONS)
        offset = self.publish(b"k\xff", published, partition)
        bridge = self.answering(layout).start()
        raw = self.folder / "raw.bin"
        done = self.run_verb(bridge, "snapshot", "6bff", "--hex", "--request-id", "r-é", "-o", str(raw),
                             "--at", "2026-01-31T00:00:00Z")
        shown = json.loads(done.stdout)
        at_ms = 1769817600000
        self.assertEqual(snapshots.answer(published, at_ms, "r-é"), raw.read_bytes())
        self.assertEqual(("6bff", True, f"{self.state}:{partition}:{offset}", 1700000000000),
                         (shown["key_hex"], shown["known"], shown["state_from"], shown["state_at_ms"]))
        self.assertGreater(shown["state_age_ms"], 0)
        self.assertEqual(("7", str(at_ms), "r-é"), (shown["snapshot"]["seq"], shown["snapshot"]["snapshotAtMs"],
                                                    shown["snapshot"]["requestId"]))
        done = self.run_verb(bridge, "snapshot", "nobody")
        self.assertFalse(json.loads(done.stdout)["known"])
        self.assertIn("no state of this key was ever published", done.stderr)
        bridge.stop()
        done = self.run_verb(bridge, "snapshot", "nobody", "--timeout", "10s", wanted=75)
        self.assertIn("no answer within 10000 ms", done.stderr)

    def test_store_check_finds_what_differs_also_beside_a_running_bridge(self):
        layout = self.state_layout()
        for number in range(20):
            key = b"k%d" % number
            self.publish(key, SNAPSHOT(entity_key=key, seq=1).SerializeToString())
        self.publish(b"k3", None)
        bridge = self.answering(layout).start()
        self.answer(self.ask(layout, b"k1"))
        self.assertIn("19 keys compared", self.run_verb(bridge, "store", "check").stdout)
        self.publish(b"k5", b"\x12\x09bad")
        self.answer(self.ask(layout, b"k1"))
        time.sleep(0.5)  # a store's batch is committed within 0.1 s
        found = self.run_verb(bridge, "store", "check", "--json", wanted=1).stdout.splitlines()
        self.assertEqual(["undecodable"], [json.loads(line)["finding"] for line in found if "finding" in line])
        self.run_verb(bridge, "store", "rebuild", wanted=75)  # the bridge has the folder
        bridge.stop()
        data = self.store / self.state / "0" / "data.mdb"
        value = SNAPSHOT(entity_key=b"k7", seq=1).SerializeToString()
        content = data.read_bytes()
        self.assertIn(value, content)
        data.write_bytes(content.replace(value, value[:-1] + b"\x09"))
        found = self.run_verb(bridge, "store", "check", "--json", wanted=1).stdout
        self.assertIn('"key":"k7"', found)
        self.run_verb(bridge, "store", "rebuild")
        stores, keys = store_content(self.store)
        self.assertEqual(19, stores[0][2])
        self.assertTrue(all(key["whole"] for key in keys))


if __name__ == "__main__":
    unittest.main()
