#!/usr/bin/env python3
"""What the night shift looks with, on a real Kafka: errors, explain, and inspect of records and topics."""

import json
import subprocess
import sys
import unittest
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from bridge import program  # noqa: E402
from broker import Input, wait_until  # noqa: E402
from relay_case import ENVELOPE, REFERENCE, RelayCase, numbered_inputs  # noqa: E402

BAD = (b"\xff\xff", None, b"", b"\x00\x00\x00\x00\x01\x0a\x01k")


class NightShift(RelayCase):
    def setUp(self):
        super().setUp()
        self.at = self.layout()
        self.inputs = []
        for number, item in enumerate(numbered_inputs(self.at.source, 4, 120, 13, size=40)):
            if number % 6 == 1:
                item = replace(item, value=BAD[number // 6 % 4])
            elif number % 6 == 3:
                item = replace(item, key=b"other")
            self.inputs.append(item)
        self.broker.produce(self.inputs)
        bridge = self.bridge(self.at).start()
        self.wait_done(self.at, bridge)
        bridge.stop()
        self.file = self.folder / "bridge.yaml"
        for topic in self.at.outputs:
            wait_until(f"no transaction is open on {topic}",
                       lambda topic=topic: self.broker.ends(topic) == self.broker.ends(topic, "read_uncommitted"))
        self.letters = list(self.broker.read([self.at.errors]))
        self.kept = list(self.broker.read([self.at.quarantine]))

    def call(self, verb, *words, code=0, raw=False):
        done = subprocess.run([program(), verb, "-c", str(self.file), *words] if verb != "errors" or not words
                              or words[0].startswith("-") else
                              [program(), verb, words[0], "-c", str(self.file), *words[1:]],
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(code, done.returncode, (done.stdout[-500:], done.stderr.decode()))
        return done.stdout if raw else done.stdout.decode()

    def lines(self, *words, **more):
        return [json.loads(line) for line in self.call(*words, **more).splitlines()]

    def counts(self, *words):
        return json.loads(self.call("errors", "--json", *words))

    @staticmethod
    def text(record, name):
        return record.header(name).decode()

    def mark(self, records):
        """What a redrive leaves in quarantine for these quarantine records."""
        self.broker.produce([Input(self.at.quarantine, record.partition, None, None, (
            ("__agent_bridge.redriven", f"{record.where}:job-1".encode()),)) for record in records])

    # ---- errors --------------------------------------------------------------------------------------

    def test_errors_counts_by_source_and_reason_with_their_times(self):
        wanted = {}
        for letter in self.letters:
            reason = self.text(letter, "__agent_bridge.reason")
            row = wanted.setdefault(reason, [0, letter.timestamp_ms, letter.timestamp_ms])
            row[0] += 1
            row[1:] = min(row[1], letter.timestamp_ms), max(row[2], letter.timestamp_ms)
        found = self.counts()
        self.assertEqual({reason: tuple(row) for reason, row in wanted.items()},
                         {row["reason"]: (row["open"] + row["unreplayable"], row["oldest_ms"], row["newest_ms"])
                          for row in found["rows"]})
        self.assertEqual({self.at.source}, {row["source"] for row in found["rows"]})
        self.assertEqual({"key_mismatch"}, {row["reason"] for row in found["rows"] if row["open"]})
        self.assertEqual(len(self.letters), found["open"] + found["unreplayable"])
        self.assertEqual(0, found["redriven"])
        self.assertTrue(self.call("errors").splitlines()[-1].startswith(f"{found['open']} open, 0 redriven, "))

    def test_errors_what_was_redriven_is_told_apart(self):
        mismatched = [r for r in self.kept if self.text(r, "__agent_bridge.reason") == "key_mismatch"]
        before = self.counts()
        self.call("errors", "--fail-if-open", code=1)
        self.mark(mismatched[:7])
        after = self.counts()
        self.assertEqual((before["open"] - 7, 7, before["unreplayable"]),
                         (after["open"], after["redriven"], after["unreplayable"]))
        listed = self.lines("errors", "list", "--json", "--reason", "key_mismatch")
        self.assertEqual({self.text(r, "__agent_bridge.source").rpartition(":")[0] for r in mismatched[:7]},
                         {line["source"] for line in listed if line["state"] == "redriven"})
        self.assertEqual(len(mismatched), len(listed))
        self.mark(mismatched[7:])
        self.call("errors", "--fail-if-open")

    def test_errors_list_gives_each_letter_once_and_filters(self):
        listed = self.lines("errors", "list", "--json")
        self.assertEqual(sorted(letter.where for letter in self.letters), sorted(line["letter"] for line in listed))
        by_place = {letter.where: letter for letter in self.letters}
        for line in listed:
            letter = by_place[line["letter"]]
            error = REFERENCE.parse("ActivationErrorRecord", REFERENCE.parse(
                "AgentEnvelope", letter.value).external_event)
            self.assertEqual((self.text(letter, "__agent_bridge.source").rpartition(":")[0], error.reason, error.detail,
                              error.entity_key.decode(), letter.timestamp_ms, self.text(letter, "__dlq.errors.message")),
                             (line["source"], line["reason"], line["detail"], line["entity_key"], line["timestamp_ms"],
                              line["text"]))
        key = listed[0]["entity_key"]
        self.assertEqual([line for line in listed if line["entity_key"] == key],
                         self.lines("errors", "list", "--json", "--key", key))
        self.assertEqual(listed, self.lines("errors", "list", "--json", "--source", self.at.source, "--since", "1h"))
        self.assertEqual([], self.lines("errors", "list", "--json", "--source", "elsewhere"))
        self.assertEqual([], self.lines("errors", "list", "--json", "--until", "1h"))
        self.assertEqual(len(listed), len(self.call("errors", "list").splitlines()))

    def test_errors_letters_of_others_are_shown_with_what_they_have(self):
        error = REFERENCE.classes["ActivationErrorRecord"](entity_key=b"e", reason="hitl_timeout",
                                                           detail="nobody \x07 came", event_time_ms=5)
        value = ENVELOPE(entity_key=b"e", event_time_ms=5,
                         external_event=error.SerializeToString()).SerializeToString()
        self.broker.produce([Input(self.at.errors, 0, b"e", value), Input(self.at.errors, 1, None, b"\xff\xff"),
                             Input(self.at.errors, 2, None, None)])
        rows = {row["reason"]: row for row in self.counts()["rows"] if row["source"] is None}
        self.assertEqual((1, 2), (rows["hitl_timeout"]["unreplayable"], rows["(none)"]["unreplayable"]))
        [line] = self.lines("errors", "list", "--json", "--reason", "hitl_timeout")
        self.assertEqual(("nobody \x07 came", "unreplayable", None), (line["detail"], line["state"], line["source"]))
        self.assertNotIn("\x07", self.call("errors", "list", "--reason", "hitl_timeout"))

    def test_errors_show_has_letter_and_original_wherever_it_is(self):
        letter = next(r for r in self.letters if self.text(r, "__agent_bridge.reason") == "key_mismatch")
        _, partition, offset, _ = self.text(letter, "__agent_bridge.source").split(":")
        item = next(i for i in self.inputs if (str(i.partition), str(i.offset)) == (partition, offset))
        for gone in (False, True):
            if gone:
                self.broker.delete_before(self.at.source, int(partition), -1)
            found = json.loads(self.call("errors", "show", letter.where))
            self.assertEqual(self.at.quarantine if gone else self.at.source, found["original"]["topic"])
            self.assertEqual("other", found["original"]["key"])
            self.assertEqual(letter.where.rpartition(":")[2], str(found["letter"]["offset"]))
            self.assertEqual([name for name, _ in letter.headers], [name for name, _ in found["letter"]["headers"]])
            self.assertEqual(item.value, self.call("errors", "show", letter.where, "--raw", raw=True))
            found = json.loads(self.call("errors", "show", letter.where, "--hex", "--json"))
            self.assertEqual(item.value.hex(), found["original"]["value_hex"])
        tombstone = next(r for r in self.letters if self.text(r, "__agent_bridge.reason") == "tombstone")
        self.assertIsNone(json.loads(self.call("errors", "show", tombstone.where))["original"]["value"])
        self.call("errors", "show", f"{self.at.errors}:0:999999", code=69)

    # ---- explain -------------------------------------------------------------------------------------

    @staticmethod
    def shown(data):
        """Bytes as the verbs show them."""
        if data is None:
            return None
        try:
            return data.decode()
        except UnicodeDecodeError:
            return {"hex": data.hex()}

    def test_explain_foretells_the_very_records_that_were_written(self):
        made = {}
        for topic in self.at.outputs:
            for record in self.broker.read([topic]):
                place = self.text(record, "__agent_bridge.source").rpartition(":")[0]
                made.setdefault(place, {})[topic] = record
        outcomes = set()
        for item in self.inputs[:40]:
            found = json.loads(self.call("explain", item.where))
            self.assertEqual(set(made[item.where]), {write["record"]["topic"] for write in found["writes"]})
            outcomes.add(found["verdict"].get("reason", found["verdict"]["outcome"]))
            results = [check["result"] for check in found["checks"]]
            failed = results.count("failed")
            self.assertEqual(results, ["passed"] * (results.index("failed") if failed else 9) + ["failed"] * failed
                             + ["not_reached"] * results.count("not_reached"))
            self.assertEqual(found["verdict"]["outcome"] == "dead_lettered", failed == 1)
            for write in found["writes"]:
                record = made[item.where][write["record"]["topic"]]
                self.assertEqual((record.partition, self.shown(record.key)),
                                 (write["partition"], write["record"]["key"]))
                self.assertEqual([[name, self.shown(value)] for name, value in record.headers],
                                 write["record"]["headers"])
                if "value_hex" in write:
                    self.assertEqual(record.value.hex(), write["value_hex"])
                else:
                    self.assertEqual(item.value, record.value)
        self.assertGreater(len(outcomes), 4, outcomes)

    def test_explain_traffic_under_this_and_under_another_configuration(self):
        ends = {topic: self.broker.ends(topic) for topic in self.at.outputs}

        def rows():
            found = json.loads(self.call("explain", "--since", "1h", "--json"))
            self.assertEqual(120, found["records"])
            return {(row["outcome"], row.get("topic") or row.get("reason")): (row["this_config"], row["running"])
                    for row in found["rows"]}
        same = rows()
        self.assertTrue(all(here == running for here, running in same.values()), same)
        self.assertEqual(120, sum(here for here, _ in same.values()))
        settings = json.loads(self.file.read_text())
        settings["sources"][0]["on_key_mismatch"] = "ignore"
        self.file.write_text(json.dumps(settings))
        other = rows()
        self.assertEqual((0, same["dead_lettered", "key_mismatch"][1]), other["dead_lettered", "key_mismatch"])
        self.assertGreater(sum(here for (outcome, _), (here, _) in other.items() if outcome == "routed"),
                           sum(running for (outcome, _), (_, running) in other.items() if outcome == "routed"))
        self.assertEqual({"records": 0, "not_yet": 0, "rows": []},
                         json.loads(self.call("explain", "--since", "0s", "--json")))
        self.assertIn("120 records", self.call("explain", "--since", "1h"))
        self.assertEqual(ends, {topic: self.broker.ends(topic) for topic in self.at.outputs})
        letter = self.letters[0]
        self.broker.produce([Input(self.at.errors, letter.partition, letter.key, letter.value, tuple(
            (name, b"\xff\x1b[2J" if name == "__agent_bridge.reason" else value) for name, value in letter.headers))])
        self.assertEqual((0, 1), rows()["dead_lettered", "\ufffd\ufffd[2J"])
        self.assertNotIn("\x1b", self.call("explain", "--since", "1h"))

    # ---- inspect -------------------------------------------------------------------------------------

    def test_inspect_a_record_and_a_topic(self):
        topic = self.at.routes["tool_result"]
        records = sorted(self.broker.read([topic]), key=lambda r: (r.partition, r.offset))
        lines = self.lines("inspect", topic)
        self.assertEqual([(r.partition, r.offset, r.timestamp_ms, r.key.decode()) for r in records],
                         sorted((n["partition"], n["offset"], n["timestamp_ms"], n["key"]) for n in lines))
        by_place = {(n["partition"], n["offset"]): n for n in lines}
        for record in records:
            line = by_place[record.partition, record.offset]
            message = ENVELOPE.FromString(record.value)
            self.assertEqual(json.loads(REFERENCE.indented_json(message)), line["value"])
            self.assertEqual([[name, value.decode()] for name, value in record.headers], line["headers"])
        one = records[len(records) // 2]
        self.assertEqual([by_place[one.partition, one.offset]], self.lines("inspect", one.where))
        fullest = str(max(range(self.at.counts[topic]), key=lambda p: sum(n["partition"] == p for n in lines)))
        part = [n for n in lines if str(n["partition"]) == fullest]
        self.assertEqual(part, self.lines("inspect", topic, "--partition", fullest))
        self.assertEqual(part[2:4], self.lines("inspect", topic, "--partition", fullest, "--offset",
                                               str(part[2]["offset"]), "--count", "2"))
        self.call("inspect", f"{topic}:0:999999", code=69)
        self.call("inspect", "nowhere-at-all", code=69)

    def test_inspect_what_cannot_be_decoded_is_shown_in_hex(self):
        bad = next(item for item in self.inputs if item.value == b"\xff\xff")
        [line] = self.lines("inspect", bad.where)
        self.assertEqual(("ffff", 0), (line["value_hex"], line["value_error"]["at"]))
        self.assertNotIn("value", line)

    def test_inspect_follows_a_topic_and_joins_no_group(self):
        topic = self.at.routes["approval"]
        words = [program(), "inspect", "-c", str(self.file), "--follow", topic]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            try:
                seen = [json.loads(process.stdout.readline()) for _ in self.broker.read([topic])]
                self.broker.produce([Input(topic, 1, b"late", b"")])
                self.assertEqual("late", json.loads(process.stdout.readline())["key"])
                # The bridge that stopped is a static member, and may still be listed.
                self.assertEqual([], [name for name, _ in self.broker.members(self.at.group) if "reader" in name])
            finally:
                process.terminate()
            self.assertEqual(0, process.wait(20))
        self.assertGreater(len(seen), 0)


if __name__ == "__main__":
    unittest.main()
