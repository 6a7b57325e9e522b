#!/usr/bin/env python3
"""The check verb without a broker: its command line, its exit codes, its two outputs, and no secret in them."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from ports import closed_port  # noqa: E402

PROGRAM = os.environ["AGENT_BRIDGE"]
MINIMAL = """\
kafka: {{bootstrap.servers: '{servers}'{more}}}
group: g
sources:
  - topic: in
    routes: {{external_event: ev, tool_result: re, approval: ap, export_request: ex}}
"""
SECRET = "planted-password-9c8b"


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "c.yaml")

    def hanging_port(self):
        """An address where every connection is closed at once."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve():
            while True:
                try:
                    listener.accept()[0].close()
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        return f"127.0.0.1:{listener.getsockname()[1]}"

    def check(self, *words, servers=None, more="", config=None, environment=None):
        """(exit code, stdout, stderr)."""
        self.file.write_text(config or MINIMAL.format(servers=servers or closed_port(self)[1], more=more))
        done = subprocess.run([PROGRAM, "check", "-c", str(self.file), *words], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env=os.environ | (environment or {}), timeout=60)
        return done.returncode, done.stdout, done.stderr

    def test_nobody_there_is_told_within_the_timeout_and_ends_with_69(self):
        servers = closed_port(self)[1]
        began = time.monotonic()
        code, out, err = self.check("--timeout", "500ms", servers=servers)
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual((69, ""), (code, err))
        rows = [line for line in out.splitlines() if line.startswith("error")]
        self.assertEqual(1, len(rows), out)
        for word in ("connection", servers, "check bootstrap.servers", "Connection refused"):
            self.assertIn(word, rows[0])
        self.assertTrue(out.endswith("not connected, so that nothing else could be looked at\n"), out)

    def test_a_port_that_hangs_up_is_told_as_that(self):
        for more in ("", ", security.protocol: ssl"):
            with self.subTest(more):
                code, out, _ = self.check("--timeout", "2s", servers=self.hanging_port(), more=more)
                self.assertEqual(69, code)
                self.assertIn("hangs up on this client; check security.protocol and the port", out)

    def test_json_is_one_object_with_a_row_for_each_line_of_the_table(self):
        servers = closed_port(self)[1]
        code, out, err = self.check("--json", "--timeout", "500ms", servers=servers)
        self.assertEqual((69, ""), (code, err))
        self.assertEqual(1, out.count("\n"))
        report = json.loads(out)
        self.assertEqual({"config": str(self.file), "outcome": "unreachable", "exit_code": 69, "errors": 1,
                          "warnings": 0, "unknown": 0, "brokers": 0, "cluster_id": ""},
                         {name: value for name, value in report.items() if name not in ("rows", "librdkafka")})
        self.assertEqual([("ok", "library", "librdkafka"), ("error", "connection", servers)],
                         [(row["state"], row["check"], row["subject"]) for row in report["rows"]])
        self.assertEqual(report["librdkafka"], report["rows"][0]["text"])

    def test_a_wrong_configuration_is_refused_before_anybody_is_asked(self):
        for config, part in ((MINIMAL.format(servers="b:1", more="") + "lanes: 0\n", "lanes: expected 1 to 64"),
                             ("{}", "required, and missing")):
            with self.subTest(part):
                code, out, err = self.check(config=config)
                self.assertEqual((78, ""), (code, out))
                self.assertIn(part, err)
                self.assertIn("nobody was asked", err)
        done = subprocess.run([PROGRAM, "check", "-c", "/nonexistent.yaml"], capture_output=True, text=True)
        self.assertEqual(78, done.returncode)
        self.assertIn("/nonexistent.yaml", done.stderr)

    def test_wrong_usage_is_explained(self):
        for words, part in ((["extra"], "takes no argument: 'extra'"), (["--timeout", "soon"], "found 'soon'"),
                            (["--timeout", "99ms"], "100ms to 10m"), (["--timeout", "11m"], "100ms to 10m"),
                            (["--timeout"], "needs a value"), (["--yaml"], "unknown")):
            with self.subTest(words):
                code, out, err = self.check(*words)
                self.assertEqual((64, ""), (code, out))
                self.assertIn(part, err)

    def test_nothing_from_a_file_or_the_environment_is_printed(self):
        more = ", security.protocol: sasl_plaintext, sasl.mechanism: PLAIN, sasl.username: 'env:PLANTED', " \
               "sasl.password: 'env:PLANTED'"
        for words in ((), ("--json",)):
            _, out, err = self.check("--timeout", "500ms", *words, more=more, environment={"PLANTED": SECRET})
            self.assertNotIn(SECRET, out + err)

    def test_a_table_that_cannot_be_written_is_an_error(self):
        self.file.write_text(MINIMAL.format(servers=closed_port(self)[1], more=""))
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "check", "-c", str(self.file), "--timeout", "200ms"], stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(69, done.returncode)
        self.assertIn("could not be written", done.stderr)


if __name__ == "__main__":
    unittest.main()
