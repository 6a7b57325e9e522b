#!/usr/bin/env python3
"""inspect --contract tea and the tea lines of inspect --batch, on the frozen cases of golden/tea."""

import json
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from batch import batch, inspect  # noqa: E402

CASES = [json.loads(line) for line in (ROOT / "golden/tea/v1/tea-cases.jsonl").open()]


def case(name):
    return next(one for one in CASES if one["name"] == name)


class TeaBatchTest(unittest.TestCase):
    def test_batch_every_case_answered_as_the_file_says(self):
        answers = batch({"contract": "tea", "kind": one["kind"], "input": one["input"]} for one in CASES)
        self.assertEqual(len(answers), 396)
        for one, answer in zip(CASES, answers):
            outcome, _, label = one["expect"].partition(":")
            with self.subTest(one["name"]):
                self.assertEqual(answer["class"], outcome)
                self.assertEqual(answer.get("label", ""), label)
                self.assertEqual(answer["ok"], outcome in ("ok", "skippable"))
                self.assertEqual(answer.get("canonical"), one["canonical"])
                self.assertEqual("pointer" in answer, not answer["ok"])

    def test_batch_pointer_names_the_place(self):
        text = case("evt_delta")["input"]
        broken = text.replace('"text":"Ahoy"', '"text":""')
        stamped = text.replace("2027-11-05T14:08:31.250Z", "yesterday")
        answers = batch({"contract": "tea", "kind": "event", "input": one} for one in (broken, stamped))
        self.assertEqual(answers[0], {"ok": False, "class": "invalid", "label": "text",
                                      "pointer": "/payload/delta/text"})
        self.assertEqual(answers[1], {"ok": False, "class": "invalid", "label": "timestamp",
                                      "pointer": "/timestamp"})

    def test_batch_members_of_an_answer_stand_in_order(self):
        request = {"contract": "tea", "kind": "command", "input": "{}"}
        done = inspect("--batch", text=json.dumps(request).encode() + b"\n")
        self.assertEqual(done.stdout, b'{"ok":false,"class":"invalid","label":"missing",'
                                      b'"pointer":"/protocolVersion"}\n')

    def test_batch_wrong_requests_refused(self):
        good = {"contract": "tea", "kind": "command", "input": "{}"}
        for change in ({"contract": "coffee"}, {"kind": "letter"}, {"kind": 7}, {"input": None},
                       {"contract": 1}, {"more": "members"}):
            with self.subTest(change):
                answer, = batch([{**good, **change}])
                self.assertEqual(answer["reason"], "bad_request")

    def test_batch_text_with_nul_reaches_the_reader(self):
        answer, = batch([{"contract": "tea", "kind": "command", "input": "{}\0"}])
        self.assertEqual(answer, {"ok": False, "class": "malformed_json", "pointer": ""})


class TeaContractTest(unittest.TestCase):
    def test_contract_good_text_printed_canonical(self):
        one = case("evt_delta_marker_added")
        for arguments in ([], ["--kind", "event"]):
            done = inspect("--contract", "tea", *arguments, text=one["input"].encode())
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.decode(), one["canonical"] + "\n")

    def test_contract_broken_text_names_rule_and_place(self):
        one = case("cmd_resolve_unknown_decision")
        done = inspect("--contract", "tea", text=one["input"].encode())
        self.assertEqual(done.returncode, 65)
        self.assertEqual(done.stdout, b"")
        self.assertRegex(done.stderr.decode(), r"standard input: tea command: invalid:variant at byte "
                                               r"\d+ in /payload/decision/type: a nested type or a word")

    def test_contract_skippable_event_is_no_error_and_prints_nothing(self):
        done = inspect("--contract", "tea", text=case("unk_skippable_no_refs")["input"].encode())
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assertIn(b"skippable", done.stderr)

    def test_contract_hex_input_read(self):
        one = case("cmd_abort")
        done = inspect("--contract", "tea", "--hex", text=one["input"].encode().hex().encode())
        self.assertEqual(done.stdout.decode(), one["canonical"] + "\n")

    def test_contract_wrong_options_are_usage_errors(self):
        for arguments in (["--contract", "coffee"], ["--contract", "tea", "--kind", "letter"],
                          ["--contract", "tea", "--type", "ToolResult"], ["--kind", "event"],
                          ["--contract", "tea", "--compact"], ["--batch", "--contract", "tea"]):
            with self.subTest(arguments):
                self.assertEqual(inspect(*arguments).returncode, 64)


if __name__ == "__main__":
    unittest.main()
