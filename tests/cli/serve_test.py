#!/usr/bin/env python3
"""How the daemon lives and ends: signals, the watchdog, the ledger lines, a log that nobody reads.

Runs the probe (serve_probe.c), which is ab_serve() over a relay that hangs, fails or obeys on command.
    serve_test.py PROBE
"""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

PROBE = sys.argv.pop(1)
PATIENCE_S = 20


class Probe:
    """One running probe; its log as parsed lines."""

    def __init__(self, **settings):
        self.process = subprocess.Popen(
            [PROBE] + [f"{name}={value}" for name, value in settings.items()],
            stderr=subprocess.PIPE, text=True)
        self.events = []

    def wait_for(self, event):
        """Reads the log up to and including this event."""
        while True:
            line = self.process.stderr.readline()
            if not line:
                raise AssertionError(f"the log ended without '{event}': {self.names()}")
            self.events.append(json.loads(line))
            if self.events[-1]["event"] == event:
                return self.events[-1]

    def send(self, number):
        self.process.send_signal(number)

    def end(self):
        """Waits for the end; returns the exit code and the seconds that took."""
        started = time.monotonic()
        try:
            _, rest = self.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        self.events += [json.loads(line) for line in rest.splitlines()]
        return self.process.returncode, time.monotonic() - started

    def names(self):
        return [event["event"] for event in self.events]


class ServeTest(unittest.TestCase):
    def test_sigterm_relay_that_obeys_exits_with_its_code(self):
        for number, name in ((signal.SIGTERM, "SIGTERM"), (signal.SIGINT, "SIGINT")):
            probe = Probe()
            probe.wait_for("started")
            probe.send(number)
            code, _ = probe.end()
            self.assertEqual(code, 0)
            self.assertEqual(probe.names(), ["started", "stopping", "ledger", "stopped"])
            self.assertEqual(probe.events[1]["signal"], name)
            self.assertEqual(probe.events[-1]["exit_code"], 0)

    def test_sigterm_relay_that_gives_up_exits_with_its_code(self):
        probe = Probe(stop_exit=75)
        probe.wait_for("started")
        probe.send(signal.SIGTERM)
        self.assertEqual(probe.end()[0], 75)
        self.assertEqual(probe.events[-1]["level"], "error")

    def test_sigterm_before_the_relay_runs_is_not_lost(self):
        probe = Probe(signal_first=1)
        self.assertEqual(probe.end()[0], 0)
        self.assertEqual(probe.names(), ["started", "stopping", "ledger", "stopped"])

    def test_watchdog_relay_that_hangs_ends_at_the_timeout(self):
        probe = Probe(stop_ms=-1, timeout_ms=700)
        probe.wait_for("started")
        probe.send(signal.SIGTERM)
        code, seconds = probe.end()
        self.assertEqual(code, 75)
        self.assertGreater(seconds, 0.6)
        self.assertEqual(probe.names(), ["started", "stopping", "shutdown_timeout"])

    def test_watchdog_cleanup_that_hangs_keeps_the_relays_code(self):
        for own_exit in (0, 76):
            probe = Probe(own_end_ms=50, own_exit=own_exit, free_hangs=1, timeout_ms=500)
            self.assertEqual(probe.end()[0], own_exit)
            self.assertEqual(probe.names(), ["started", "ledger", "stopped", "shutdown_timeout"])

    def test_second_signal_ends_at_once(self):
        for second in (signal.SIGTERM, signal.SIGINT):
            probe = Probe(stop_ms=-1, timeout_ms=60000)
            probe.wait_for("started")
            probe.send(signal.SIGTERM)
            probe.wait_for("stopping")
            probe.send(second)
            code, seconds = probe.end()
            self.assertEqual(code, 75)
            self.assertLess(seconds, 5)
            self.assertEqual(probe.names()[-1], "stopped_at_once")

    def test_sighup_is_told_and_changes_nothing(self):
        probe = Probe()
        probe.wait_for("started")
        probe.send(signal.SIGHUP)
        told = probe.wait_for("sighup_ignored")
        self.assertIn("restart", told["message"])
        self.assertIsNone(probe.process.poll())
        probe.send(signal.SIGTERM)
        self.assertEqual(probe.end()[0], 0)

    def test_relay_that_ends_by_itself_ends_the_process(self):
        for own_exit, level in ((0, "info"), (69, "error"), (70, "error"), (76, "error"),
                                (77, "error"), (78, "error")):
            probe = Probe(own_end_ms=100, own_exit=own_exit)
            self.assertEqual(probe.end()[0], own_exit)
            self.assertEqual(probe.names(), ["started", "ledger", "stopped"])
            self.assertEqual(probe.events[-1]["level"], level)

    def test_start_that_fails_is_told_with_what_to_do(self):
        probe = Probe(start_fails=1)
        self.assertEqual(probe.end()[0], 70)
        self.assertEqual(probe.names(), ["started", "start_failed"])
        self.assertIn("limits", probe.events[-1]["message"])

    def test_ledger_is_told_at_its_interval_and_at_the_end(self):
        probe = Probe(ledger_ms=300)
        for _ in range(3):
            ledger = probe.wait_for("ledger")
            self.assertEqual((ledger["consumed"], ledger["dropped"], ledger["balanced"]),
                             (7, 7, True))
        probe.send(signal.SIGTERM)
        probe.end()
        self.assertEqual(probe.names()[-2:], ["ledger", "stopped"])

    def test_log_that_nobody_reads_does_not_keep_the_process(self):
        """A megabyte into a pipe of 64 KiB: the signal is still served, and the exit code stands."""
        reader, writer = os.pipe()
        process = subprocess.Popen([PROBE, "flood_lines=1000"], stderr=writer)
        os.close(writer)
        try:
            time.sleep(2.5)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=PATIENCE_S), 0)
        finally:
            process.kill()
            process.wait()
            os.close(reader)

    def test_log_whose_reader_is_gone_does_not_end_the_process(self):
        reader, writer = os.pipe()
        os.close(reader)
        process = subprocess.Popen([PROBE, "flood_lines=10"], stderr=writer)
        os.close(writer)
        try:
            time.sleep(0.5)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=PATIENCE_S), 0)
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    unittest.main(verbosity=2)
