"""Redrive jobs under test, and an audit of what they wrote: each original once, and marked once.

The audit shares no code with agent-bridge: it knows the originals because the test wrote them, and which
quarantine record holds which by the source header.
"""

import json
import subprocess
from collections import Counter
from dataclasses import dataclass

from audit import COPY_HEADER, differ
from bridge import _die_with_parent, config, program
from broker import wait_until
from oracle import HOPS_HEADER, SOURCE_HEADER, source_text

MARKER_HEADER = "__agent_bridge.redriven"
PROBLEMS_SHOWN = 20


class Job:
    """A process of agent-bridge redrive."""

    def __init__(self, config_file, words, log_file):
        self.log_file, self.output_file = log_file, log_file.with_suffix(".out")
        with open(log_file, "wb") as log, open(self.output_file, "wb") as output:
            self.process = subprocess.Popen([program(), "redrive", "-c", str(config_file), *words],
                                            stdin=subprocess.DEVNULL, stdout=output, stderr=log,
                                            preexec_fn=_die_with_parent)

    def log(self):
        return self.log_file.read_text("utf-8", "replace")

    def events(self, name):
        found = []
        for line in self.log().splitlines():
            if line.startswith("{") and line.endswith("}"):
                event = json.loads(line)
                if event.get("event") == name:
                    found.append(event)
        return found

    def id(self, timeout_s=60):
        """The job's id, once it is remembered by the brokers."""
        def look():
            if self.process.poll() is not None and not self.events("redrive_begun"):
                raise AssertionError(f"the job ended with {self.process.returncode} before it began:\n{self.log()}")
            return self.events("redrive_begun")
        return wait_until("the job has begun", look, timeout_s, 0.02)[0]["job"]

    def kill9(self):
        """SIGKILL and wait. Returns whether it was still at work."""
        alive = self.process.poll() is None
        if alive:
            self.process.kill()
        self.process.wait(30)
        return alive

    def wait(self, wanted=0, timeout_s=120):
        """Waits for its end, and wants that exit code (None: any). Returns what it printed."""
        code = self.process.wait(timeout_s)
        output = self.output_file.read_text()
        if wanted is not None and code != wanted:
            raise AssertionError(f"the job ended with {code}, {wanted} was expected:\n{output[-2000:]}\n{self.log()}")
        return output

    def result(self, wanted=0, timeout_s=120):
        """With --json: the objects of the records that stayed, and the last object."""
        lines = [json.loads(line) for line in self.wait(wanted, timeout_s).splitlines()]
        return lines[:-1], lines[-1]


def write_config(broker, group, sources, folder, name="redrive", **sections):
    file = folder / f"{name}.yaml"
    file.write_text(json.dumps(config(broker, group, sources, **sections), indent=2))
    return file


@dataclass(slots=True)
class Original:
    """One original that a job has to write."""

    item: object  # broker.Input
    topic: str  # where to
    partition: int
    hops: int = 1
    key: bytes | None = None  # of a route: the entity's
    routed: bool = False  # carries the source header before the hops

    def differences(self, record):
        item = self.item
        headers = tuple(item.headers)
        if self.routed:
            headers += ((SOURCE_HEADER, _source(item)),)
        headers += ((HOPS_HEADER, b"%d" % self.hops),)
        key = self.key if self.routed else item.key
        return (differ("partition", self.partition, record.partition) + differ("key", key, record.key)
                + differ("value", item.value, record.value) + differ("headers", headers, record.headers)
                + differ("timestamp", item.timestamp_ms, record.timestamp_ms))


class RedriveAudit:
    """What was to be written once is there once; what was written is marked once, nothing else is."""

    def __init__(self, ordered=True):
        """ordered: by one job, which keeps the order of each key; of several, each keeps its own."""
        self._ordered = ordered
        self._wanted = {}  # name of an original -> Original
        self._seen = Counter()
        self._quarantine = {}  # coordinates of a quarantine record -> name of its original
        self._marks = Counter()
        self._last = {}
        self._kinds = Counter()
        self._problems = []

    def expect(self, original):
        """The test's first header names each of its records."""
        self._wanted[_name(original.item.headers)] = original

    def see_target(self, record):
        """A record of a target topic that a job has written."""
        name = _name(record.headers)
        wanted = self._wanted.get(name)
        if wanted is None:
            self._report("unexpected", f"{record.where}: {name!r}")
            return
        self._seen[name] += 1
        if self._seen[name] > 1:
            self._report("doubled", f"{record.where}: {name!r} once more")
            return
        for difference in wanted.differences(record) + differ("topic", wanted.topic, record.topic):
            self._report("altered", f"{record.where}: {name!r}: {difference}")
        self._check_order(record, wanted.item)

    def _check_order(self, record, item):
        place = (record.topic, record.partition, item.topic, item.partition, record.key)
        if self._ordered and record.key is not None and item.offset < self._last.get(place, -1):
            self._report("reordered", f"{record.where}: source offset {item.offset}")
        self._last[place] = max(self._last.get(place, -1), item.offset)

    def see_quarantine(self, record):
        """Any record of the quarantine topic: a copy or a marker."""
        if record.headers and record.headers[-1][0] == COPY_HEADER:
            self._quarantine[record.where] = record.header(SOURCE_HEADER)
            return
        if record.key is not None or record.value is not None or len(record.headers) != 1 \
                or record.headers[0][0] != MARKER_HEADER:
            self._report("unexpected", f"{record.where} is neither a copy nor a marker: {record.headers}")
            return
        marked, _, job = record.headers[0][1].decode().rpartition(":")
        topic, partition, offset = marked.rsplit(":", 2)
        if (topic, int(partition)) != (record.topic, record.partition) or int(offset) >= record.offset or not job:
            self._report("unexpected", f"{record.where} marks {marked!r} for {job!r}")
        self._marks[marked] += 1

    def finish(self):
        """All problems: counts by kind, then the first ones in words."""
        sources = {_source(original.item): name for name, original in self._wanted.items()}
        marked = Counter()
        for place, count in self._marks.items():
            name = sources.get(self._quarantine.get(place))
            if name is None:
                self._report("marked", f"{place} is marked and nothing was to be redriven from it")
            marked[name] += count
        for name in self._wanted:
            if self._seen[name] == 0:
                self._report("missing", f"{name!r} was not written")
            if marked[name] != 1:
                self._report("marked", f"{name!r} is marked {marked[name]} times")
        if not self._wanted:
            self._report("void", "nothing was expected")
        if not self._kinds:
            return []
        return [", ".join(f"{count} {kind}" for kind, count in sorted(self._kinds.items()))] + self._problems

    def _report(self, kind, text):
        self._kinds[kind] += 1
        if len(self._problems) < PROBLEMS_SHOWN:
            self._problems.append(f"{kind}: {text}")


def _name(headers):
    return headers[0] if headers else None


def _source(item):
    return source_text(item.topic, item.partition, item.offset, item.timestamp_ms)
