"""The tests' own side of a real Kafka, through a client that shares no code with agent-bridge.

confluent-kafka brings its own librdkafka, newer than the one under test. Everything here reads with
isolation.level=read_committed, as the bridge's readers have to.

The broker is the one that $AW_BROKER_DIR/state.json names (ctest's fixture), or the one of `make broker`.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import (Consumer, ConsumerGroupTopicPartitions, ElectionType, KafkaError, KafkaException, Producer,
                             TopicPartition)
from confluent_kafka.admin import (AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions,
                                   NewTopic, ResourceType)

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests" / "broker" / "kafka"
# No progress for this long fails a test, with what was waited for.
PATIENCE_S = 60


class Record(NamedTuple):
    """One record as a reader sees it."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple  # of (name, bytes or None), in order

    def header(self, name):
        """The last header of that name, as readers of the bridge's headers take it; None when there is none."""
        for found, value in reversed(self.headers):
            if found == name:
                return value
        return None

    @property
    def where(self):
        return f"{self.topic}:{self.partition}:{self.offset}"


@dataclass(slots=True)
class Input:
    """One record to be written to a source topic; offset is filled in when the broker has it."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    headers: tuple = ()
    timestamp_ms: int = field(default_factory=lambda: int(time.time() * 1000))
    offset: int | None = None

    @property
    def where(self):
        return f"{self.topic}:{self.partition}:{self.offset}"


class Waiting(AssertionError):
    """What was waited for did not come."""


def wait_until(what, condition, timeout_s=PATIENCE_S, every_s=0.1):
    """Calls condition until it is true and returns what it returned; what names it when time is up."""
    end = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Waiting(f"{timeout_s:g} s passed and still not: {what}")
        time.sleep(every_s)


def until_answered(call, trouble=lambda: None, done=None):
    """call's result; a broker that is away or a coordinator that moves is asked again for a while, after trouble()
    was called. done is the error that a second try is told when the first was carried out and only its answer lost."""
    end, tries = time.monotonic() + PATIENCE_S, 0
    while True:
        try:
            return call()
        except (KafkaException, TimeoutError) as error:
            if tries > 0 and isinstance(error, KafkaException) and error.args[0].code() == done:
                return None
            if time.monotonic() > end:
                raise
        tries += 1
        trouble()
        time.sleep(0.1)


def state_folder():
    return Path(os.environ.get("AW_BROKER_DIR") or ROOT / "build" / "kafka" / "run")


def _ended(process):
    """True when nothing but a zombie, or not even that, is left of it."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


class Broker:
    """A running Kafka, its administration, and reading and writing of whole topics."""

    def __init__(self, folder=None):
        self.folder = Path(folder or state_folder())
        try:
            self.state = json.loads((self.folder / "state.json").read_text())
        except FileNotFoundError:
            raise SystemExit(f"no Kafka runs in {self.folder}: `make broker` starts one; ctest does so by itself")
        self.bootstrap = self.state["bootstrap"]
        self._connect()
        self._group_readers = {}

    def _connect(self):
        self.admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 2, "socket.timeout.ms": 10_000})

    def ask(self, call, done=None):
        """call(admin)'s result, from a new client when the one before has failed: after a standstill of its only
        broker one may never find it again."""
        return until_answered(lambda: call(self.admin), self._connect, done)

    def script(self, *words):
        """Runs tests/broker/kafka on this cluster."""
        verb, *rest = [str(word) for word in words]
        subprocess.run([sys.executable, str(SCRIPT), verb, "--dir", str(self.folder), *rest], check=True,
                       stdout=subprocess.DEVNULL)

    @contextmanager
    def frozen(self, *numbers):
        """SIGSTOP for these nodes, and SIGCONT at the end of the block."""
        processes = [self.node(number)["pid"] for number in numbers]
        try:
            for process in processes:
                os.kill(process, signal.SIGSTOP)
            yield
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)

    @contextmanager
    def stopped(self, number):
        """The node ends in good order; its data can be looked at in the block, and it starts again afterwards."""
        process = self.node(number)["pid"]
        os.kill(process, signal.SIGTERM)
        wait_until(f"node {number} has ended", lambda: _ended(process))
        try:
            yield Path(self.node(number)["dir"]) / "data"
        finally:
            self.script("restart", number)

    def node(self, number):
        """The process and address of one node as they are now; both change with a restart."""
        nodes = json.loads((self.folder / "state.json").read_text())["nodes"]
        return next(node for node in nodes if node["id"] == number)

    # ---- who leads ---------------------------------------------------------------------------------

    def leaders(self):
        """(topic, partition) -> the node that leads it, the coordinators' own topics included."""
        return {(topic, number): partition.leader for topic, found in self._all_topics().items()
                for number, partition in found.partitions.items()}

    def _all_topics(self):
        return self.ask(lambda admin: admin.list_topics(timeout=10)).topics

    def coordinator(self, topic, name):
        """The node that coordinates a group (__consumer_offsets) or a transactional id (__transaction_state):
        the leader of the partition that Java's hash of the name falls on; waits until there is one."""
        hashed = 0
        for letter in name:
            hashed = hashed * 31 + ord(letter) & 0xFFFFFFFF
        hashed = abs(hashed - (hashed >> 31 << 32))
        number = hashed % self.partitions(topic)
        return wait_until(f"{topic} {number} has a leader", lambda: max(self.leaders()[topic, number], 0))

    def elect_preferred(self):
        """Gives every partition to its first replica; True when all have theirs."""
        try:
            self.admin.elect_leaders(ElectionType.PREFERRED, None).result(30)
        except (KafkaException, TimeoutError):
            return False
        return all(partition.leader == partition.replicas[0] for found in self._all_topics().values()
                   for partition in found.partitions.values())

    # ---- topics --------------------------------------------------------------------------------------

    def create(self, topic, partitions=1, **config):
        """Makes a topic and waits until every request about it works."""
        values = {name: str(value) for name, value in config.items()}
        self.ask(lambda admin: admin.create_topics([NewTopic(topic, partitions, config=values)])[topic].result(30),
                 KafkaError.TOPIC_ALREADY_EXISTS)
        wait_until(f"topic {topic} is there", lambda: self._visible(topic, partitions), every_s=0.02)
        return topic

    def _visible(self, topic, partitions):
        found = self._all_topics().get(topic)
        if found is None or len(found.partitions) != partitions:
            return False
        if any(p.leader < 0 for p in found.partitions.values()):
            return False
        resource = ConfigResource(ResourceType.TOPIC, topic)
        try:
            self.admin.describe_configs([resource])[resource].result(10)
        except (KafkaException, TimeoutError):
            return False
        return True

    def delete(self, topics):
        for topic in topics:
            self.ask(lambda admin: admin.delete_topics([topic])[topic].result(30),
                     KafkaError.UNKNOWN_TOPIC_OR_PART)

    def topics(self):
        return set(self._all_topics())

    def partitions(self, topic):
        return len(self.ask(lambda admin: admin.list_topics(topic, timeout=10)).topics[topic].partitions)

    def grow(self, topic, partitions):
        self.ask(lambda admin: admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(30),
                 KafkaError.INVALID_PARTITIONS)
        wait_until(f"{topic} has {partitions} partitions", lambda: self._visible(topic, partitions))

    def configure(self, topic, **config):
        """Changes a topic's properties."""
        entries = [ConfigEntry(name, str(value), incremental_operation=AlterConfigOpType.SET)
                   for name, value in config.items()]
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
        self.ask(lambda admin: admin.incremental_alter_configs([resource])[resource].result(30))

    def delete_before(self, topic, partition, offset):
        """Does what retention does: everything below offset is gone."""
        target = TopicPartition(topic, partition, offset)
        self.ask(lambda admin: admin.delete_records([target])[target].result(30))

    # ---- writing -------------------------------------------------------------------------------------

    def produce(self, inputs, per_second=None, stop=None, **config):
        """Writes the inputs in order (idempotent, acks=all) and returns those written, with their offsets.
        per_second bounds the rate; stop is an Event that ends it early."""
        failed, written = [], []
        producer = Producer({"bootstrap.servers": self.bootstrap, "enable.idempotence": True, "linger.ms": 20,
                             "log_level": 2, "message.max.bytes": 20_000_000, **config})
        began = time.monotonic()
        for number, item in enumerate(inputs):
            if stop is not None and stop.is_set():
                break
            if per_second and number % 100 == 0:
                time.sleep(max(0.0, began + number / per_second - time.monotonic()))
            while True:
                try:
                    producer.produce(item.topic, item.value, item.key, item.partition,
                                     on_delivery=partial(_delivered, item, failed),
                                     timestamp=item.timestamp_ms, headers=list(item.headers))
                    break
                except BufferError:
                    producer.poll(0.1)
            producer.poll(0)
            written.append(item)
        left = producer.flush(PATIENCE_S)
        if failed or left:
            raise AssertionError(f"the test's own writing failed: {left} left, {failed[:3]}")
        _fill_in_offsets(written)
        return written

    # ---- reading -------------------------------------------------------------------------------------

    def _consumer(self, group=None, **config):
        return Consumer({"bootstrap.servers": self.bootstrap, "group.id": group or f"tests-{uuid.uuid4().hex}",
                         "isolation.level": "read_committed", "enable.auto.commit": False,
                         "enable.auto.offset.store": False, "enable.partition.eof": True,
                         "auto.offset.reset": "error", "allow.auto.create.topics": False, "log_level": 2,
                         **config})

    def _bounds(self, topic, isolation):
        """Per partition the first offset and the one that reading stops at."""
        consumer = self._consumer(**{"isolation.level": isolation})
        try:
            return {p: consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=10)
                    for p in range(self.partitions(topic))}
        finally:
            consumer.close()

    def bounds(self, topic, isolation="read_committed"):
        """The same, asked again by a new client where the broker is away: one that met a topic which it did not
        know remembers that."""
        return until_answered(lambda: self._bounds(topic, isolation))

    def ends(self, topic, isolation="read_committed"):
        """Per partition the offset that reading stops at: the last stable one, or the high watermark."""
        return {p: high for p, (_, high) in self.bounds(topic, isolation).items()}

    def read(self, topics, isolation="read_committed"):
        """Yields every record of the topics, each partition in order, up to the ends as they are now."""
        consumer = self._consumer(**{"isolation.level": isolation})
        try:
            open_ends = {}
            for topic in topics:
                for number, (low, high) in self.bounds(topic, isolation).items():
                    if high > low:
                        open_ends[topic, number] = (low, high)
            consumer.assign([TopicPartition(t, p, low) for (t, p), (low, _) in open_ends.items()])
            yield from _read_to(consumer, {place: high for place, (_, high) in open_ends.items()})
        finally:
            consumer.close()

    def committed(self, group, topic):
        """Per partition the group's committed offset; None where there is none."""
        places = [TopicPartition(topic, p) for p in range(self.partitions(topic))]

        def look():
            if group not in self._group_readers:
                self._group_readers[group] = self._consumer(group)
            return self._group_readers[group].committed(places, timeout=10)

        found = until_answered(look, lambda: self._group_readers.pop(group, None))
        return {p.partition: p.offset if p.offset >= 0 else None for p in found}

    def set_committed(self, group, topic, offsets):
        """Moves an idle group, once its last members are gone."""
        places = [TopicPartition(topic, p, offset) for p, offset in offsets.items()]

        def moved():
            request = ConsumerGroupTopicPartitions(group, places)
            try:
                answer = self.admin.alter_consumer_group_offsets([request])[group].result(30)
            except (KafkaException, TimeoutError):
                return False
            return all(place.error is None for place in answer.topic_partitions)

        wait_until(f"group {group} lets its offsets be moved", moved, every_s=0.5)

    def wait_done(self, group, topics, timeout_s=PATIENCE_S, alive=None):
        """Waits until the group's committed offsets are the ends of the topics; timeout_s bounds the time
        without any progress. alive is called each round, to raise when the bridge has died."""
        topics = [topics] if isinstance(topics, str) else topics
        last, end = None, time.monotonic() + timeout_s
        while True:
            now = {topic: self.committed(group, topic) for topic in topics}
            ends = {topic: self.ends(topic) for topic in topics}
            if now == ends:
                return
            if now != last:
                last, end = now, time.monotonic() + timeout_s
            if time.monotonic() > end:
                raise Waiting(f"group {group} stands still for {timeout_s:g} s at {now}; the ends are {ends}")
            if alive:
                alive()
            time.sleep(0.1)

    def members(self, group):
        """The group's members as (client id, number of partitions); empty unless it is stable."""
        found = self.ask(lambda admin: admin.describe_consumer_groups([group])[group].result(10))
        if found.state.name != "STABLE":
            return []
        return [(m.client_id, len(m.assignment.topic_partitions)) for m in found.members]

    def close(self):
        for consumer in self._group_readers.values():
            consumer.close()
        self._group_readers.clear()


def _fill_in_offsets(written):
    """A retry whose first try had arrived is acknowledged without an offset: it lies behind the record before it,
    since the producer is idempotent."""
    places = {}
    for item in written:
        places.setdefault((item.topic, item.partition), []).append(item)
    for items in places.values():
        known = next((n for n, item in enumerate(items) if item.offset is not None), None)
        for number, item in enumerate(items):
            if item.offset is None and known is not None:
                item.offset = items[number - 1].offset + 1 if number > known else items[known].offset - known + number


def _delivered(item, failed, error, message):
    if error is not None:
        failed.append(f"{item.topic}:{item.partition}: {error}")
    else:
        item.offset = message.offset()


def _read_to(consumer, ends):
    quiet_since = time.monotonic()
    while ends:
        batch = consumer.consume(2000, 0.5)
        if batch:
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since > PATIENCE_S:
            raise Waiting(f"reading stands still before the ends {ends}")
        for message in batch:
            place = (message.topic(), message.partition())
            error = message.error()
            if error is None:
                if place in ends and message.offset() < ends[place]:
                    yield _record(message)
                    if message.offset() + 1 >= ends[place]:
                        del ends[place]
            elif error.code() == KafkaError._PARTITION_EOF:
                if message.offset() >= ends.get(place, 0):
                    ends.pop(place, None)
            else:
                raise KafkaException(error)


def _record(message):
    return Record(message.topic(), message.partition(), message.offset(), message.timestamp()[1],
                  message.key(), message.value(), tuple(message.headers() or ()))


class Load:
    """Writes inputs from a thread of its own while a test does other things. Use as a context manager."""

    def __init__(self, broker, inputs, per_second=None):
        self._stop = threading.Event()
        self._written = self._error = None
        self._thread = threading.Thread(target=self._run, args=(broker, inputs, per_second), daemon=True)

    def _run(self, broker, inputs, per_second):
        try:
            self._written = broker.produce(inputs, per_second, self._stop)
        except BaseException as error:  # handed to the test's own thread by finish()
            self._error = error

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join(PATIENCE_S)

    def finish(self, early=False, timeout_s=300):
        """Waits until all is written, or with early stops here; returns what was written. The load must
        have lasted until now: a test of what happens under load is void without it."""
        if early:
            if not self._thread.is_alive() and self._error is None:
                raise AssertionError("the load had ended before the test was done with it; give it more inputs")
            self._stop.set()
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            raise Waiting(f"the test's own writing is not done after {timeout_s} s")
        if self._error is not None:
            raise self._error
        return self._written
