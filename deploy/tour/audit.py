"""Whether each record of the source came out once, unaltered and in order, and each export request has its answer.

Reads what kcat prints: a client that shares no code with agent-bridge. What must become of a record is
in deploy/samples/records.tsv, where the reference runtime put it; what an export request is answered with too,
provided that deploy/samples/states.tsv was published before.
"""

from collections import Counter
from typing import NamedTuple

SOURCE = "agents.in"
ROUTED = ("agents.events", "agents.results", "agents.approvals")
STATES, ANSWERS = "agents.snapshots", "agents.snapshots.answers"
ERRORS, QUARANTINE = SOURCE + ".errors", SOURCE + ".quarantine"
OUTPUTS = (*ROUTED, ANSWERS, ERRORS, QUARANTINE)
TOPICS = (SOURCE, *OUTPUTS, STATES)
# Sizes first, so that any bytes may follow; -1 is the size of NULL.
KCAT_FORMAT = r"%p %o %T %K %S\n%k%s\n%h\n"
PROBLEMS_SHOWN = 10


class Record(NamedTuple):
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: dict  # of the bridge's own, none of whose values holds a comma before an underscore


class Wanted(NamedTuple):
    """What must become of a record: the topic or the reason that it comes to, and an export request's answer."""

    outcome: str
    answer: bytes | None


def read_samples(path):
    """(key, value) -> Wanted."""
    wanted = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            _, key, value, outcome, *answer = line.split("\t")
            wanted[bytes.fromhex(key), None if value == "-" else bytes.fromhex(value)] = Wanted(
                outcome, bytes.fromhex(answer[0]) if answer else None)
    return wanted


def parse_dump(data):
    """The records in kcat's output under KCAT_FORMAT."""
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        partition, offset, timestamp, key_size, value_size = map(int, data[at:end].split())
        at = end + 1
        key, value = None, None
        if key_size >= 0:
            key = data[at:at + key_size]
            at += key_size
        if value_size >= 0:
            value = data[at:at + value_size]
            at += value_size
        end = data.index(b"\n", at + 1)
        if data[at:at + 1] != b"\n":
            raise ValueError(f"kcat's output is not as asked for at byte {at}")
        words = data[at + 1:end].decode("utf-8", "replace").split(",__")
        headers = dict(word.removeprefix("__").partition("=")[::2] for word in words if word)
        yield Record(partition, offset, timestamp, key, value, headers)
        at = end + 1


class Audit:
    """records: topic -> the records that a read_committed reader found in it."""

    def __init__(self, samples, records):
        self.inputs = {}
        self.problems = []
        self.kinds = Counter()
        self._samples = samples
        self._records = records
        for record in records[SOURCE]:
            source = f"{SOURCE}:{record.partition}:{record.offset}:{record.timestamp_ms}"
            self.inputs[source] = record

    def _report(self, kind, text):
        self.kinds[kind] += 1
        if len(self.problems) < PROBLEMS_SHOWN:
            self.problems.append(f"{kind}: {text}")

    def run(self):
        """A line that says what is wrong, or nothing."""
        outcomes = {topic: self._seen(topic) for topic in OUTPUTS}
        for source, record in self.inputs.items():
            sample = self._samples.get((record.key, record.value))
            if sample is None:
                self._report("unknown", f"{source} is none of the samples")
                continue
            wanted = sample.outcome
            homes = {wanted} if wanted in OUTPUTS else {ERRORS, QUARANTINE}
            for topic, seen in outcomes.items():
                if (source in seen) != (topic in homes):
                    kind = "missing" if topic in homes else "astray"
                    self._report(kind, f"{source} ({wanted}) in {topic}")
            if source in outcomes[ANSWERS]:
                self._judge_answer(source, sample, record, outcomes[ANSWERS][source])
            if wanted not in OUTPUTS and source in outcomes[ERRORS]:
                reason = outcomes[ERRORS][source].headers.get("agent_bridge.reason")
                if reason != wanted:
                    self._report("altered", f"{source}: reason {reason}, not {wanted}")
        if not self.inputs:
            self._report("void", f"{SOURCE} is empty")
        if self.kinds:
            return ", ".join(f"{n} {kind}" for kind, n in self.kinds.items()) + "; " + "; ".join(self.problems)
        return ""

    def _judge_answer(self, source, sample, request, answer):
        """The bytes that the reference runtime expects, made from a state of that key, or from none."""
        if answer.value != sample.answer:
            self._report("altered", f"{source}: the answer is {(answer.value or b'').hex()}")
        place = answer.headers.get("agent_bridge.state_offset")
        published = {f"{STATES}:{state.partition}:{state.offset}" for state in self._records[STATES]
                     if state.key == request.key}
        if place not in (published or {None}):
            self._report("altered", f"{source}: answered from {place}, the key was published at {sorted(published)}")

    def _seen(self, topic):
        """source -> record, with what is doubled, altered or out of order reported."""
        seen, last = {}, {}
        for record in self._records[topic]:
            source = record.headers.get("agent_bridge.source", "")
            place = f"{topic}:{record.partition}:{record.offset}"
            origin = self.inputs.get(source)
            if origin is None:
                self._report("unexpected", f"{place} says it comes from '{source}'")
                continue
            if source in seen:
                self._report("doubled", f"{source} is in {topic} twice")
            seen[source] = record
            if topic == ANSWERS and record.key != origin.key:
                self._report("altered", f"{place} is not under the key of {source}")
            if topic not in (ANSWERS, ERRORS) and (record.key, record.value) != (origin.key, origin.value):
                self._report("altered", f"{place} is not as {source}")
            if topic in ROUTED and record.timestamp_ms != origin.timestamp_ms:
                self._report("altered", f"{place} has another timestamp than {source}")
            line = (record.partition, origin.partition, record.key)
            if origin.offset < last.get(line, -1):
                self._report("reordered", f"{place}: {source} behind offset {last[line]}")
            last[line] = origin.offset
        return seen
