"""The frame of a broker test: topics of its own on the shared broker, a config for them, an audit at the end."""

import shutil
import time
import unittest
import uuid
from dataclasses import dataclass, field

from audit import Audit, Settings
from bridge import Bridge, config
from broker import Broker, Input, wait_until
from oracle import VARIANTS, Oracle, Policy
from reference import Reference

REFERENCE = Reference()
ENVELOPE = REFERENCE.classes["AgentEnvelope"]


@dataclass
class Layout:
    """One source with its output topics."""

    source: str
    group: str
    routes: dict
    errors: str
    quarantine: str
    counts: dict = field(default_factory=dict)  # topic -> partitions

    @property
    def outputs(self):
        """Every topic the bridge may write to."""
        return [topic for topic in self.counts if topic != self.source]

    def source_config(self, **more):
        return {"topic": self.source, "routes": self.routes, **more}

    def settings(self, **more):
        return Settings(self.group, REFERENCE, self.errors, self.quarantine, self.counts, **more)

    def oracle(self, **policy):
        return Oracle(REFERENCE, Policy(self.routes, **policy))


def envelope(key, variant="external_event", event_time_ms=1700000000000, size=0, name=""):
    """A good envelope of a variant, filled up to about size bytes; name makes it one of a kind."""
    filler = (name.encode() + b"\xff\x00" * (size // 2))[:max(size, len(name))]
    payload = {
        "external_event": filler,
        "tool_result": {"intent_id": name or "i", "entity_key": key, "status": 1, "payload": filler},
        "approval": {"intent_id": name or "i", "approved": True, "approver": "p" * size},
        "export_request": {"request_id": (name or "r") + "q" * size},
    }[variant]
    return ENVELOPE(entity_key=key, event_time_ms=event_time_ms, **{variant: payload}).SerializeToString()


def numbered_inputs(source, partitions, count, keys=97, size=1000, first=0):
    """count records of all variants, each key in one partition, values that differ in every one."""
    now = int(time.time() * 1000)
    for number in range(first, first + count):
        key = b"entity-%03d" % (number % keys)
        value = envelope(key, VARIANTS[number % 4], now - number, size, f"n{number}-")
        yield Input(source, number % keys % partitions, key, value, (("n", b"%d" % number),), now - number)


class RelayCase(unittest.TestCase):
    """Each test makes its own topics and removes them, so that tests share nothing but the broker."""

    @classmethod
    def setUpClass(cls):
        cls.broker = Broker()

    @classmethod
    def tearDownClass(cls):
        cls.broker.close()

    def setUp(self):
        self._began = time.monotonic()
        self.prefix = f"{type(self).__name__.lower()}-{uuid.uuid4().hex[:8]}"
        # Configs and logs of the bridges; kept until the same test runs again.
        self.folder = self.broker.folder / "tests" / self.id().partition(".")[2]
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self._made = []
        self.addCleanup(lambda: self.broker.delete(self._made))

    def tell(self, what):
        """For the log of a long test."""
        print(f"{self._testMethodName}: {what} after {time.monotonic() - self._began:.0f} s", flush=True)

    def layout(self, partitions=4, outputs=None, source_config=None, counts=None, **routes):
        """Makes the topics of one source. outputs holds topic properties of the variants' topics, counts
        their numbers of partitions; routes overrides a variant's route with a word."""
        counts = {"external_event": 3, "tool_result": 5, "approval": 2, "export_request": 4, "errors": 3,
                  "quarantine": 3, **(counts or {})}
        source = f"{self.prefix}.in"
        layout = Layout(source, f"{self.prefix}.group", {}, f"{source}.errors", f"{source}.quarantine")
        self.make(layout, source, partitions, **(source_config or {}))
        for variant in VARIANTS:
            layout.routes[variant] = routes.get(variant, f"{self.prefix}.{variant}")
            if variant not in routes:
                self.make(layout, layout.routes[variant], counts[variant], **(outputs or {}))
        if "unknown_variant" in routes:
            layout.routes["unknown_variant"] = routes["unknown_variant"]
        self.make(layout, layout.errors, counts["errors"])
        self.make(layout, layout.quarantine, counts["quarantine"])
        return layout

    def make(self, layout, topic, partitions, **properties):
        self.broker.create(topic, partitions, **properties)
        self._made.append(topic)
        layout.counts[topic] = partitions

    def bridge(self, layout, name="bridge", host=None, source=None, **sections):
        """A bridge for a layout, not started yet; killed at the end of the test whatever happens."""
        sections.setdefault("instance", name)  # None: left out, so that it is the host's name
        settings = config(self.broker, layout.group, [layout.source_config(**(source or {}))], **sections)
        bridge = Bridge(settings, self.folder, name, host)
        self.addCleanup(bridge.kill9)
        return bridge

    def wait_done(self, layout, *bridges, timeout_s=60):
        def alive():
            for bridge in bridges:
                bridge.check_alive()
        self.broker.wait_done(layout.group, layout.source, timeout_s, alive)

    def audit(self, inputs, layout, policy=None, settings=None):
        """Expectations of the oracle for inputs that have been written."""
        oracle, settings = layout.oracle(**(policy or {})), settings or layout.settings()
        audit = Audit()
        for item in inputs:
            self.assertIsNotNone(item.offset, "the test's own writing left a record out")
            verdict = oracle.judge(item.key, item.value, item.headers, item.timestamp_ms)
            audit.expect_verdict(item, verdict, settings)
        return audit

    def progress(self, layout):
        """Source records that are done for good."""
        return sum(offset or 0 for offset in self.broker.committed(layout.group, layout.source).values())

    def wait_progress(self, layout, records, *bridges, timeout_s=90):
        def look():
            for bridge in bridges:
                bridge.check_alive()
            return self.progress(layout) >= records
        wait_until(f"{records} records of {layout.source} are done", look, timeout_s, 0.05)

    def wait_members(self, layout, count, timeout_s=60):
        """Waits until so many members of the group each hold a partition."""
        def look():
            members = self.broker.members(layout.group)
            return len(members) == count and all(partitions > 0 for _, partitions in members)
        wait_until(f"group {layout.group} has {count} members at work", look, timeout_s)

    def assert_clean(self, audit, topics, settled_s=60):
        """Waits until no transaction is open on the topics, reads them to their ends and wants no problem."""
        for topic in topics:
            wait_until(f"no transaction is open on {topic}",
                       lambda: self.broker.ends(topic) == self.broker.ends(topic, "read_uncommitted"), settled_s)
        problems = audit.see_all(self.broker.read(topics)).finish()
        self.assertEqual([], problems, "\n".join(problems))
