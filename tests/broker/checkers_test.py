#!/usr/bin/env python3
"""The checkers of the broker tests, tried themselves: each planted fault has to be found. No broker."""

import contextlib
import itertools
import json
import os
import random
import signal
import socket
import sys
import threading
import unittest
import unittest.mock
from collections import Counter
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from audit import Audit, Settings, letter_headers  # noqa: E402
from batch import shared_out  # noqa: E402
from broker import Input, Record  # noqa: E402
from mutate import Message, Mutator  # noqa: E402
from oracle import (SOURCE_HEADER, VARIANTS, Oracle, Policy, Verdict, java_partition, murmur2,  # noqa: E402
                     sha256_hex, source_text)
from ports import free_port  # noqa: E402
from proxy import Proxy  # noqa: E402
from redrive import MARKER_HEADER, Original, RedriveAudit  # noqa: E402
from reference import Reference  # noqa: E402
from traffic import HEADER, SequenceCheck, Traffic  # noqa: E402

import broker  # noqa: E402
import chaos_test  # noqa: E402

REFERENCE = Reference()
FUZZ_INPUTS = 20_000


def envelope(**fields):
    return REFERENCE.classes["AgentEnvelope"](**fields)


class Murmur2(unittest.TestCase):
    # From Kafka's own UtilsTest.testMurmur2.
    VECTORS = {b"21": -973932308, b"foobar": -790332482, b"a-little-bit-long-string": -985981536,
               b"a-little-bit-longer-string": -1486304829,
               b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971, b"abc": 479470107}

    def test_kafkas_own_vectors(self):
        for key, hashed in self.VECTORS.items():
            self.assertEqual(murmur2(key), hashed & 0xFFFFFFFF, key)

    def test_partition_is_of_the_positive_part(self):
        self.assertEqual(java_partition(b"21", 7), (-973932308 & 0x7FFFFFFF) % 7)


class Defects(unittest.TestCase):
    def test_agree_with_the_reference_on_mutated_envelopes(self):
        messages = {name: Message.of(REFERENCE.descriptor(name)) for name in ("AgentEnvelope",)}
        oracle = Oracle(REFERENCE, Policy({}))
        mutator = Mutator(messages, [], random.Random(20))
        refused = 0
        for _ in range(FUZZ_INPUTS):
            _, data = mutator.next()
            refused += oracle.judge(b"k", data, (), 5).at is not None  # raises where the two differ
        self.assertGreater(refused, FUZZ_INPUTS // 20)
        self.assertGreater(FUZZ_INPUTS - refused, FUZZ_INPUTS // 20)


class Judge(unittest.TestCase):
    """Each check of DESIGN section 3 by one record that fails it and no earlier one."""

    def setUp(self):
        self.policy = Policy({v: f"to.{v}" for v in VARIANTS})

    def judge(self, value, key=b"k", headers=(), **changes):
        return Oracle(REFERENCE, replace(self.policy, **changes)).judge(key, value, headers, 5)

    def reason(self, *arguments, **changes):
        verdict = self.judge(*arguments, **changes)
        return verdict.reason or verdict.outcome

    def test_every_reason(self):
        event = envelope(entity_key=b"k", external_event=b"x").SerializeToString()
        result = envelope(entity_key=b"k", tool_result={"intent_id": "i", "entity_key": b"k"})
        other = envelope(entity_key=b"k", tool_result={"intent_id": "i", "entity_key": b"o"})
        nameless = envelope(entity_key=b"k", approval={"approved": True})
        future = envelope(entity_key=b"k").SerializeToString() + b"\x3a\x01x"
        self.assertEqual(self.reason(None), "tombstone")
        self.assertEqual(self.reason(None, on_tombstone="drop"), "dropped")
        self.assertEqual(self.reason(event, max_value=len(event) - 1), "oversized")
        self.assertEqual(self.reason(event, max_value=len(event)), "routed")
        self.assertEqual(self.reason(b"\x00\x00\x00\x00\x07" + event), "framed_payload")
        self.assertEqual(self.reason(b"\x00\x00\x00\x00\x07\x00" + event), "framed_payload")
        self.assertEqual(self.reason(b"\x00\x00\x00\x00\x07\x02\x08" + event), "framed_payload")
        self.assertEqual(self.reason(b"\x00\x00\x00\x00\x07\x07" + event), "decode_bad_tag")
        self.assertEqual(self.reason(envelope(entity_key=b"k").SerializeToString()), "payload_not_set")
        self.assertEqual(self.reason(future), "unknown_variant")
        routes = {**self.policy.routes, "unknown_variant": "later"}
        self.assertEqual(self.judge(future, routes=routes).topic, "later")
        self.assertEqual(self.reason(envelope(external_event=b"x").SerializeToString()), "missing_entity_key")
        self.assertEqual(self.reason(event, b"o"), "key_mismatch")
        self.assertEqual(self.reason(event, b""), "key_mismatch")
        self.assertEqual(self.reason(event, b"o", on_key_mismatch="ignore"), "routed")
        self.assertEqual(self.reason(event, None), "routed")
        self.assertEqual(self.reason(event, None, on_null_key="dead_letter"), "missing_record_key")
        self.assertEqual(self.reason(nameless.SerializeToString()), "missing_intent_id")
        self.assertEqual(self.reason(other.SerializeToString()), "key_mismatch")
        self.assertEqual(self.judge(result.SerializeToString()).topic, "to.tool_result")
        hops = (("__agent_bridge.hops", b"9"), ("__agent_bridge.hops", b"3"))
        self.assertEqual(self.reason(event, b"k", hops), "routed")
        self.assertEqual(self.reason(event, b"k", hops + (("__agent_bridge.hops", b"4"),)), "hop_limit")
        self.assertEqual(self.reason(event, b"k", (("__agent_bridge.hops", b"-1"),)), "hop_limit")
        self.assertEqual(self.reason(event, b"k", (("__agent_bridge.hops", None),)), "hop_limit")
        routes = {**self.policy.routes, "external_event": "dead_letter"}
        self.assertEqual(self.reason(event, routes=routes), "route_refused")
        routes = {**self.policy.routes, "external_event": "drop"}
        self.assertEqual(self.reason(event, routes=routes), "dropped")


def output(item, topic, offset, key, headers, partition=0, value=b"", time=None):
    return Record(topic, partition, offset, item.timestamp_ms if time is None else time, key, value, headers)


class AuditFinds(unittest.TestCase):
    """A good run of ten routed records, one fault at a time."""

    def setUp(self):
        self.settings = Settings("g", REFERENCE, "in.errors", "in.quarantine",
                                 {"out": 1, "in.errors": 1, "in.quarantine": 1})
        self.inputs = [Input("in", 0, b"k", b"v%d" % n, (("h", b"1"), ("h", None)), 1000 + n, n) for n in range(10)]
        self.outputs = [output(item, "out", item.offset, b"k", item.headers + self.source(item), value=item.value)
                        for item in self.inputs]

    @staticmethod
    def source(item):
        return ((SOURCE_HEADER, source_text(item.topic, item.partition, item.offset, item.timestamp_ms)),)

    def audit(self, outputs):
        audit = Audit()
        for item in self.inputs:
            audit.expect_verdict(item, Verdict("routed", "out", entity_key=b"k"), self.settings)
        return audit.see_all(outputs).finish()

    def finds(self, kind, outputs):
        problems = self.audit(outputs)
        self.assertTrue(problems and kind in problems[0], f"{kind} was not found: {problems}")

    def test_nothing_in_a_good_run(self):
        self.assertEqual(self.audit(self.outputs), [])

    def test_what_is_missing(self):
        self.finds("1 missing", self.outputs[:4] + self.outputs[5:])

    def test_what_is_doubled(self):
        self.finds("1 doubled", self.outputs + self.outputs[3:4])

    def test_what_is_out_of_order(self):
        swapped = self.outputs[:2] + [self.outputs[3], self.outputs[2]] + self.outputs[4:]
        self.finds("1 reordered", swapped)

    def test_order_is_asked_within_a_key_and_source_partition_only(self):
        far = replace(self.inputs[0], key=b"other", offset=99)
        audit = Audit()
        for item in (*self.inputs, far):
            audit.expect_verdict(item, Verdict("routed", "out", entity_key=item.key), self.settings)
        audit.see(output(far, "out", 0, b"other", far.headers + self.source(far), value=far.value))
        self.assertEqual(audit.see_all(self.outputs).finish(), [])

    def test_what_is_unexpected(self):
        self.finds("1 unexpected", self.outputs + [self.outputs[0]._replace(headers=())])
        self.finds("1 unexpected", self.outputs + [self.outputs[0]._replace(topic="in.errors")])

    def test_every_altered_part(self):
        first = self.outputs[0]
        for changed in (first._replace(value=b"V0"), first._replace(value=None), first._replace(key=b"K"),
                        first._replace(timestamp_ms=1), first._replace(partition=1),
                        first._replace(headers=first.headers[1:]),
                        first._replace(headers=(first.headers[1], first.headers[0], first.headers[2])),
                        first._replace(headers=(("h", b"1"), ("h", b""), first.headers[2])),
                        first._replace(headers=first.headers[2:] + first.headers)):
            self.finds("1 altered", [changed] + self.outputs[1:])

    def test_that_nothing_was_expected(self):
        self.assertIn("1 void", Audit().finish()[0])


class AuditOfDeadLetters(unittest.TestCase):
    """A good dead letter with its quarantine copy, one fault at a time."""

    TEXT = "runs past the end"
    COPY = (("__agent_bridge.copy", b"whole"),)

    def setUp(self):
        self.settings = Settings("g", REFERENCE, "in.errors", "in.quarantine", {"in.errors": 1, "in.quarantine": 1})
        self.item = Input("in", 2, b"key", b"\x1a\x05", (("h", b""),), 1234, 42)
        self.verdict = Verdict("dead_lettered", None, "decode_truncated", 1, "external_event", b"key", 1234)
        self.appended = letter_headers(self.item, "decode_truncated", "g", self.TEXT)

    def letter(self, detail=None, **changes):
        detail = detail or ('{"at":1,"field":"external_event","sha256":"%s","size":2,"source":"in:2:42",'
                            '"text":"%s","v":1}' % (sha256_hex(self.item.value), self.TEXT))
        record = {"entity_key": b"key", "reason": "decode_truncated", "detail": detail, "event_time_ms": 1234,
                  **changes}
        error = REFERENCE.classes["ActivationErrorRecord"](**record)
        return envelope(entity_key=b"key", event_time_ms=1234,
                        external_event=error.SerializeToString(deterministic=True)).SerializeToString(deterministic=True)

    def problems(self, value=None, headers=None, original=None):
        audit = Audit()
        audit.expect_verdict(self.item, self.verdict, self.settings)
        audit.see(output(self.item, "in.errors", 0, b"key", self.appended if headers is None else headers,
                         value=self.letter() if value is None else value, time=9))
        copy = output(self.item, "in.quarantine", 0, b"key", self.item.headers + self.appended + self.COPY,
                      value=self.item.value)
        audit.see(original(copy) if original else copy)
        return audit.finish()

    def test_nothing_in_a_good_one(self):
        self.assertEqual(self.problems(), [])

    def test_a_wrong_value(self):
        good = self.letter()
        for bad in (b"", good + b"\x3a\x00", b"\x10\x80\x00" + good, self.letter(reason="tombstone"),
                    self.letter(event_time_ms=1), self.letter(entity_key=b"other"),
                    self.letter(detail=self.detail(at=2)), self.letter(detail=self.detail(at=None)),
                    self.letter(detail=self.detail(size=3)), self.letter(detail=self.detail(sha256="00")),
                    self.letter(detail=self.detail(source="in:2:43")), self.letter(detail=self.detail(v=2)),
                    self.letter(detail=self.detail(field="approval")), self.letter(detail=self.detail(field=None)),
                    self.letter(detail=self.detail(text="")), self.letter(detail=self.detail(more=1)),
                    self.letter(detail=self.detail().replace(":", ": ")), self.letter(detail="{"),
                    self.letter(detail=self.detail(text="x" * 4096))):
            self.assertIn("altered", (self.problems(bad) or [""])[0], bad)

    def detail(self, **changes):
        good = {"at": 1, "field": "external_event", "sha256": sha256_hex(self.item.value), "size": 2, "source": "in:2:42", "text": self.TEXT, "v": 1}
        return json.dumps({k: v for k, v in {**good, **changes}.items() if v is not None}, sort_keys=True,
                          separators=(",", ":"))

    def test_a_wrong_header(self):
        for number in range(len(self.appended)):
            without = self.appended[:number] + self.appended[number + 1:]
            self.assertTrue(self.problems(headers=without))
            name, value = self.appended[number]
            other = self.appended[:number] + ((name, value + b"x"),) + self.appended[number + 1:]
            self.assertTrue(self.problems(headers=other))

    def test_a_wrong_quarantine_copy(self):
        for change in (lambda r: r._replace(value=b"\x1a"), lambda r: r._replace(key=None),
                       lambda r: r._replace(headers=r.headers[1:]), lambda r: r._replace(partition=1),
                       lambda r: r._replace(headers=(("h", None),) + r.headers[1:]),
                       lambda r: r._replace(headers=r.headers[:-1]),
                       lambda r: r._replace(headers=r.headers[:-1] + (("__agent_bridge.copy", b"pointer"),))):
            self.assertIn("1 altered", (self.problems(original=change) or [""])[0])

    def test_a_head_and_a_pointer_are_told_from_the_whole(self):
        copies = {"head": lambda r: r._replace(value=r.value[:8192]),
                  "pointer": lambda r: r._replace(value=b"", headers=r.headers[len(self.item.headers):])}
        for wanted, change in copies.items():
            def made(record, change=change, wanted=wanted):
                record = change(record)
                return record._replace(headers=record.headers[:-1] + (("__agent_bridge.copy", wanted.encode()),))
            self.settings.copies = {self.item.offset: wanted}
            self.assertEqual(self.problems(original=made), [], wanted)
            self.assertIn("altered", self.problems()[0])
            self.settings.copies = {}
            self.assertIn("altered", self.problems(original=made)[0])

    def test_a_missing_copy(self):
        audit = Audit()
        audit.expect_verdict(self.item, self.verdict, self.settings)
        self.assertIn("2 missing", audit.finish()[0])


class SequenceFinds(unittest.TestCase):
    """Two keys of five numbers each, one fault at a time."""

    def setUp(self):
        self.records = [Record("out", 0, n, 0, b"k", b"", ((HEADER, b"%d:%d" % (n % 2, n // 2)),)) for n in range(10)]

    def problems(self, records):
        check = SequenceCheck({0: 5, 1: 5}, "errors")
        for record in records:
            check.see(record)
        return check.finish()

    def test_nothing_in_a_good_run_whatever_the_letters_say(self):
        letters = [record._replace(topic="errors") for record in self.records]
        self.assertEqual(self.problems(self.records + letters), {})

    def test_each_fault(self):
        first, second, third = self.records[0], self.records[2], self.records[4]
        self.assertEqual(self.problems(self.records[1:]), {"missing": 1})
        self.assertEqual(self.problems(self.records[:-1]), {"missing": 1})
        self.assertEqual(self.problems(self.records + [first]), {"doubled": 1, "reordered": 1})
        self.assertEqual(self.problems([second, first] + self.records[1:2] + self.records[3:]), {"reordered": 1})
        for header in (b"0:5", b"2:0", b"0", b"", None, b"x:y"):
            altered = self.records + [third._replace(headers=((HEADER, header),))]
            self.assertEqual(self.problems(altered), {"altered": 1}, header)
        self.assertEqual(self.problems(self.records + [third._replace(headers=())]), {"altered": 1})

    def test_order_is_asked_within_a_partition_only(self):
        moved = [self.records[2]._replace(partition=1)] + self.records[:2] + self.records[3:]
        self.assertEqual(self.problems(moved), {})


class TrafficIsMixed(unittest.TestCase):
    def test_a_seed_gives_good_and_broken_records_and_the_same_again(self):
        def make():
            return [(item.partition, item.key, item.value, item.headers)
                    for item in itertools.islice(Traffic("in", 4, 7).inputs(), 2000)]
        with unittest.mock.patch("time.time", lambda: 1.7e9):
            first, second = make(), make()
        self.assertEqual(first, second)
        oracle = Oracle(REFERENCE, Policy({v: f"to.{v}" for v in VARIANTS}))
        outcomes = Counter(oracle.judge(key, value, headers, 5).outcome for _, key, value, headers in first)
        self.assertGreater(outcomes["routed"], 1500)
        self.assertGreater(outcomes["dead_lettered"], 100)
        self.assertEqual({"routed", "dead_lettered"}, set(outcomes))


class OffsetsAreFilledIn(unittest.TestCase):
    def test_what_a_retry_was_not_told(self):
        offsets = [None, None, 7, 8, None, None, 11, None]
        items = [Input("in", 0, b"k", b"", (), 1, offset) for offset in offsets]
        other = [Input("in", 1, b"k", b"", (), 1, None)]
        broker._fill_in_offsets(items + other)
        self.assertEqual([5, 6, 7, 8, 9, 10, 11, 12, None], [item.offset for item in items + other])


class ProxyObeys(unittest.TestCase):
    """One server that sends back what it gets, behind one door."""

    def setUp(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        self.port = free_port()
        threading.Thread(target=self.serve, args=(server,), daemon=True).start()
        self.proxy = Proxy([{"from": self.port, "to": server.getsockname()[1]}])
        self.proxy.__enter__()
        self.addCleanup(self.proxy.__exit__)

    @staticmethod
    def serve(server):
        def echo(client):
            with client, contextlib.suppress(OSError):
                while data := client.recv(4096):
                    client.sendall(data)
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=echo, args=(server.accept()[0],), daemon=True).start()

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        self.addCleanup(client.close)
        return client

    def says(self, client, text):
        client.sendall(text)
        return client.recv(4096)

    def test_open_cut_hold_and_open_again(self):
        client = self.connect()
        self.assertEqual(self.says(client, b"one"), b"one")
        self.proxy.command("cut", 1)
        with contextlib.suppress(ConnectionError):
            self.assertEqual(client.recv(10), b"")
        with contextlib.suppress(ConnectionError):
            self.assertEqual(self.says(self.connect(), b"nobody"), b"")
        self.proxy.command("open", 1)
        client = self.connect()
        self.assertEqual(self.says(client, b"two"), b"two")
        self.proxy.command("hold", 1)
        client.sendall(b"three")
        client.settimeout(0.3)
        with self.assertRaises(TimeoutError):
            client.recv(10)
        client.settimeout(20)
        self.proxy.command("open", 1)
        self.assertEqual(client.recv(10), b"three")


class ChaosFinds(unittest.TestCase):
    """The faults that a run plants in what it has read, and its last line."""

    def test_every_planted_fault_is_one(self):
        records = [output(Input("in", 0, b"k", b"v%d" % n, (), 1, n), "out", n, b"k", (), value=b"v%d" % n)
                   for n in range(20)]
        for kind, plant in chaos_test.FAULTS.items():
            self.assertNotEqual(records, plant(random.Random(5), list(records)), kind)

    def test_the_last_line_names_every_kind(self):
        kinds = Counter(missing=1, doubled=2, altered=3, unexpected=4, reordered=5)
        self.assertEqual("9 records, 1 missing, 2 duplicate, 7 altered, 5 reordered", chaos_test.last_line(9, kinds))


class RedriveAuditFinds(unittest.TestCase):
    """Three records of one key, redriven in a good run and in each bad one."""

    def setUp(self):
        self.items = [Input("in", 0, b"k", b"v%d" % n, (("name", b"%d" % n),), 1000 + n, offset=n) for n in range(3)]

    def written(self, item, offset, **changes):
        headers = tuple(item.headers) + (("__agent_bridge.hops", b"1"),)
        return Record("in", 0, offset, item.timestamp_ms, item.key, item.value, headers)._replace(**changes)

    def copy(self, item, offset):
        headers = tuple(item.headers) + letter_headers(item, "oversized", "g", "text")
        return Record("q", 1, offset, 5, item.key, item.value, headers + (("__agent_bridge.copy", b"whole"),))

    @staticmethod
    def mark(marked, offset, **changes):
        return Record("q", 1, offset, 5, None, None, ((MARKER_HEADER, f"q:1:{marked}:job-1".encode()),))._replace(
            **changes)

    def kinds(self, written=None, quarantine=None):
        audit = RedriveAudit()
        for item in self.items[:2]:  # the third stays
            audit.expect(Original(item, "in", 0))
        good = [self.written(item, 10 + n) for n, item in enumerate(self.items[:2])]
        copies = [self.copy(item, n) for n, item in enumerate(self.items)]
        for record in good if written is None else written(good):
            audit.see_target(record)
        marks = [self.mark(0, 3), self.mark(1, 4)]
        for record in copies + (marks if quarantine is None else quarantine(marks)):
            audit.see_quarantine(record)
        problems = audit.finish()
        return problems[0] if problems else ""

    def test_nothing_in_a_good_run(self):
        self.assertEqual("", self.kinds())

    def test_what_is_wrong_with_the_records(self):
        self.assertIn("1 missing", self.kinds(lambda good: good[1:]))
        self.assertIn("1 doubled", self.kinds(lambda good: good + [self.written(self.items[0], 12)]))
        self.assertIn("1 reordered", self.kinds(lambda good: good[::-1]))
        self.assertIn("1 unexpected", self.kinds(lambda good: good + [self.written(self.items[2], 12)]))
        for changes in ({"value": b"other"}, {"key": None}, {"timestamp_ms": 7}, {"partition": 1}, {"topic": "other"},
                        {"headers": self.items[0].headers},
                        {"headers": tuple(self.items[0].headers) + (("__agent_bridge.hops", b"2"),)}):
            with self.subTest(changes):
                self.assertIn("altered", self.kinds(lambda good: [good[0]._replace(**changes), good[1]]))

    def test_what_is_wrong_with_the_markers(self):
        self.assertIn("1 marked", self.kinds(quarantine=lambda marks: marks[1:]))
        self.assertIn("1 marked", self.kinds(quarantine=lambda marks: marks + [self.mark(0, 5)]))
        self.assertIn("1 marked", self.kinds(quarantine=lambda marks: marks + [self.mark(2, 5)]))
        self.assertIn("unexpected", self.kinds(quarantine=lambda marks: [self.mark(0, 3, value=b""), marks[1]]))
        self.assertIn("unexpected", self.kinds(quarantine=lambda marks: [self.mark(0, 0), marks[1]]))

    def test_that_nothing_was_expected(self):
        self.assertIn("void", RedriveAudit().finish()[0])


def share(job, jobs, end):
    if end and job == jobs - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return job


class WorkIsSharedOut(unittest.TestCase):
    def test_every_share_comes_back(self):
        self.assertEqual([0, 1, 2], shared_out(share, 3, False))

    def test_a_process_that_dies_ends_it(self):
        with self.assertRaisesRegex(SystemExit, "a process died"):
            shared_out(share, 3, True)


if __name__ == "__main__":
    unittest.main()
