#!/usr/bin/env python3
"""agent-bridge demo, as people and scripts see it: what it prints, where, how wide, and how it ends.

Whether every byte arrived is the demo's own business, and tests/mock/audit_test.c holds it to that.
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import bridge  # noqa: E402

PROGRAM = bridge.program()
PATIENCE_S = 60
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
PORT = re.compile(r"127\.0\.0\.1:\d+")
FOLDER = re.compile(r"agent-bridge-demo-\w+")
ROW = re.compile(r"^  (routed|answered|dead_lettered|dropped) +(.+?) +(\d+)(  |$)")

REASONS = ("tombstone", "oversized", "decode_truncated", "decode_varint", "decode_bad_tag",
           "decode_wire_type", "decode_group", "invalid_utf8", "framed_payload", "unknown_variant",
           "payload_not_set", "missing_entity_key", "key_mismatch", "missing_intent_id", "hop_limit")
VARIANTS = ("external_event", "tool_result", "approval")


def environment(**more):
    values = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    return {**values, "TERM": "xterm", **more}


def demo(*arguments):
    """(exit code, stdout, stderr)."""
    done = subprocess.run([PROGRAM, "demo", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=environment(), timeout=PATIENCE_S, check=False)
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def demo_on_terminal(columns, **more):
    """(exit code, what the terminal got)."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([PROGRAM, "demo"], stdin=subprocess.DEVNULL, stdout=child,
                               stderr=subprocess.PIPE, env=environment(**more))
    os.close(child)
    got = b""
    deadline = time.monotonic() + PATIENCE_S
    try:
        while time.monotonic() < deadline:
            if not select.select([parent], [], [], 1)[0]:
                continue
            try:
                part = os.read(parent, 65536)
            except OSError:  # the terminal's other end is closed: all was read
                break
            if not part:
                break
            got += part
        return process.wait(PATIENCE_S), got.decode("utf-8").replace("\r\n", "\n")
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
        os.close(parent)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.code, cls.out, cls.err = demo()

    def test_ends_well_and_says_nothing_on_stderr(self):
        self.assertEqual((self.code, self.err), (0, ""), self.out)

    def test_has_a_row_for_every_variant_and_reason(self):
        rows = {(match.group(1), match.group(2)): int(match.group(3))
                for match in map(ROW.match, self.out.splitlines()) if match}
        for variant in VARIANTS:
            self.assertGreater(rows.get(("routed", variant), 0), 10, variant)
        self.assertGreater(rows.get(("answered", "export_request"), 0), 10)
        for reason in REASONS:
            self.assertGreater(rows.get(("dead_lettered", reason), 0), 0, reason)
        self.assertEqual(len(rows), len(VARIANTS) + len(REASONS) + 2)

    def test_ledger_balances_and_is_the_sum_of_the_rows(self):
        ledger = re.search(r"(\d+) consumed = (\d+) routed \+ (\d+) answered \+ (\d+) dead_lettered "
                           r"\+ (\d+) dropped:\s+"
                           r"it balances", self.out)
        self.assertIsNotNone(ledger, self.out)
        consumed, routed, answered, dead, dropped = map(int, ledger.groups())
        self.assertEqual(consumed, routed + answered + dead + dropped)
        self.assertIn(f"{consumed} records are written", self.out)
        counts = {"routed": 0, "answered": 0, "dead_lettered": 0, "dropped": 0}
        for match in map(ROW.match, self.out.splitlines()):
            if match:
                counts[match.group(1)] += int(match.group(3))
        self.assertEqual(counts, {"routed": routed, "answered": answered, "dead_lettered": dead,
                                  "dropped": dropped})

    def test_shows_examples_as_json_of_the_codec(self):
        self.assertRegex(self.out, r'"toolResult":\s*\{"completedAtMs":\s*"\d+"')
        self.assertIn('"field":"tool_result.error_message"', self.out)
        self.assertRegex(self.out, r'"requestId":\s*"export-\d+"')
        self.assertRegex(self.out, r'"source": "agents\.in:\d+:\d+"')

    def test_leaves_no_folder_behind(self):
        folder = re.search(r"^    dir: (\S+)$", self.out, re.M).group(1)
        self.assertIn("agent-bridge-demo-", folder)
        self.assertFalse(os.path.exists(folder))

    def test_says_what_it_does_not_prove_and_what_comes_next(self):
        self.assertIn("Exactly-once: the embedded broker keeps no offsets", self.out)
        for command in ("make broker", "agent-bridge lint", "agent-bridge run", "agent-bridge inspect"):
            self.assertIn(command, self.out)

    def test_shows_a_configuration_that_lint_takes(self):
        text = self.out.split("The configuration\n")[1].split("\n\n")[0]
        done = subprocess.run([PROGRAM, "lint", "-c", "/dev/stdin"], input=text.encode(),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertNotIn(b"error", done.stdout)
        self.assertIn(done.returncode, (0, 1), done.stdout)

    def test_a_pipe_gets_no_colour_and_at_most_100_columns(self):
        self.assertNotIn("\x1b", self.out)
        self.assertLessEqual(max(map(len, self.out.splitlines())), 100)

    def test_a_second_run_prints_the_same_and_verbose_adds_the_log_on_stderr(self):
        code, out, err = demo("-v")
        self.assertEqual(code, 0, err)
        self.assertEqual(FOLDER.sub("", PORT.sub("", out)), FOLDER.sub("", PORT.sub("", self.out)))
        for event in ("lane_started", "partitions_assigned", "dead_letter", "reason=invalid_utf8"):
            self.assertIn(event, err)


class Terminal(unittest.TestCase):
    def test_80_columns_are_enough_and_there_is_colour(self):
        code, out = demo_on_terminal(80)
        self.assertEqual(code, 0, out)
        self.assertIn("\x1b[1mThe ledger\x1b[0m", out)
        wide = [line for line in ESCAPE.sub("", out).splitlines()
                if len(line) > 80 and PROGRAM not in line]
        self.assertEqual(wide, [])

    def test_no_color_is_respected(self):
        code, out = demo_on_terminal(120, NO_COLOR="1")
        self.assertEqual(code, 0, out)
        self.assertNotIn("\x1b", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 100 + len(PROGRAM))


class CommandLine(unittest.TestCase):
    def test_help_tells_options_and_exit_codes(self):
        code, out, err = demo("--help")
        self.assertEqual((code, err), (0, ""))
        for word in ("--verbose", "NO_COLOR", "Exit codes", "exactly-once"):
            self.assertIn(word, out)

    def test_wrong_usage_is_64(self):
        for arguments, word in ((("--fast",), "--fast"), (("now",), "'now'"), (("-x",), "-x")):
            with self.subTest(arguments):
                code, out, err = demo(*arguments)
                self.assertEqual((code, out), (64, ""))
                self.assertIn(word, err)

    def test_time_that_is_up_ends_it_with_1_and_words(self):
        process = subprocess.Popen([PROGRAM, "demo"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=environment())
        self.assertIn(b"agent-bridge demo", process.stdout.readline())
        process.send_signal(signal.SIGALRM)  # its own alarm clock, set to 15 seconds
        _, err = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"not done after 15 seconds", err)


if __name__ == "__main__":
    unittest.main()
