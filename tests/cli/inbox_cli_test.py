#!/usr/bin/env python3
"""inspect --contract session_inbox and its lines of inspect --batch, on the frozen cases."""

import json
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from batch import batch, inspect  # noqa: E402

FOLDER = ROOT / "golden/session-inbox"
CASES = [json.loads(line) for line in (FOLDER / "v1/cases.jsonl").open()]
PREFIX = "SessionInboxWireError."


def request_of(case):
    request = {"contract": "session_inbox", "op": case["op"], "input": case["input"]}
    return request | ({"target": case["target"]} if "target" in case else {})


def case(name):
    return next(one for one in CASES if one["name"] == name)


def contract(*arguments, text):
    return inspect("--contract", "session_inbox", *arguments, text=text.encode())


class InboxBatchTest(unittest.TestCase):
    def test_batch_every_case_answered_as_the_file_says(self):
        answers = batch(map(request_of, CASES))
        self.assertEqual(len(answers), 205)
        for one, answer in zip(CASES, answers):
            with self.subTest(one["name"]):
                if one["expect"] == "ok":
                    self.assertEqual(answer, {"ok": True, "class": "ok", "output": one["output"]})
                else:
                    self.assertEqual(set(answer), {"ok", "class", "message"})
                    self.assertEqual((answer["ok"], answer["class"]),
                                     (False, one["expect"].removeprefix(PREFIX)))
                    self.assertTrue(answer["message"])

    def test_batch_messages_hold_what_the_specification_asks_for(self):
        for name, words in (
                ("decode-top-level-number", ["session inbox payload: ", 'no numeric "version" field']),
                ("version-fraction", ["session inbox payload: ", "0.5", "not a positive integer"]),
                ("version-ninety-nine", ["session inbox payload: ", "99", "newer than 1",
                                         "newer deployment"]),
                ("v0-send-payload-array", ["legacy send", "payload"]),
                ("v0-send-delivery-null", ["legacy send", "delivery"]),
                ("v0-deliver-payloads-string", ["legacy deliver", "payloads"]),
                ("v0-kind-missing", ["session inbox payload: ", "unrecognized kind undefined"]),
                ("v0-kind-number", ["unrecognized kind 5"]),
                ("enc1-context-non-string", ["produced value does not match wire version 1",
                                             "/payloads/0/context/1 is not a string"]),
                ("enc-target-string", ['unknown wire version "1"']),
                ("cls-stamped-fraction", ["unsupported wire version 1.5"]),
                ("cls-stable-owned-by-another-run", ['"eve:session:run-a:inbox"', '"run-z"', '"run-a"']),
                ("cls-address-colon", ["invalid address"])):
            answer, = batch([request_of(case(name))])
            for word in words:
                with self.subTest(name, word=word):
                    self.assertIn(word, answer["message"])

    def test_batch_text_that_is_no_json_has_a_class_of_its_own(self):
        for op in ("decode", "encode", "classify"):
            request = {"contract": "session_inbox", "op": op, "input": '{"kind":'}
            answer, = batch([request | ({"target": {"version": 1}} if op == "encode" else {})])
            self.assertEqual((answer["ok"], answer["class"]), (False, "malformed_json"))

    def test_batch_encode_without_a_target_names_none(self):
        answer, = batch([{"contract": "session_inbox", "op": "encode", "input": "{"}])
        self.assertEqual(answer["class"], "unknown-target")

    def test_batch_members_of_an_answer_stand_in_order(self):
        done = inspect("--batch", text=json.dumps(request_of(case("version-two"))).encode())
        self.assertTrue(done.stdout.startswith(b'{"ok":false,"class":"newer-version","message":"'))
        done = inspect("--batch", text=json.dumps(request_of(case("v0-clear"))).encode())
        self.assertEqual(done.stdout, b'{"ok":true,"class":"ok","output":"{\\"kind\\":\\"clear\\"}"}\n')

    def test_batch_wrong_requests_refused(self):
        good = {"contract": "session_inbox", "op": "decode", "input": "{}"}
        for change in ({"op": "guess"}, {"op": 7}, {"input": None}, {"target": {"version": 1}},
                       {"more": "members"}, {"op": "classify"}):
            with self.subTest(change):
                answer, = batch([{**good, **change}])
                self.assertEqual(answer["reason"], "bad_request")


class InboxContractTest(unittest.TestCase):
    def test_contract_fixtures_go_both_ways(self):
        for file in sorted(FOLDER.glob("v*/fixtures.jsonl")):
            for one in map(json.loads, file.open()):
                with self.subTest(one["name"]):
                    for arguments in ([], ["--decode"]):
                        done = contract(*arguments, text=one["value"])
                        self.assertEqual((done.returncode, done.stdout.decode()), (0, one["command"] + "\n"))
                    done = contract("--encode", "--target", one["target"], text=one["command"])
                    self.assertEqual((done.returncode, done.stdout.decode()), (0, one["value"] + "\n"))
                    self.assertEqual(done.stderr, b"")

    def test_contract_newer_value_names_class_and_place(self):
        done = contract(text='{"kind":"send","payload":{},"version":3}')
        self.assertEqual((done.returncode, done.stdout), (65, b""))
        self.assertRegex(done.stderr.decode(), "standard input: session_inbox: newer-version at byte 38 in "
                                               "/version: session inbox payload: its version 3 is newer")

    def test_contract_broken_command_names_the_violation(self):
        done = contract("--encode", "--target", "v0-send", text='{"kind":"reset","reason":4}')
        self.assertEqual((done.returncode, done.stdout), (65, b""))
        self.assertIn("session_inbox: schema at byte 25 in /reason: the produced value does not match wire "
                      "version 1: /reason is not a string", done.stderr.decode())

    def test_contract_losses_are_told(self):
        one = case("enc0s-deliver-metadata-without-index-zero")
        done = contract("--encode", "--target", "v0-send", text=one["input"])
        self.assertEqual((done.returncode, done.stdout.decode()), (0, one["output"] + "\n"))
        self.assertIn("2 were folded into one", done.stderr.decode())
        self.assertIn("1 of deliveryMetadata are lost", done.stderr.decode())

    def test_contract_hex_input_read(self):
        done = inspect("--contract", "session_inbox", "--hex", text=b'{"kind":"clear"}'.hex().encode())
        self.assertEqual(done.stdout, b'{"kind":"clear"}\n')

    def test_contract_wrong_options_are_usage_errors(self):
        for arguments in (["--decode", "--encode"], ["--encode"], ["--target", "v1"],
                          ["--decode", "--target", "v1"], ["--encode", "--target", "v2"],
                          ["--kind", "event"], ["--compact"], ["--batch"]):
            with self.subTest(arguments):
                self.assertEqual(contract(*arguments, text="{}").returncode, 64)
        for arguments in (["--decode"], ["--encode"], ["--target", "v1"],
                          ["--contract", "tea", "--decode"], ["--contract", "tea", "--target", "v1"]):
            with self.subTest(arguments):
                self.assertEqual(inspect(*arguments, text=b"{}").returncode, 64)


if __name__ == "__main__":
    unittest.main()
