#!/usr/bin/env python3
"""agent-bridge run without a broker: configurations it refuses, and brokers it cannot reach."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from ports import free_port  # noqa: E402

PROGRAM = os.environ["AGENT_BRIDGE"]
ROUTES = {"external_event": "out.events", "tool_result": "out.results", "approval": "out.approvals",
          "export_request": "out.exports"}
PATIENCE_S = 60


def settings(**changes):
    return {
        "kafka": {"bootstrap.servers": f"127.0.0.1:{free_port()}"},
        "group": "run-test",
        "instance": "one",
        "sources": [{"topic": "in", "routes": ROUTES}],
        "http": {"listen": "off"},
        "shutdown": {"timeout": "10s"},
    } | changes


class RunCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="agent-bridge-run.")
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "config.yaml"

    def write(self, values):
        self.file.write_text(values if isinstance(values, str) else json.dumps(values, indent=1))

    def refused(self, *arguments, **environment):
        done = subprocess.run([PROGRAM, "run", *arguments], capture_output=True, text=True,
                              env={**os.environ, **environment}, timeout=PATIENCE_S)
        self.assertEqual((done.returncode, done.stdout), (78, ""), done.stderr)
        return done.stderr


class RefusedTest(RunCase):
    def test_missing_file_says_how_to_name_one(self):
        told = self.refused("-c", str(self.file))
        self.assertIn(str(self.file), told)
        self.assertIn("-c FILE", told)
        self.assertIn("$AGENT_BRIDGE_CONFIG", told)

    def test_file_comes_from_the_environment(self):
        self.assertIn(str(self.file), self.refused(AGENT_BRIDGE_CONFIG=str(self.file)))

    def test_option_wins_over_the_environment(self):
        told = self.refused("--config", str(self.file), AGENT_BRIDGE_CONFIG="/nonexistent/other")
        self.assertNotIn("other", told)

    def test_every_mistake_is_told_at_once_with_line_and_key(self):
        self.write("kafka:\n"
                   "  bootstrap.servers: localhost:9092\n"
                   "  no.such.property: 1\n"
                   "grup: x\n"
                   "lanes: 0\n"
                   "sources: []\n")
        told = self.refused("-c", str(self.file))
        for line, key in ((3, "no.such.property"), (4, "grup"), (5, "lanes"), (6, "sources")):
            self.assertRegex(told, rf"(?m)^{self.file}:{line}:[^\n]*{key}")
        self.assertIn("agent-bridge lint", told)

    def test_secret_is_never_printed(self):
        self.write(settings(kafka={"bootstrap.servers": "localhost:9092",
                                   "sasl.password": "env:RUN_TEST_SECRET",
                                   "security.protocol": "no-such-protocol"}))
        told = self.refused("-c", str(self.file), RUN_TEST_SECRET="hunter2-is-secret")
        self.assertIn("security.protocol", told)
        self.assertNotIn("hunter2-is-secret", told)


class Daemon:
    """A running bridge; its log as parsed lines."""

    def __init__(self, case, file):
        self.process = subprocess.Popen([PROGRAM, "run", "-c", str(file)], stderr=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, text=True)
        self.lines = []
        case.addCleanup(self.close)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def wait_for(self, event):
        for line in self.process.stderr:
            self.lines.append(json.loads(line))
            if self.lines[-1]["event"] == event:
                return self.lines[-1]
        raise AssertionError(f"the log ended without '{event}': {self.lines}")

    def stop(self, number=signal.SIGTERM):
        """Returns the exit code and the seconds it took."""
        started = time.monotonic()
        self.process.send_signal(number)
        for line in self.process.stderr:
            self.lines.append(json.loads(line))
        return self.process.wait(timeout=PATIENCE_S), time.monotonic() - started


class UnreachableTest(RunCase):
    def start(self, **changes):
        self.write(settings(**changes))
        return Daemon(self, self.file)

    def test_unreachable_brokers_are_told_and_tried_on(self):
        daemon = self.start()
        first = daemon.wait_for("brokers_unreachable")
        second = daemon.wait_for("brokers_unreachable")
        self.assertEqual(first["level"], "warning")
        self.assertNotEqual(first["ts"], second["ts"])
        self.assertIsNone(daemon.process.poll())
        code, seconds = daemon.stop()
        self.assertEqual(code, 0, daemon.lines)
        self.assertLess(seconds, 10)
        names = [line["event"] for line in daemon.lines]
        self.assertEqual(names[0], "started")
        self.assertEqual(names[-2:], ["ledger", "stopped"])
        self.assertEqual((daemon.lines[-2]["consumed"], daemon.lines[-2]["balanced"]), (0, True))

    def test_sigterm_right_after_the_start_exits_well(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            daemon = self.start()
            daemon.wait_for("started")
            code, seconds = daemon.stop(number)
            self.assertEqual(code, 0, daemon.lines)
            self.assertLess(seconds, 10)

    def test_several_lanes_stop_together(self):
        daemon = self.start(lanes=4)
        daemon.wait_for("started")
        time.sleep(1)
        code, seconds = daemon.stop()
        self.assertEqual(code, 0, daemon.lines)
        self.assertLess(seconds, 10)

    def test_level_leaves_out_what_is_below_it(self):
        daemon = self.start(log={"level": "error"})
        time.sleep(1)
        code, _ = daemon.stop()
        self.assertEqual(code, 0)
        self.assertEqual([line for line in daemon.lines if line["level"] != "error"], [])

    def test_text_format_writes_no_json(self):
        self.write(settings(log={"format": "text"}))
        process = subprocess.Popen([PROGRAM, "run", "-c", str(self.file)], stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(process.kill)
        first = process.stderr.readline()
        self.assertRegex(first, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info started: .* group=run-test")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
