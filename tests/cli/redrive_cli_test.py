#!/usr/bin/env python3
"""The redrive verb without a broker: its command line, its exit codes, and when it refuses to begin."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from ports import closed_port  # noqa: E402

PROGRAM = os.environ["AGENT_BRIDGE"]
CONFIG = """\
kafka: {{bootstrap.servers: '{servers}'}}
group: g
errors: {{quarantine: {quarantine}}}
sources:
  - topic: in
    routes: {{external_event: ev, tool_result: re, approval: ap, export_request: ex}}
"""


class Redrive(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "c.yaml")
        _, self.servers = closed_port(self)

    def redrive(self, *words, quarantine="in.quarantine"):
        """(exit code, stdout, stderr)."""
        self.file.write_text(CONFIG.format(servers=self.servers, quarantine=quarantine))
        done = subprocess.run([PROGRAM, "redrive", "-c", str(self.file), *words], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def refuses(self, code, text, *words, **more):
        found, out, complaint = self.redrive(*words, **more)
        self.assertEqual((code, ""), (found, out), complaint)
        self.assertIn(text, complaint)

    def test_words_that_are_wrong_are_usage_errors(self):
        for words, text in (
                (("--reason", "no_such_reason"), "'no_such_reason' is no reason"),
                (("--reason", "activation_error"), "'activation_error' is no reason"),
                (("--record", "in:1"), "names no record"),
                (("--since", "yesterday"), "--since takes"),
                (("--until", "1"), "--until takes"),
                (("--to", ""), "--to takes"),
                (("--to", "x" * 250), "--to takes"),
                (("--rate", "0"), "--rate takes"),
                (("--rate", "-1"), "--rate takes"),
                (("--max", "1x"), "--max takes"),
                (("--max", "99999999999999999999"), "--max takes"),
                (("--resume", "a.b"), "is no job id"),
                (("--timeout", "1"), "--timeout takes"),
                (("--source",), "needs a value"),
                (("--yes=1",), "takes no value"),
                (("here",), "takes no argument"),
                (("--source", "other"), "other is no source of this configuration"),
                (("--to", "in.quarantine"), "in.quarantine is a topic of dead letters"),
                (("--to", "in.errors"), "in.errors is a topic of dead letters")):
            with self.subTest(words=words):
                self.refuses(64, text, "--yes", *words)

    def test_resume_takes_no_conditions(self):
        for words in (("--reason", "oversized"), ("--force",), ("--again",), ("--max", "1"), ("--to", "route"),
                      ("--since", "1h"), ("--key", "k"), ("--record", "in:0:1"), ("--source", "in")):
            with self.subTest(words=words):
                self.refuses(64, "--resume goes on with what the job was begun with", "--resume", "job-1", "--yes",
                             *words)

    def test_without_a_terminal_it_has_to_be_told_what_to_do(self):
        self.refuses(64, "there is no terminal to ask at")

    def test_too_many_records_and_a_selection_too_long_to_remember_are_refused(self):
        many = [word for n in range(65) for word in ("--record", f"in:0:{n}")]
        self.refuses(64, "at most 64 records", *many, "--yes")
        self.refuses(64, "the key is too long", "--key", "k" * 9000, "--yes")
        self.refuses(64, "too long to be remembered", "--key", "\u00e9" * 700, "--yes")

    def test_without_quarantine_there_is_nothing_to_redrive_from(self):
        self.refuses(78, "errors.quarantine is off", "--yes", quarantine="off")

    def test_a_wrong_config_is_78(self):
        self.refuses(78, "the configuration is refused", "--yes", quarantine="[]")

    def test_nobody_there_is_69_within_the_timeout(self):
        for words in (("--yes",), ("--dry-run",), ("--yes", "--resume", "job-1")):
            with self.subTest(words=words):
                self.refuses(69, "no broker answers", "--timeout", "500ms", *words)

    def test_help_names_every_option(self):
        done = subprocess.run([PROGRAM, "redrive", "--help"], capture_output=True, text=True, timeout=30)
        self.assertEqual(0, done.returncode)
        for option in ("--reason", "--source", "--record", "--key", "--since", "--until", "--config", "--to", "--dry-run",
                       "--yes", "--force", "--again", "--rate", "--max", "--resume", "--json", "--timeout"):
            self.assertIn(f"{option} ", done.stdout)


if __name__ == "__main__":
    unittest.main()
