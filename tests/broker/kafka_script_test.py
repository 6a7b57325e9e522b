#!/usr/bin/env python3
"""tests/broker/kafka itself: it ends what it started and nothing else, and survives a port that is taken."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import uuid
from pathlib import Path
from unittest import mock

SCRIPT = Path(__file__).resolve().parent / "kafka"


def load():
    loader = importlib.machinery.SourceFileLoader("kafka_script", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("kafka_script", loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True  # the script has no suffix; no cache beside it
KAFKA = load()


class KafkaScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kafka-script-test.")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.cluster = KAFKA.Cluster(self.folder)
        self.addCleanup(self.cluster.stop)

    def process(self, code):
        """A Python process that says when it is ready; killed at the end."""
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        child.stdout.readline()
        return child

    def plant(self, pid, started):
        node = {"id": 1, "pid": pid, "started": started, "port": 1, "dir": str(self.folder / "node-1")}
        self.cluster.file.write_text(json.dumps({"nodes": [node]}))

    def test_stop_leaves_a_process_alone_that_has_the_number_of_one_it_started(self):
        child = self.process("import time; print(flush=True); time.sleep(60)")
        self.plant(child.pid, KAFKA.start_ticks(child.pid) - 1)
        self.assertTrue(self.cluster.stop())
        self.assertIsNone(child.poll())

    def test_stop_ends_a_process_that_ignores_sigterm_or_is_stopped(self):
        code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
        child = self.process(code)
        os.kill(child.pid, signal.SIGSTOP)
        self.plant(child.pid, KAFKA.start_ticks(child.pid))
        KAFKA.end_nodes(self.cluster.load()["nodes"], grace_s=0.3)
        self.assertEqual(-signal.SIGKILL, child.wait(10))

    def test_a_zombie_does_not_run(self):
        child = subprocess.Popen(["true"])
        self.addCleanup(child.wait)
        KAFKA.wait_gone([{"pid": child.pid, "started": KAFKA.start_ticks(child.pid)}], 10)
        self.assertIsNone(KAFKA.start_ticks(child.pid))

    def test_a_damaged_state_says_what_to_do(self):
        self.cluster.file.write_text("{")
        with self.assertRaisesRegex(KAFKA.KafkaError, "damaged.*remove it"):
            self.cluster.stop()
        self.cluster.file.unlink()

    def test_a_wrong_command_line_is_64(self):
        for words in ([], ["dance"], ["start", "--property", "novalue"], ["start", "--brokers", "2"], ["kill9"]):
            with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as ended:
                KAFKA.main(words)
            self.assertEqual(64, ended.exception.code, words)

    def test_a_taken_port_is_replaced_and_stop_leaves_logs_only(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            real = KAFKA.free_ports
            answers = [[taken.getsockname()[1], real(1)[0]]]
            with mock.patch.object(KAFKA, "free_ports", lambda count: answers.pop() if answers else real(count)):
                state = self.cluster.start(1, [], 120, fresh=True)
        self.assertEqual([], answers)
        self.assertTrue(KAFKA.node_ready(state["nodes"][0], 1))
        self.cluster.stop()
        self.assertFalse(KAFKA.runs(state["nodes"][0]))
        folder = self.folder / "node-1"
        self.assertEqual((True, False), ((folder / "server.log").exists(), (folder / "data").exists()))

    def test_a_cluster_id_may_begin_as_an_option_does(self):
        launched = mock.Mock(side_effect=KAFKA.KafkaError("formatted"))
        with mock.patch.object(KAFKA.uuid, "uuid4", lambda: uuid.UUID(int=0xF8 << 120 | 1)), \
                mock.patch.object(KAFKA.Cluster, "launch", launched), \
                self.assertRaisesRegex(KAFKA.KafkaError, "^formatted$"):
            self.cluster.start(1, [], 120, fresh=True)
        self.assertTrue(launched.call_args.args[0]["cluster_id"].startswith("-"))

    def test_a_start_that_fails_leaves_nothing_running(self):
        seen = []
        real = KAFKA.Cluster.launch

        def launch(cluster, state, node):
            real(cluster, state, node)
            seen.append(dict(node))

        with mock.patch.object(KAFKA.Cluster, "launch", launch), self.assertRaisesRegex(KAFKA.KafkaError, "server.log"):
            self.cluster.start(1, [], 0.2, fresh=True)
        self.assertEqual([False], [KAFKA.runs(node) for node in seen])
        self.assertIsNone(self.cluster.load())


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # of Popen objects that go before their processes, which is the point here
