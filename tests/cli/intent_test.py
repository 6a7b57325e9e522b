#!/usr/bin/env python3
"""`agent-bridge intent sign|verify`, against golden/intent-signature."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import reference  # noqa: E402

GOLDEN = ROOT / "golden" / "intent-signature" / "v1" / "cases.jsonl"
CASES = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


class IntentTest(unittest.TestCase):
    def setUp(self):
        self.program = reference.agent_bridge()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.keyring = self.folder / "keyring"
        self.keyring.write_text(CASES[0]["keyring"], encoding="utf-8")

    def run_intent(self, *arguments, data=b"", env=None):
        return subprocess.run([self.program, "intent", *arguments], input=data, capture_output=True,
                              timeout=30, env={**os.environ, **(env or {})}, check=False)

    def sign(self, *arguments, **more):
        return self.run_intent("sign", "--keyring", f"file:{self.keyring}", *arguments, **more)

    def verify(self, *arguments, **more):
        return self.run_intent("verify", "--keyring", f"file:{self.keyring}", *arguments, **more)

    def test_each_golden_intent_is_signed_and_verified(self):
        for case in CASES:
            with self.subTest(case["name"]):
                done = self.sign("--key-id", case["key_id"], data=bytes.fromhex(case["hex"]))
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertEqual(done.stdout.hex(), case["signed_hex"])
                done = self.verify(data=done.stdout)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"good\n", b""))

    def test_hex_and_files_and_variables(self):
        case = CASES[0]
        file = self.folder / "intent.hex"
        file.write_text(case["hex"] + "\n", encoding="utf-8")
        done = self.run_intent("sign", "--hex", "--keyring", "env:KEYS", "--key-id", case["key_id"],
                               str(file), env={"KEYS": case["keyring"]})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout.decode(), case["signed_hex"] + "\n")
        done = self.verify("--hex", data=done.stdout)
        self.assertEqual((done.returncode, done.stdout), (0, b"good\n"))

    def test_what_is_wrong_is_named_on_stdout_and_exits_1(self):
        signed = bytes.fromhex(CASES[0]["signed_hex"])
        self.keyring.write_text("other=b25l\nops-1=b25l\n", encoding="utf-8")
        for data, word in ((b"", b"unsigned_intent"), (signed, b"bad_signature"),
                           (signed.replace(b"ops-1", b"ops-9"), b"unknown_signing_key")):
            done = self.verify(data=data)
            self.assertEqual((done.returncode, done.stdout), (1, word + b"\n"))
            self.assertIn(b"standard input", done.stderr)

    def test_keyring_that_cannot_be_read_exits_78_and_shows_no_key(self):
        self.keyring.write_text("ops-1=hunter2*\n", encoding="utf-8")
        done = self.verify()
        self.assertEqual(done.returncode, 78)
        self.assertIn(b"line 1 at byte 13", done.stderr)
        self.assertNotIn(b"hunter2", done.stderr)
        done = self.run_intent("verify", "--keyring", "file:/nowhere/keys")
        self.assertEqual(done.returncode, 78)
        self.assertIn(b"/nowhere/keys", done.stderr)
        done = self.run_intent("verify", "--keyring", "env:NO_SUCH_KEYS")
        self.assertEqual(done.returncode, 78)
        self.assertIn(b"NO_SUCH_KEYS", done.stderr)

    def test_bytes_that_are_no_intent_exit_65(self):
        done = self.verify(data=b"\x0a\x05a")
        self.assertEqual(done.returncode, 65)
        self.assertIn(b"decode_truncated at byte 1 in intent_id", done.stderr)
        done = self.sign("--key-id", "nobody")
        self.assertEqual((done.returncode, done.stdout), (65, b""))
        self.assertIn(b"nobody", done.stderr)
        done = self.sign("--key-id", "ops-1", str(self.folder / "gone"))
        self.assertEqual(done.returncode, 66)

    def test_wrong_usage_exits_64(self):
        for arguments in ([], ["sing"], ["verify"], ["verify", "--keyring", "keys.txt"],
                          ["verify", "--keyring", "env:K", "--key-id", "x"],
                          ["sign", "--keyring", "env:K"], ["verify", "--keyring", "env:K", "a", "b"],
                          ["verify", "--wrong"]):
            with self.subTest(arguments):
                done = self.run_intent(*arguments)
                self.assertEqual((done.returncode, done.stdout), (64, b""))
                self.assertIn(b"agent-bridge intent", done.stderr)


if __name__ == "__main__":
    unittest.main()
