"""Holds what came out against what had to come out, record by record.

An Audit is told what each source record must have become; then it is shown every record of the output
topics. It finds what is missing, doubled, altered, where it does not belong, or out of order, and names
it by the record's source coordinates. It must be able to fail: tests/broker/checkers_test.py plants each
fault and expects it to be found.
"""

import json
from collections import Counter
from dataclasses import dataclass, field

from oracle import HOPS_HEADER, SOURCE_HEADER, java_partition, sha256_hex, source_text

PROBLEMS_SHOWN = 20
DETAIL_MAX = 4096
LETTER_KEY_MAX = 1024
HEAD_BYTES = 8192
COPY_HEADER = "__agent_bridge.copy"


def shorten(value):
    text = repr(value)
    return text if len(text) <= 160 else f"{text[:150]}... ({len(text)} characters)"


def differ(name, wanted, found):
    """The difference as a list of at most one line."""
    return [] if wanted == found else [f"{name}: wanted {shorten(wanted)}, found {shorten(found)}"]


@dataclass(slots=True)
class Routed:
    """The very record that arrived, under its entity's key, with the source header behind its own."""

    item: object  # broker.Input
    partition: int
    key: bytes
    source_header: bool = True

    def differences(self, record):
        item = self.item
        headers = tuple(item.headers)
        if self.source_header:
            headers += ((SOURCE_HEADER, _source(item)),)
        return (differ("partition", self.partition, record.partition) + differ("key", self.key, record.key)
                + differ("value", item.value, record.value) + differ("headers", headers, record.headers)
                + differ("timestamp", item.timestamp_ms, record.timestamp_ms))


@dataclass(slots=True)
class DeadLetter:
    """The error record: what the reference reads in it, and its headers."""

    item: object
    partition: int
    verdict: object  # oracle.Verdict
    group: str
    reference: object

    def differences(self, record):
        problems, detail = self._value(record.value)
        if detail is None:
            return problems
        key = self.verdict.entity_key[:LETTER_KEY_MAX] or None
        return (problems + differ("key", key, record.key) + differ("partition", self.partition, record.partition)
                + differ("headers", letter_headers(self.item, self.verdict.reason, self.group, detail["text"]),
                         record.headers))

    def _value(self, value):
        """Problems of the value, and its detail (None when it cannot be read that far)."""
        envelope = self.reference.parse("AgentEnvelope", value or b"")
        if value is None or envelope is None or envelope.WhichOneof("payload") != "external_event":
            return [f"value: no AgentEnvelope with an external_event: {shorten(value)}"], None
        error = self.reference.parse("ActivationErrorRecord", envelope.external_event)
        if error is None:
            return [f"external_event: no ActivationErrorRecord: {shorten(envelope.external_event)}"], None
        verdict = self.verdict
        key, time = verdict.entity_key[:LETTER_KEY_MAX], verdict.event_time_ms
        problems = (differ("entity_key", (key, key), (envelope.entity_key, error.entity_key))
                    + differ("event_time_ms", (time, time), (envelope.event_time_ms, error.event_time_ms))
                    + differ("reason", verdict.reason, error.reason)
                    + differ("bytes built by the reference", self._built(key, time, error.detail), value))
        more, detail = self._detail(error.detail)
        return problems + more, detail

    def _built(self, key, time, detail):
        """The same dead letter as the reference writes it: nothing else may be in it."""
        make = self.reference.classes
        error = make["ActivationErrorRecord"](entity_key=key, reason=self.verdict.reason, detail=detail,
                                              event_time_ms=time)
        envelope = make["AgentEnvelope"](entity_key=key, event_time_ms=time,
                                         external_event=error.SerializeToString(deterministic=True))
        return envelope.SerializeToString(deterministic=True)

    def _detail(self, text):
        try:
            detail = json.loads(text)
        except ValueError as error:
            return [f"detail: no JSON ({error}): {shorten(text)}"], None
        if not isinstance(detail, dict) or not isinstance(detail.get("text"), str) or not detail["text"]:
            return [f"detail: no object with a text: {shorten(text)}"], None
        item, verdict = self.item, self.verdict
        wanted = {"source": item.where, "v": 1, "text": detail["text"]}
        if item.value is not None:
            wanted |= {"sha256": sha256_hex(item.value), "size": len(item.value)}
        for name, key in (("entity_key", verdict.entity_key), ("record_key", item.key or b"")):
            if len(key) > LETTER_KEY_MAX:
                wanted |= {f"{name}_sha256": sha256_hex(key), f"{name}_size": len(key)}
        if verdict.at is not None:
            wanted["at"] = verdict.at
        if verdict.field:
            wanted["field"] = verdict.field
        found = {name: value for name, value in detail.items() if name != "field" or verdict.field is not None}
        canonical = json.dumps(detail, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return (differ("detail", wanted, found) + differ("canonical detail", canonical, text)
                + differ("size of the detail", True, len(text.encode()) <= DETAIL_MAX)
                + differ("NUL in the detail", False, "\0" in text)), detail


@dataclass(slots=True)
class Quarantine:
    """The original record whole, with the dead letter's headers behind its own; or, where that does not
    fit, its head: the same with the first 8 KiB of the value; or a pointer: the dead letter's headers and
    the key alone."""

    item: object
    partition: int
    verdict: object
    group: str
    copy: str = "whole"

    def differences(self, record):
        item = self.item
        message = record.header("__dlq.errors.message")
        headers = letter_headers(item, self.verdict.reason, self.group,
                                 (message or b"").decode("utf-8", "replace"))
        key, value = item.key, item.value
        if self.copy == "pointer":
            key, value = key and key[:LETTER_KEY_MAX], b""
        else:
            headers = tuple(item.headers) + headers
        if self.copy == "head":
            value = value[:HEAD_BYTES]
        headers += ((COPY_HEADER, self.copy.encode()),)
        return (differ("partition", self.partition, record.partition) + differ("key", key, record.key)
                + differ("value", value, record.value) + differ("headers", headers, record.headers)
                + ([] if message else ["headers: __dlq.errors.message is empty"]))


def letter_headers(item, reason, group, text):
    """What the bridge appends to a dead letter and to a quarantined record."""
    value = item.value
    headers = [
        ("__dlq.errors.topic", item.topic),
        ("__dlq.errors.partition", str(item.partition)),
        ("__dlq.errors.offset", str(item.offset)),
        ("__dlq.errors.group", group),
        ("__dlq.errors.message", text),
        ("__agent_bridge.reason", reason),
        (HOPS_HEADER, _hops_text(item.headers)),
    ]
    if value is not None:
        headers += [("__agent_bridge.sha256", sha256_hex(value)), ("__agent_bridge.value_size", str(len(value)))]
    headers += [
        ("__agent_bridge.source_timestamp", str(item.timestamp_ms)),
        ("__agent_bridge.source_timestamp_type", "create"),
    ]
    return tuple((name, str(text).encode()) for name, text in headers) + ((SOURCE_HEADER, _source(item)),)


def _hops_text(headers):
    for name, value in reversed(headers):
        if name == HOPS_HEADER:
            return value.decode() if value and value.isdigit() else str(0xFFFFFFFF)
    return "0"


def _source(item):
    return source_text(item.topic, item.partition, item.offset, item.timestamp_ms)


class Audit:
    """Exactly once, unaltered and in order, or a list of what was not."""

    def __init__(self):
        self._wanted = {}  # (output topic, source text) -> Routed, DeadLetter or Quarantine
        self._seen = set()
        self._last = {}  # (output topic, partition, source topic, partition, key) -> source offset
        self.kinds = Counter()
        self._problems = []
        self.records = 0

    def expect(self, topic, wanted):
        self._wanted[topic, _source(wanted.item)] = wanted

    def expect_verdict(self, item, verdict, settings):
        """What one source record must become under a verdict of the oracle."""
        if verdict.outcome == "routed":
            count = settings.counts[verdict.topic]
            partition = item.partition % count if settings.by_source else java_partition(verdict.entity_key, count)
            self.expect(verdict.topic, Routed(item, partition, verdict.entity_key))
        elif verdict.outcome == "dead_lettered":
            self._expect_letter(item, verdict, settings)

    def _expect_letter(self, item, verdict, settings):
        errors, quarantine = settings.errors, settings.quarantine
        copy = settings.copies.get(item.offset, "whole")
        partition = _letter_partition(verdict.entity_key[:LETTER_KEY_MAX] or None, item, settings.counts[errors])
        self.expect(errors, DeadLetter(item, partition, verdict, settings.group, settings.reference))
        if quarantine is not None:
            key = item.key and item.key[:LETTER_KEY_MAX] if copy == "pointer" else item.key
            partition = _letter_partition(key, item, settings.counts[quarantine])
            self.expect(quarantine, Quarantine(item, partition, verdict, settings.group, copy))

    def see(self, record):
        """Judges one record of an output topic."""
        self.records += 1
        source = record.header(SOURCE_HEADER)
        wanted = self._wanted.get((record.topic, source))
        if wanted is None:
            self._report("unexpected", f"{record.where} claims the source {source!r}")
            return
        if (record.topic, source) in self._seen:
            self._report("doubled", f"{record.where} is {source!r} once more")
            return
        self._seen.add((record.topic, source))
        for difference in wanted.differences(record):
            self._report("altered", f"{record.where} from {source!r}: {difference}")
        self._check_order(record, wanted.item)

    def _check_order(self, record, item):
        place = (record.topic, record.partition, item.topic, item.partition, record.key)
        before = self._last.get(place, -1)
        if item.offset < before:
            self._report("reordered", f"{record.where}: source offset {item.offset} comes behind {before}")
        self._last[place] = max(before, item.offset)

    def see_all(self, records):
        for record in records:
            self.see(record)
        return self

    def finish(self):
        """All problems: counts by kind, then the first ones in words. Empty when everything is right."""
        for place in self._wanted:
            if place not in self._seen:
                self._report("missing", f"{place[0]} has nothing from {place[1]!r}")
        if not self._wanted:
            self._report("void", "nothing was expected, so that nothing could be wrong")
        if not self.kinds:
            return []
        return [", ".join(f"{count} {kind}" for kind, count in sorted(self.kinds.items()))] + self._problems

    def _report(self, kind, text):
        self.kinds[kind] += 1
        if len(self._problems) < PROBLEMS_SHOWN:
            self._problems.append(f"{kind}: {text}")


def _letter_partition(key, item, count):
    return item.partition % count if key is None else java_partition(key, count)


@dataclass
class Settings:
    """What the checks need to know of a bridge's config."""

    group: str
    reference: object
    errors: str
    quarantine: str | None
    counts: dict  # output topic -> partitions
    by_source: bool = False
    copies: dict = field(default_factory=dict)  # offset: head or pointer, of what quarantine cannot hold whole
