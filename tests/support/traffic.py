"""Traffic for long runs: good and broken envelopes from a seed, each with its key's next number, and a check
that needs nothing else.

Every record carries a header `chaos` = `<key>:<number>`, where number counts up per key from 0. A forwarded
record and a quarantine copy keep it, so the outputs alone show whether each number came once and in order,
whatever the source coordinates say that the bridge writes.
"""

import random
import time
from collections import Counter

from broker import Input
from oracle import VARIANTS
from relay_case import ENVELOPE

HEADER = "chaos"
KEYS = 61
BROKEN_SHARE = 0.15
SIZES = (0, 20, 200, 200, 200, 1000, 1000, 8000)


def key_of(number):
    return b"entity-%02d" % number


def _message(rng, key, variant, event_time_ms, name):
    filler = name.encode() + rng.randbytes(8) * (rng.choice(SIZES) // 8)
    payload = {
        "external_event": filler,
        "tool_result": {"intent_id": name, "entity_key": key, "status": 1, "payload": filler},
        "approval": {"intent_id": name, "approved": True, "approver": filler.hex()},
        "export_request": {"request_id": filler.hex()},
    }[variant]
    return ENVELOPE(entity_key=key, event_time_ms=event_time_ms, **{variant: payload})


# Each takes a random.Random, the record's key and a good envelope, and returns (key, value) of a bad record.
def _cut_short(rng, key, message):
    return key, message.SerializeToString()[:-rng.randint(1, 4)]


def _byte_changed(rng, key, message):
    value = bytearray(message.SerializeToString())
    value[rng.randrange(len(value))] ^= rng.randint(1, 255)
    return key, bytes(value)


def _noise(rng, key, _):
    return key, rng.randbytes(rng.randint(1, 300))


def _tombstone(_, key, __):
    return key, None


def _empty(_, key, __):
    return key, b""


def _framed(_, key, message):
    return key, b"\x00\x00\x00\x00\x07" + message.SerializeToString()


def _nameless(_, key, message):
    variant = message.WhichOneof("payload")
    if variant in ("tool_result", "approval"):
        getattr(message, variant).intent_id = ""
    else:
        message.entity_key = b""
    return key, message.SerializeToString()


def _other_key(_, key, message):
    message.entity_key = key + b"-other"
    return key, message.SerializeToString()


def _keyless(_, __, message):
    return None, message.SerializeToString()  # no defect: the entity's key orders it


def _future(_, key, message):
    message.ClearField(message.WhichOneof("payload"))
    return key, message.SerializeToString() + b"\x3a\x01x"


BROKEN = (_cut_short, _byte_changed, _noise, _tombstone, _empty, _framed, _nameless, _other_key, _keyless, _future)


class Traffic:
    """The records of one seed, for a source of so many partitions. written says what to expect of each key."""

    def __init__(self, source, partitions, seed):
        self._source, self._partitions = source, partitions
        self._rng = random.Random(f"traffic {seed}")
        self.numbers = Counter()  # key number -> records made

    def inputs(self):
        """Without an end. The same seed gives the same records but for their timestamps."""
        rng = self._rng
        while True:
            number = rng.randrange(KEYS)
            key, now = key_of(number), int(time.time() * 1000)
            name = f"k{number}-{self.numbers[number]}-"
            message = _message(rng, key, rng.choice(VARIANTS), rng.randint(1, now), name)
            if rng.random() < BROKEN_SHARE:
                record_key, value = rng.choice(BROKEN)(rng, key, message)
            else:
                record_key, value = key, message.SerializeToString()
            headers = ((HEADER, b"%d:%d" % (number, self.numbers[number])),)
            self.numbers[number] += 1
            yield Input(self._source, number % self._partitions, record_key, value, headers, now)


class SequenceCheck:
    """Each number of each key once, and in order per key within a partition of an output."""

    def __init__(self, written, errors):
        self._written = written  # key number -> how many
        self._errors = errors  # the topic of dead letters, which stand beside a copy and are not counted twice
        self._seen = {key: bytearray(count) for key, count in written.items()}
        self._last = {}
        self.kinds = Counter()

    def see(self, record):
        if record.topic == self._errors:
            return
        text = record.header(HEADER)
        try:
            key, number = (int(part) for part in text.split(b":"))
            seen = self._seen[key]
            self.kinds["doubled"] += seen[number]
            seen[number] = 1
        except (AttributeError, ValueError, KeyError, IndexError):
            self.kinds["altered"] += 1
            return
        place = (record.topic, record.partition, key)
        self.kinds["reordered"] += number < self._last.get(place, -1)
        self._last[place] = max(number, self._last.get(place, -1))

    def finish(self):
        """Counts by kind of what is wrong, without the kinds of which there is nothing."""
        self.kinds["missing"] += sum(seen.count(0) for seen in self._seen.values())
        return {kind: count for kind, count in self.kinds.items() if count}
