#!/usr/bin/env python3
"""Redrive jobs on a real Kafka: killed at random points, overlapping, resumed, against each other.

AW_REDRIVE_LETTERS=100000 runs the long test at its full size; by default it is small enough for every run.
"""

import json
import os
import pty
import random
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from bridge import program  # noqa: E402
from broker import Input, wait_until  # noqa: E402
from oracle import java_partition  # noqa: E402
from redrive import Job, Original, RedriveAudit, write_config  # noqa: E402
from relay_case import RelayCase, envelope  # noqa: E402

LETTERS = int(os.environ.get("AW_REDRIVE_LETTERS", "12000"))
SEED = int(os.environ.get("AW_REDRIVE_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
PARTITIONS = 3
# What makes letters of all eight kinds, and what lets five of them pass.
STRICT = {"max_value": "1KiB", "on_null_key": "dead_letter"}
LENIENT = {"max_value": "1MiB", "on_null_key": "accept", "on_key_mismatch": "ignore"}
REASONS = ("oversized", "unknown_variant", "key_mismatch", "missing_record_key", "route_refused", "tombstone",
           "decode_truncated", "payload_not_set")
PASSING = REASONS[:5]


def refused_input(source, partitions, number, now):
    """A record that STRICT refuses, for the reason that its number picks."""
    reason = REASONS[number % len(REASONS)]
    key = b"entity-%03d" % (number % 89)
    name = f"n{number}-"
    value = {
        "oversized": lambda: envelope(key, size=1500, name=name),
        "unknown_variant": lambda: envelope(key, size=0)[:0] + b"\x0a\x0a" + key + b"\x3a\x01x",
        "key_mismatch": lambda: envelope(key + b"'", name=name),
        "missing_record_key": lambda: envelope(key, name=name),
        "route_refused": lambda: envelope(key, "approval", name=name),
        "tombstone": lambda: None,
        "decode_truncated": lambda: envelope(key, name=name)[:-1],
        "payload_not_set": lambda: b"\x0a\x0a" + key,
    }[reason]()
    record_key = None if reason == "missing_record_key" else key
    headers = (("name", name.encode()), ("empty", b""), ("null", None), ("name", b"twice"))
    return reason, Input(source, number % 89 % partitions, record_key, value, headers, now - number)


class Redrive(RelayCase):
    def quarantined(self, count, **layout_options):
        """A layout whose quarantine holds count letters; returns it, and the inputs by reason."""
        layout = self.layout(PARTITIONS, approval="dead_letter", **layout_options)
        self.make(layout, f"{self.prefix}.approval", 2)
        self.make(layout, f"{self.prefix}.future", 2)
        now = int(time.time() * 1000)
        pairs = [refused_input(layout.source, PARTITIONS, n, now) for n in range(count)]
        self.broker.produce(self.among_good_ones(layout.source, [item for _, item in pairs]))
        bridge = self.bridge(layout, source=STRICT).start()
        self.wait_done(layout, bridge)
        bridge.stop()
        self.tell(f"{count} letters made")
        return layout, pairs

    @staticmethod
    def among_good_ones(source, items):
        """Two good records after each bad one: no breaker takes that for a broken producer."""
        good = envelope(b"good")
        for item in items:
            yield item
            for _ in range(2):
                yield Input(source, item.partition, b"good", good)

    def lenient(self, layout, name="redrive", source=None, **sections):
        """The config that jobs run with."""
        routes = {**layout.routes, "approval": f"{self.prefix}.approval", "unknown_variant": f"{self.prefix}.future"}
        settings = {"topic": layout.source, "routes": routes, **(LENIENT if source is None else source)}
        return write_config(self.broker, layout.group, [settings], self.folder, name, **sections)

    def job(self, file, *words, name=None):
        self.jobs = getattr(self, "jobs", 0) + 1
        job = Job(file, [str(word) for word in words], self.folder / f"{name or 'job'}-{self.jobs}.log")
        self.addCleanup(job.kill9)
        return job

    def check(self, audit, layout, targets, since):
        """Reads what was written behind since, and the quarantine, and wants no problem."""
        for topic in [layout.quarantine, *targets]:
            wait_until(f"no transaction is open on {topic}",
                       lambda: self.broker.ends(topic) == self.broker.ends(topic, "read_uncommitted"))
        for record in self.broker.read(targets):
            if record.offset >= since.get((record.topic, record.partition), 0):
                audit.see_target(record)
        for record in self.broker.read([layout.quarantine]):
            audit.see_quarantine(record)
        problems = audit.finish()
        self.assertEqual([], problems, "\n".join([f"seed {SEED}"] + problems))

    def ends_of(self, topic):
        return {(topic, p): end for p, end in self.broker.ends(topic).items()}

    def to_source(self, pairs, reasons, ordered=True):
        audit = RedriveAudit(ordered)
        for reason, item in pairs:
            if reason in reasons:
                audit.expect(Original(item, item.topic, item.partition))
        return audit

    def test_killed_overlapping_and_resumed_jobs_write_each_record_once(self):
        print(f"seed {SEED}, {LETTERS} letters", flush=True)
        chance = random.Random(SEED)
        layout, pairs = self.quarantined(LETTERS)
        since = self.ends_of(layout.source)
        file = self.lenient(layout)

        def reasons(*names):
            return [word for name in names for word in ("--reason", name)]

        first = self.job(file, "--yes", "--json", *reasons(*REASONS[:4]), name="first")
        first_id = first.id()
        time.sleep(chance.uniform(0, LETTERS / 80_000))
        midway = first.kill9()
        second = self.job(file, "--yes", "--json", *reasons(*REASONS[2:7]), "--force", name="second")
        second.id()
        time.sleep(chance.uniform(0, LETTERS / 80_000))
        midway += second.kill9()
        self.assertGreater(midway, 0, f"seed {SEED}: both jobs had ended before they were killed")
        third = self.job(file, "--yes", "--json", "--force", name="third")
        third.id()
        time.sleep(chance.uniform(0, LETTERS / 60_000))
        # The first goes on while the third is at work: whoever came last has the word.
        resumed = self.job(file, "--yes", "--json", "--resume", first_id, name="resumed")
        resumed.id()
        resumed.wait(0)
        if third.process.wait(60) != 0:
            self.assertEqual(76, third.process.returncode, third.log())
            self.assertIn("taken over", third.log())
            self.job(file, "--yes", "--json", "--resume", third.id(), name="third-resumed").wait(0)
        self.tell("redriven")
        self.check(self.to_source(pairs, REASONS, ordered=False), layout, [layout.source], since)
        nothing = self.job(file, "--yes", "--json", "--force", name="nothing").result(0)[1]
        self.assertEqual((LETTERS, 0, LETTERS), (nothing["selected"], nothing["written"], nothing["marked"]))
        self.tell("checked")

    def test_a_job_killed_again_and_again_ends_once(self):
        """Killed at any time from its start on: while it takes over, reads markers, writes, commits."""
        print(f"seed {SEED}", flush=True)
        chance = random.Random(SEED)
        layout, pairs = self.quarantined(6000)
        since = self.ends_of(layout.source)
        file = self.lenient(layout)
        name = None
        for number in range(8):
            words = ["--resume", name] if name else ["--force"]
            job = self.job(file, "--yes", "--json", "--rate", "800", *words, name=f"try{number}")
            name = name or job.id()
            time.sleep(chance.uniform(0, 1.5))
            job.kill9()
        end = self.job(file, "--yes", "--json", "--resume", name, name="last").result(0)[1]
        self.tell(f"the last of nine wrote {end['written']}")
        self.check(self.to_source(pairs, REASONS), layout, [layout.source], since)

    def test_a_broker_killed_under_a_job_delays_it(self):
        layout, pairs = self.quarantined(4000)
        since = self.ends_of(layout.source)
        file = self.lenient(layout, delivery={"transaction_timeout": "6s"})
        job = self.job(file, "--yes", "--json", "--rate", "400", "--timeout", "60s")
        job.id()
        time.sleep(1)
        self.broker.script("kill9", 1)
        time.sleep(1)
        self.broker.script("restart", 1)
        end = job.result(1)[1]
        self.assertEqual((2500, 1500, True), (end["written"], end["left"], end["complete"]))
        self.check(self.to_source(pairs, PASSING), layout, [layout.source], since)

    def test_two_jobs_at_once_double_nothing(self):
        layout, pairs = self.quarantined(4000)
        since = self.ends_of(layout.source)
        file = self.lenient(layout)
        jobs = []
        for number in range(4):
            jobs.append(self.job(file, "--yes", "--json", "--rate", "500", name=f"rival{number}"))
            jobs[-1].id()
        codes = [job.process.wait(60) for job in jobs]
        self.assertEqual([76, 76, 76, 1], codes)
        for job in jobs[:3]:
            self.job(file, "--yes", "--json", "--resume", job.id(), name="resumed").wait(1)
        self.check(self.to_source(pairs, PASSING, ordered=False), layout, [layout.source], since)

    def test_what_does_not_pass_stays_and_is_named(self):
        layout, pairs = self.quarantined(80)
        file = self.lenient(layout)
        before = self.ends_of(layout.quarantine)
        left, end = self.job(file, "--dry-run", "--json").result(1)
        self.assertEqual((80, 50, 30), (end["selected"], end["written"], end["left"]))
        self.assertTrue(end["dry_run"])
        self.assertEqual({row["reason"]: (row["fate"], row.get("topic"), row["records"]) for row in end["counts"]},
                         {**{r: ("passes", layout.source, 10) for r in PASSING},
                          **{r: ("dead_letter", None, 10) for r in REASONS[5:]}})
        self.assertEqual({item.where: (reason, reason) for reason, item in pairs if reason not in PASSING},
                         {row["source"]: (row["reason"], row["more"]) for row in left})
        self.assertEqual(before, self.ends_of(layout.quarantine), "a dry run wrote something")
        since = self.ends_of(layout.source)
        left_again, end = self.job(file, "--yes", "--json").result(1)
        self.assertEqual((80, 50, 30), (end["selected"], end["written"], end["left"]))
        def place(row):
            return row["record"]
        self.assertEqual(sorted(left, key=place), sorted(left_again, key=place))
        self.check(self.to_source(pairs, PASSING), layout, [layout.source], since)

    def test_to_route_as_the_lane_would_have_written_it(self):
        layout, pairs = self.quarantined(80)
        file = self.lenient(layout)
        targets = [layout.routes["external_event"], f"{self.prefix}.approval", f"{self.prefix}.future"]
        routes = dict(zip(("oversized", "key_mismatch", "missing_record_key"), [targets[0]] * 3))
        routes |= {"route_refused": targets[1], "unknown_variant": targets[2]}
        audit = RedriveAudit()
        for reason, item in pairs:
            if reason in routes:
                topic = routes[reason]
                key = b"entity-%03d" % (int(item.headers[0][1][1:-1]) % 89) + (b"'" if reason == "key_mismatch" else b"")
                audit.expect(Original(item, topic, java_partition(key, layout.counts[topic]), key=key, routed=True))
        since = {place: end for topic in targets for place, end in self.ends_of(topic).items()}
        left, end = self.job(file, "--yes", "--json", "--to", "route", "--force").result(1)
        self.assertEqual({"no_route"}, {row["fate"] for row in left})
        self.assertEqual((50, 30), (end["written"], end["left"]))
        self.check(audit, layout, targets, since)

    def test_conditions_select(self):
        layout, pairs = self.quarantined(80)
        file = self.lenient(layout)

        def count(*words):
            return self.job(file, "--dry-run", "--json", *words).result(None)[1]["selected"]

        self.assertEqual(20, count("--reason", "tombstone", "--reason", "oversized"))
        self.assertEqual(80, count("--since", "1h"))
        self.assertEqual(0, count("--since", "0s"))
        self.assertEqual(0, count("--until", "1h"))
        self.assertEqual(80, count("--source", layout.source))
        item = pairs[6][1]
        self.assertEqual(1, count("--record", item.where))
        self.assertEqual(0, count("--record", item.where, "--reason", "tombstone"))
        # The key of the record, and of the entity where the record has none.
        self.assertEqual(1, count("--key", "entity-003"))
        copy = next(r for r in self.broker.read([layout.quarantine]) if r.header("__agent_bridge.reason") == b"tombstone")
        self.assertEqual(1, count("--record", copy.where))

    def test_again_max_and_the_hops(self):
        layout, pairs = self.quarantined(16)
        since = self.ends_of(layout.source)
        file = self.lenient(layout)
        end = self.job(file, "--yes", "--json", "--reason", "oversized", "--max", "1").result(0)[1]
        self.assertEqual((1, True), (end["written"], end["complete"]))
        end = self.job(file, "--yes", "--json", "--reason", "oversized").result(0)[1]
        self.assertEqual((1, 1), (end["written"], end["marked"]))
        end = self.job(file, "--yes", "--json", "--reason", "oversized", "--again").result(0)[1]
        self.assertEqual((2, 0), (end["written"], end["marked"]))
        came = [r for r in self.broker.read([layout.source]) if r.offset >= since[r.topic, r.partition]]
        self.assertEqual(4, len(came))
        self.assertEqual({b"1"}, {r.header("__agent_bridge.hops") for r in came})

    def test_a_record_that_keeps_failing_goes_round_max_hops_times_and_stays(self):
        layout, pairs = self.quarantined(8)
        original = next(item for reason, item in pairs if reason == "oversized")
        file = self.lenient(layout)
        for hops in (1, 2, 3):
            end = self.job(file, "--yes", "--json", "--reason", "oversized").result(0)[1]
            self.assertEqual(1, end["written"])
            # The running config is still the strict one: it comes back.
            bridge = self.bridge(layout, source=STRICT).start()
            self.wait_done(layout, bridge)
            bridge.stop()
            copies = [r for r in self.broker.read([layout.quarantine])
                      if r.header("__agent_bridge.reason") == b"oversized"]
            self.assertEqual(hops + 1, len(copies))
            self.assertEqual(b"%d" % hops, copies[-1].header("__agent_bridge.hops"))
            own = copies[-1].headers[:len(original.headers) + 1]
            self.assertEqual(tuple(original.headers) + (("__agent_bridge.hops", b"%d" % hops),), own)
        left, end = self.job(file, "--yes", "--json", "--reason", "oversized").result(1)
        self.assertEqual((0, 1, 3), (end["written"], end["left"], end["marked"]))
        self.assertEqual("hop_limit", left[0]["more"])

    def test_a_pointer_is_fetched_and_held_against_its_hash(self):
        layout = self.layout(1)
        self.broker.configure(layout.quarantine, **{"max.message.bytes": 20_000})
        now = int(time.time() * 1000)
        inputs = [Input(layout.source, 0, b"k", envelope(b"k", size=30_000, name=f"n{n}"), (("name", b"%d" % n),), now)
                  for n in range(3)]
        self.broker.produce(inputs)
        bridge = self.bridge(layout, source=STRICT).start()
        self.wait_done(layout, bridge)
        bridge.stop()
        self.broker.delete_before(layout.source, 0, 1)
        since = self.ends_of(layout.source)
        left, end = self.job(self.lenient(layout, source={"max_value": "1MiB"}), "--yes", "--json").result(1)
        self.assertEqual((2, 1), (end["written"], end["left"]))
        self.assertEqual(("gone", inputs[0].where), (left[0]["fate"], left[0]["source"]))
        audit = RedriveAudit()
        for item in inputs[1:]:
            audit.expect(Original(item, layout.source, 0))
        self.check(audit, layout, [layout.source], since)

    def test_a_record_that_the_target_refuses_stays_and_the_others_go(self):
        layout, pairs = self.quarantined(240)
        target = f"{self.prefix}.back"
        self.make(layout, target, 2, **{"max.message.bytes": 1300})
        file = self.lenient(layout, producer={"batch.num.messages": 1000})
        left, end = self.job(file, "--yes", "--json", "--to", target, "--reason", "oversized", "--reason",
                             "route_refused").result(1)
        self.assertEqual((30, 30), (end["written"], end["left"]))
        self.assertEqual({("target_refuses", "oversized")}, {(row["fate"], row["reason"]) for row in left})
        audit = RedriveAudit()
        for reason, item in pairs:
            if reason == "route_refused":
                audit.expect(Original(item, target, java_partition(item.key, 2)))
        self.check(audit, layout, [target], {})

    def test_old_timestamps_that_the_target_refuses_are_isolated(self):
        layout, pairs = self.quarantined(160)
        target = f"{self.prefix}.back"
        # The test's records lie a millisecond apart, the first the newest: half of them are too old.
        target_limit = int(time.time() * 1000) - pairs[80][1].timestamp_ms + 20_000
        self.make(layout, target, 1)
        self.broker.configure(target, **{"message.timestamp.before.max.ms": target_limit})
        end = self.job(self.lenient(layout), "--yes", "--json", "--to", target).result(1)[1]
        self.assertEqual((100, 60), (end["written"], end["left"]))

    def at_a_terminal(self, file, answer, *words):
        """(exit code, what stood on the terminal) of a redrive that is asked and answers."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(program(), [program(), "redrive", "-c", str(file), *words])
        shown = b""
        while True:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # Linux's way to say that the other side is closed
                break
            if not part:
                break
            shown += part
            if answer and b"[y/N] " in shown:
                os.write(terminal, answer)
                answer = None
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode("utf-8", "replace")

    def test_the_question_names_the_other_readers_and_no_writes_nothing(self):
        layout, pairs = self.quarantined(80)
        self.broker.set_committed(f"{self.prefix}.reader", layout.source, {0: 3})
        self.broker.set_committed(f"{self.prefix}.stranger", layout.errors, {0: 0})
        since = self.ends_of(layout.source)
        file = self.lenient(layout)
        code, shown = self.at_a_terminal(file, b"n\n", "--reason", "oversized", "--reason", "tombstone")
        self.assertEqual(0, code, shown)
        self.assertIn(f"other consumer groups of {layout.source}: {self.prefix}.reader\r\n", shown)
        self.assertNotIn(f"{self.prefix}.stranger", shown)
        self.assertIn("Write 10 records? [y/N]", shown)
        self.assertIn("nothing was written", shown)
        self.assertEqual(since, self.ends_of(layout.source))
        code, shown = self.at_a_terminal(file, b"y\n", "--reason", "oversized", "--reason", "tombstone")
        self.assertEqual(1, code, shown)
        self.assertIn("20 records selected: 10 written, 10 left, 0 redriven before", shown)
        self.assertIn("100%", shown)
        self.check(self.to_source(pairs, ["oversized"]), layout, [layout.source], since)

    def test_verify_counts_what_was_redriven_and_still_balances(self):
        layout, _ = self.quarantined(160)
        strict = write_config(self.broker, layout.group, [layout.source_config(**STRICT)], self.folder, "strict")

        def verify():
            done = subprocess.run([program(), "verify", "-c", str(strict), "--json"], capture_output=True, text=True,
                                  timeout=120, check=False)
            self.assertEqual((0, ""), (done.returncode, done.stderr), done.stdout[-2000:])
            return json.loads(done.stdout.splitlines()[-1])["summary"]

        # Straight to a route, with a config that lets them pass; and to the source, where they fail again.
        self.job(self.lenient(layout), "--yes", "--to", "route", "--reason", "oversized").wait(0)
        self.job(strict, "--yes", "--force", "--reason", "tombstone", "--reason", "decode_truncated").wait(0)
        found = verify()
        self.assertEqual((20, 60, True), (found["redriven_direct"], found["markers"], found["balanced"]))
        bridge = self.bridge(layout, source=STRICT).start()
        self.wait_done(layout, bridge)
        bridge.stop()
        found = verify()
        self.assertEqual((40, 20, 60, True), (found["redriven"], found["redriven_direct"], found["markers"],
                                              found["balanced"]))

    def test_unknown_job_source_and_missing_target(self):
        layout, _ = self.quarantined(8)
        file = self.lenient(layout)
        self.job(file, "--yes", "--resume", "20260101-000000-00000000").wait(65)
        self.job(file, "--yes", "--source", "nobody").wait(64)
        self.job(file, "--yes", "--to", f"{self.prefix}.missing").wait(69)

    def test_a_compacted_quarantine_takes_no_markers_and_gives_no_records(self):
        layout, _ = self.quarantined(16)
        before = self.broker.ends(layout.source)
        self.broker.configure(layout.quarantine, **{"cleanup.policy": "compact"})
        job = self.job(self.lenient(layout), "--yes")
        job.wait(69)
        self.assertIn("is it compacted?", job.log())
        written = [r for r in self.broker.read([layout.source]) if r.offset >= before[r.partition]]
        self.assertEqual([], written)

    def test_a_stop_ends_between_transactions_and_resume_goes_on(self):
        layout, pairs = self.quarantined(400)
        since = self.ends_of(layout.source)
        file = self.lenient(layout)
        job = self.job(file, "--yes", "--json", "--rate", "50")
        name = job.id()
        time.sleep(1)
        job.process.terminate()
        left, end = job.result(75)
        self.assertFalse(end["complete"])
        self.assertLess(end["written"], 250)
        self.assertIn(f"--resume {name}", job.log())
        rest = self.job(file, "--yes", "--json", "--resume", name).result(1)[1]
        self.assertEqual(250, end["written"] + rest["written"])
        again = self.job(file, "--yes", "--json", "--resume", name).result(0)[1]
        self.assertEqual((0, True), (again["selected"], again["complete"]))
        self.check(self.to_source(pairs, PASSING), layout, [layout.source], since)


if __name__ == "__main__":
    unittest.main()
