#!/usr/bin/env python3
"""explain on files, errors and explain's command lines: all that needs no broker."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from oracle import Oracle, Policy  # noqa: E402
from ports import closed_port  # noqa: E402
from reference import Reference  # noqa: E402

PROGRAM = os.environ["AGENT_BRIDGE"]
REFERENCE = Reference()
ENVELOPE = REFERENCE.classes["AgentEnvelope"]
ROUTES = {"external_event": "ev", "tool_result": "re", "approval": "drop", "export_request": "dead_letter"}
STEPS = ("tombstone", "size", "wire", "payload", "keys", "ids", "contract", "hops", "route")


class Explain(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "c.yaml")
        self.value = Path(folder.name, "value.bin")
        self.file.write_text(json.dumps({
            "kafka": {"bootstrap.servers": closed_port(self)[1]}, "group": "g", "sources": [
                {"topic": "in", "routes": ROUTES, "max_value": "1KiB"},
                {"topic": "other", "routes": ROUTES, "on_null_key": "dead_letter"}]}))

    def call(self, verb, *words, code=0, stdin=None):
        done = subprocess.run([PROGRAM, verb, "-c", str(self.file), *words], capture_output=True, text=True,
                              input=stdin, timeout=60, check=False)
        self.assertEqual(code, done.returncode, (done.stdout, done.stderr))
        return done.stdout if code == 0 else done.stderr

    def explain(self, value, *words):
        self.value.write_bytes(value)
        return json.loads(self.call("explain", *words, str(self.value)))

    def test_a_value_in_a_file_has_the_oracles_verdict(self):
        good = {"entity_key": b"k", "event_time_ms": 7}
        values = [
            (ENVELOPE(external_event=b"x", **good).SerializeToString(), b"k", None),
            (ENVELOPE(external_event=b"x", **good).SerializeToString(), b"j", "keys"),
            (ENVELOPE(external_event=b"x" * 2000, **good).SerializeToString(), b"k", "size"),
            (ENVELOPE(approval={"intent_id": "i"}, **good).SerializeToString(), b"k", None),
            (ENVELOPE(approval={}, **good).SerializeToString(), b"k", "ids"),
            (ENVELOPE(tool_result={"intent_id": "i", "entity_key": b"z"}, **good).SerializeToString(), b"k", "ids"),
            (ENVELOPE(export_request={"request_id": "r"}, **good).SerializeToString(), b"k", "route"),
            (ENVELOPE(external_event=b"x").SerializeToString(), None, "keys"),
            (ENVELOPE(**good).SerializeToString(), b"k", "payload"),
            (b"", b"k", "payload"), (b"\xff", b"k", "wire"), (b"\x0a\x01", b"k", "wire"),
        ]
        oracle = Oracle(REFERENCE, Policy(ROUTES, max_value=1024))
        for value, key, failed in values:
            with self.subTest(value=value[:20], key=key):
                found = self.explain(value, *(["--key", key.decode()] if key else []))
                wanted = oracle.judge(key, value, (), 0)
                self.assertEqual((wanted.outcome, wanted.reason or None),
                                 (found["verdict"]["outcome"], found["verdict"].get("reason")))
                self.assertEqual(list(STEPS), [check["check"] for check in found["checks"]])
                self.assertEqual([failed] if failed else [],
                                 [check["check"] for check in found["checks"] if check["result"] == "failed"])
                topics = [write["record"]["topic"] for write in found["writes"]]
                self.assertEqual({"routed": ["ev"], "dropped": [],
                                  "dead_lettered": ["in.errors", "in.quarantine"]}[wanted.outcome], topics)
                self.assertTrue(all(write["partition"] is None for write in found["writes"]))

    def test_the_checks_show_what_they_saw(self):
        found = self.explain(ENVELOPE(entity_key=b"\xff\x00", external_event=b"x").SerializeToString(), "--key", "k")
        seen = {check["check"]: check for check in found["checks"]}
        self.assertEqual((1024, 7), (seen["size"]["max_value"], seen["size"]["size"]))
        self.assertEqual("external_event", seen["payload"]["variant"])
        self.assertEqual(({"hex": "ff00"}, "k"), (seen["keys"]["entity_key"], seen["keys"]["record_key"]))
        self.assertNotIn("route", seen["route"])

    def test_the_source_and_hex_text_and_standard_input_are_taken(self):
        value = ENVELOPE(entity_key=b"k", external_event=b"x").SerializeToString()
        self.assertEqual("missing_record_key", self.explain(value, "--source", "other")["verdict"]["reason"])
        self.assertEqual("routed", json.loads(self.call("explain", "--hex", "-", stdin=value.hex()))["verdict"]["outcome"])
        self.assertEqual(1, len(self.call("explain", "--json", str(self.value)).splitlines()))

    def test_wrong_words_are_refused(self):
        for verb, words, wanted in (
                ("explain", (), "takes one RECORD or FILE"), ("explain", ("a", "b"), "takes one RECORD or FILE"),
                ("explain", ("--since", "1h", "a"), "takes one RECORD or FILE"),
                ("explain", ("--until", "1h", "a"), "--until needs --since"),
                ("explain", ("--source", "nowhere", os.devnull), "nowhere is no source of"),
                ("explain", ("nowhere:0:1",), "nowhere is no source of"),
                ("errors", ("in:0:1",), "takes 'list', 'show RECORD' or nothing"),
                ("errors", ("--reason", "x"), "--reason, --source and --key are for 'list'"),
                ("errors", ("--raw",), "--hex and --raw are for 'show'"),
                ("errors", ("--since", "x"), "--since takes a duration"), ("errors", ("-x",), "unknown option '-x'"),
                ("inspect", ("--partition", "x", "in"), "--partition takes a number"),
                ("inspect", ("--offset", "1", "in"), "--offset needs --partition"),
                ("inspect", ("--follow", "in:0:1"), "'in:0:1' is one record"),
                ("inspect", ("--hex", "in"), "it takes a topic, or topic:partition:offset")):
            with self.subTest(verb=verb, words=words):
                self.assertIn(wanted, self.call(verb, *words, code=64))
        for words in (("show",), ("show", "in"), ("show", "in:0:1", "--since", "1h"), ("list", "x"),
                      ("list", "--hex"), ("show", "in:0:1", "--key", "k")):
            done = subprocess.run([PROGRAM, "errors", *words, "-c", str(self.file)], capture_output=True, text=True,
                                  timeout=10, check=False)
            self.assertEqual((64, ""), (done.returncode, done.stdout), words)

    def test_nobody_there_ends_with_69(self):
        for verb, words in (("errors", ()), ("explain", ("in:0:1",)), ("explain", ("--since", "1h")),
                            ("inspect", ("in",)), ("inspect", ("in:0:1",))):
            self.assertIn("bootstrap.servers", self.call(verb, "--timeout", "300ms", *words, code=69))

    def test_a_file_that_is_not_there_ends_with_66(self):
        self.call("explain", "/nonexistent/value", code=66)


if __name__ == "__main__":
    unittest.main()
