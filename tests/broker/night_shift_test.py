#!/usr/bin/env python3
"""docs/night-shift.md, run: each command it shows, in its order, and the output it shows."""

import json
import re
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from bridge import Bridge, program  # noqa: E402
from broker import Input  # noqa: E402
from redrive import write_config  # noqa: E402
from relay_case import RelayCase, envelope  # noqa: E402

ROUTES = {"external_event": "agents.events", "tool_result": "agents.tool-results", "approval": "agents.approvals",
          "export_request": "agents.export-requests"}
SOURCE = "agents.in"
TOPICS = [SOURCE, f"{SOURCE}.errors", f"{SOURCE}.quarantine", *ROUTES.values()]
BLOCK = re.compile(r"^```console\n\$ agent-bridge (.*?)\n(.*?)^```", re.M | re.S)


def blocks():
    """Per heading of the page the commands it shows, each with the lines of its output."""
    page = (ROOT / "docs" / "night-shift.md").read_text()
    return {part.splitlines()[0]: [(command, output.splitlines()) for command, output in BLOCK.findall(part)]
            for part in page.split("\n## ")[1:]}


def pattern_of(lines):
    """A line of `…` alone stands for any lines, `…` inside a line for any text; blanks count as one."""
    parts = []
    for line in lines:
        if line.strip() == "…":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            words = [r"\s*\S.*?".join(re.escape(piece) for piece in word.split("…")) for word in line.split()]
            parts.append(r"[ \t]*" + r"[ \t]+".join(words) + r"[^\n]*\n")
    return "".join(parts)


class NightShift(RelayCase):
    def setUp(self):
        super().setUp()
        for topic in set(TOPICS) & self.broker.topics():
            self.broker.delete([topic])
        for topic in TOPICS:
            self.broker.create(topic)
            self._made.append(topic)
        self.group = f"{self.prefix}.agent-bridge"
        self.config("config")

    def config(self, name, **changes):
        source = {"topic": SOURCE, "routes": ROUTES, **changes}
        # The tests' own default has no breaker; here it is as it comes.
        return write_config(self.broker, self.group, [source], self.folder, name, instance="night", errors=None)

    def relay(self, name, until_done=True):
        """Runs a bridge with that config until all is relayed, or until its breaker opens."""
        bridge = Bridge(json.loads((self.folder / f"{name}.yaml").read_text()), self.folder, name)
        self.addCleanup(bridge.kill9)
        bridge.start()
        if until_done:
            self.broker.wait_done(self.group, SOURCE, alive=bridge.check_alive)
        else:
            bridge.wait_event("breaker_opened", timeout_s=60)
        bridge.stop()

    def shows(self, block, code=0):
        """Runs a command of the page, and wants the output of the page."""
        command, lines = block
        done = subprocess.run([program(), *shlex.split(command)], cwd=self.folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120, check=False)
        self.assertEqual(code, done.returncode, f"{command}\n{done.stdout}{done.stderr}")
        if not re.fullmatch(pattern_of(lines), done.stdout):
            self.fail(f"docs/night-shift.md shows for: {command}\n" + "\n".join(lines) + f"\n\nit printed:\n{done.stdout}")

    def test_a_producer_with_the_wrong_schema(self):
        counts, listed, explained, dry = blocks()["A producer with the wrong schema"]
        good = [Input(SOURCE, 0, b"c-%d" % (n % 3), envelope(b"c-%d" % (n % 3), name=f"n{n}")) for n in range(6)]
        framed = [Input(SOURCE, 0, b"c-1", b"\x00\x00\x00\x00\x07" + envelope(b"c-1", name=f"n{n}")) for n in range(4)]
        self.broker.produce(good + framed)
        self.relay("config")
        self.shows(counts)
        self.shows(listed)
        self.shows(explained)
        self.shows(dry, 1)

    def test_a_broken_deploy_that_tripped_the_breaker(self):
        tried, counts, redriven, closed = blocks()["A broken deploy that tripped the breaker"]
        self.config("broken", max_value="1KiB")
        self.broker.produce([Input(SOURCE, 0, b"c-%d" % (n % 30), envelope(b"c-%d" % (n % 30), size=2000, name=f"n{n}-"))
                             for n in range(900)])
        self.relay("broken", until_done=False)
        self.shows(tried)
        self.relay("config")
        self.shows(counts)
        self.shows(redriven)
        self.relay("config")
        self.shows(closed)

    def test_an_intent_to_replay_one_customer(self):
        listed, redriven, nothing, counts = blocks()["An intent to replay one customer"]
        self.config("before", routes={**ROUTES, "approval": "dead_letter"})
        self.broker.produce([Input(SOURCE, 0, b"c-%d" % (n % 3), envelope(b"c-%d" % (n % 3), "approval", name=f"n{n}"))
                             for n in range(9)])
        self.relay("before")
        self.shows(listed)
        self.shows(redriven)
        self.shows(nothing)
        self.shows(counts)

    def test_the_page_is_held_to_its_words(self):
        """The comparison itself can fail."""
        self.assertTrue(re.fullmatch(pattern_of(["a … b", "…", "c"]), "a x y b\nmore\nc\n"))
        self.assertTrue(re.fullmatch(pattern_of(["a b", "…"]), "a  b\n"))
        self.assertFalse(re.fullmatch(pattern_of(["a b"]), "a c\n"))
        self.assertFalse(re.fullmatch(pattern_of(["a b"]), "a b\nmore\n"))
        self.assertFalse(re.fullmatch(pattern_of(["…", "c"]), "a\nb\n"))


if __name__ == "__main__":
    unittest.main()
