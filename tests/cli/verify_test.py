#!/usr/bin/env python3
"""The verify verb without a broker: its command line and its exit codes. tests/broker/verify_test.py has the rest."""

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
kafka: {{bootstrap.servers: '{servers}', sasl.password: planted-password-9c8b}}
group: g
sources:
  - topic: in
    routes: {{external_event: ev, tool_result: re, approval: ap, export_request: ex}}
"""


class Verify(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "c.yaml")

    def verify(self, *words, config=None):
        """(exit code, stdout, stderr); nobody listens where the config says."""
        self.file.write_text(config or CONFIG.format(servers=closed_port(self)[1]))
        done = subprocess.run([PROGRAM, "verify", "-c", str(self.file), *words], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def test_nobody_there_ends_with_69_and_no_result(self):
        for words in ((), ("--json",), ("--since", "1h")):
            code, out, err = self.verify("--timeout", "300ms", *words)
            self.assertEqual((69, ""), (code, out), words)
            self.assertTrue(err.startswith("agent-bridge verify: "), err)
            self.assertIn("bootstrap.servers", err)
            self.assertNotIn("planted-password", err)

    def test_wrong_words_are_refused_before_anybody_is_asked(self):
        for words, wanted in (((["--since"]), "needs a value"), (["--since", "yesterday"], "--since takes a duration"),
                              (["--until", "1h"], "unknown or ambiguous option"), (["in:0:1"], "takes no argument"),
                              (["--timeout", "1ms"], "--timeout takes 100ms to 10m"), (["-x"], "unknown option '-x'"),
                              (["--json=1"], "takes no value")):
            code, out, err = self.verify(*words)
            self.assertEqual((64, ""), (code, out), words)
            self.assertIn(wanted, err)
            self.assertIn("Try 'agent-bridge verify --help'", err)

    def test_a_configuration_that_is_wrong_is_told_with_its_mistakes(self):
        code, out, err = self.verify(config="group: g\n")
        self.assertEqual((78, ""), (code, out))
        self.assertIn("kafka", err)
        self.assertIn("agent-bridge verify: the configuration is refused", err)

    def test_help_names_every_option_and_exit_code(self):
        done = subprocess.run([PROGRAM, "verify", "--help"], capture_output=True, text=True, timeout=10)
        self.assertEqual(0, done.returncode)
        for word in ("--config", "--since", "--json", "--timeout", " 0 ", " 1 ", " 64 ", " 69 ", " 70 ", " 75 ", " 77 ",
                     " 78 "):
            self.assertIn(word, done.stdout)


if __name__ == "__main__":
    unittest.main()
