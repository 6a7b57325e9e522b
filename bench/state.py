#!/usr/bin/env python3
"""What answering export requests costs: the stores alone, for 10^4 to 10^6 keys, and a bridge on a real Kafka of
its own: how fast it restores, how many requests it answers at most, and how long one waits at some loads below that.

    bench/state.py [--keys N] [--requests N] [--seconds S] [--quick]

Run by `make bench-state`; writes build/bench/state.json. Wall-clock figures are those of the machine as it is;
figures per CPU second say what the work costs also where others keep it busy.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "bench")]

from confluent_kafka import Consumer, Producer, TopicPartition  # noqa: E402

from bridge import Bridge, config  # noqa: E402
from mutate import varint  # noqa: E402
from reference import Reference  # noqa: E402
from relay import Cluster, cpu_seconds  # noqa: E402

RESULTS = ROOT / "build" / "bench" / "state.json"
PROGRAM = ROOT / "build" / "bench" / "bench" / "state" / "state_bench"
REFERENCE = Reference()
ENVELOPE, SNAPSHOT = REFERENCE.classes["AgentEnvelope"], REFERENCE.classes["StateSnapshot"]
# What Kafka's own scripts give a broker. The tests' 128 MiB are collected every other second, for 20 to 40 ms.
HEAP = "-Xms1G -Xmx1G"
LOADS_PER_S = 300, 1000, 4000  # and half of the most
ANSWERS_S = 300
# How often a writer looks what is due, and how long its producer waits for more.
TICK_S = 0.001
LINGER_MS = 0.5
# Answers of one measurement, which the broker keeps: 1 GB at most.
ANSWERS_BYTES = 10**9
ROUTES = {"external_event": "drop", "tool_result": "drop", "approval": "drop", "export_request": "answer"}


def bench_stores(key_counts):
    """The store alone; states of 100 bytes, and of the sizes that are answered."""
    cases = [(keys, 100) for keys in key_counts] + [(10_000, 1_000), (1_000, 100_000)]
    results = []
    for keys, size in cases:
        folder = tempfile.mkdtemp(prefix="ab-bench-")
        done = subprocess.run([PROGRAM, folder, str(keys), str(size)], capture_output=True, text=True, check=True)
        shutil.rmtree(folder)
        results.append(json.loads(done.stdout))
        print("store:", done.stdout.strip(), flush=True)
    return results


def publish(broker, topic, keys, size):
    producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 50, "log_level": 2,
                         "queue.buffering.max.messages": 500_000})
    filler = b"x" * size
    for number in range(keys):
        key = b"entity-%07d" % number
        value = SNAPSHOT(state_schema_version=1, entity_key=key, seq=number).SerializeToString()
        value += b"\x52" + varint(max(0, size - len(value))) + filler[:max(0, size - len(value))]
        while True:
            try:
                producer.produce(topic, value, key, 0)
                break
            except BufferError:
                producer.poll(0.1)
    if producer.flush(300):
        raise SystemExit(f"{topic} could not be written")


def read_answers(bootstrap, topic, count, results):
    """When each of so many answers was there, by its request; a process of its own, as an operator's is."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench", "log_level": 2,
                         "isolation.level": "read_committed", "enable.auto.commit": False})
    _, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), 30)
    consumer.assign([TopicPartition(topic, 0, end)])
    results.send(None)
    came, deadline = [], time.monotonic() + ANSWERS_S
    while len(came) < count and time.monotonic() < deadline:
        first = consumer.poll(1)
        messages = [first] * bool(first) + consumer.consume(1000, 0)
        now = time.monotonic()
        came += [(message.value(), now) for message in messages if not message.error()]
    results.send({SNAPSHOT.FromString(value).request_id: when for value, when in came})  # read when it costs nobody


def write_requests(bootstrap, topic, values, per_second, results):
    """When each request was given to the producer: at a rate, or (None) all at once."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": LINGER_MS, "log_level": 2,
                         "queue.buffering.max.messages": len(values) + 1})
    producer.list_topics(topic, 30)
    sent, began = {}, time.monotonic()
    while len(sent) < len(values):
        due = int((time.monotonic() - began) * per_second) + 1 if per_second else len(values)
        for request, key, value in values[len(sent):due]:
            sent[request] = time.monotonic()
            producer.produce(topic, value, key, 0)
        time.sleep(TICK_S)
    results.send(sent if producer.flush(60) == 0 else {})


def ask(broker, topics, keys, count, per_second):
    """Asks for so many states at a rate (None: at once), each from before it is written until a reader has the
    answer: (answers a second, sorted waits in seconds)."""
    source, snapshots = topics
    tag, values = uuid.uuid4().hex[:8], []
    for number in range(count):
        request, key = f"{tag}-{number}", b"entity-%07d" % (number * 7919 % keys)
        value = ENVELOPE(entity_key=key, event_time_ms=1, export_request={"request_id": request})
        values.append((request, key, value.SerializeToString()))
    spawn = multiprocessing.get_context("spawn")
    told, results = zip(*(spawn.Pipe(False) for _ in range(2)))
    reader = spawn.Process(target=read_answers, args=(broker.bootstrap, snapshots, count, results[0]), daemon=True)
    writer = spawn.Process(target=write_requests, args=(broker.bootstrap, source, values, per_second, results[1]),
                           daemon=True)
    for process, result in ((reader, results[0]), (writer, results[1])):
        process.start()
        result.close()  # the process has it now: its end is seen here when it fails
        if process is reader:
            told[0].recv()
    sent, came = told[1].recv(), told[0].recv()
    if sent.keys() != came.keys() or len(sent) != count:
        raise SystemExit(f"{count} requests: {len(sent)} were written and {len(came)} answered")
    waits = sorted(came[request] - when for request, when in sent.items())
    return count / (max(came.values()) - min(sent.values())), waits


def wait_at(broker, topics, keys, size, per_second, seconds):
    """How long answers take at a rate."""
    _, waits = ask(broker, topics, keys, int(min(per_second * seconds, ANSWERS_BYTES / size)), per_second)
    result = {"requests_per_second": round(per_second)}
    for name, share in (("median", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)):
        result[f"{name}_ms"] = round(waits[int(len(waits) * share)] * 1000, 1)
    return result


def bench_bridge(broker, folder, keys, size, arguments):
    """Restore and answers of one bridge with states of one size."""
    name = f"state-{size}"
    source, state, snapshots = topics = f"{name}.in", f"{name}.state", f"{name}.answers"
    for topic in (*topics, f"{source}.errors", f"{source}.quarantine"):
        broker.create(topic, 1)
    publish(broker, state, keys, size)
    settings = config(broker, name, [{"topic": source, "routes": ROUTES}], instance=name,
                      state={"dir": str(folder / name), "snapshots_from": [state]}, snapshots={"topic": snapshots})
    bridge = Bridge(settings, folder, name).start()
    try:
        begun = bridge.wait_event("state_restoring")
        begun_at, begun_cpu = time.monotonic(), cpu_seconds(bridge.process)
        done = bridge.wait_event("state_restored", timeout_s=300)
        restore_s, restore_cpu = time.monotonic() - begun_at, cpu_seconds(bridge.process) - begun_cpu
        exchange = source, snapshots
        os.sync()  # what was published is on the disk before anybody waits for an answer
        wait_at(broker, exchange, keys, size, LOADS_PER_S[0], arguments.warm_up)
        rate, _ = ask(broker, exchange, keys, min(arguments.requests, ANSWERS_BYTES // size), None)
        loads = [wait_at(broker, exchange, keys, size, per_second, arguments.seconds)
                 for per_second in sorted({*(load for load in LOADS_PER_S if load < rate / 2), rate / 2})]
    finally:
        bridge.kill9()
    return {"state_bytes": size, "keys": keys, "restored_records": done["offset"] - begun["from"],
            "restored_per_second": round(keys / restore_s), "restored_per_cpu_second": round(keys / max(restore_cpu, .01)),
            "answers_per_second": round(rate), "loads": loads}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=500_000, help="published states of 1 KB")
    parser.add_argument("--requests", type=int, default=40_000, help="so many at once, for the most a second")
    parser.add_argument("--seconds", type=float, default=20, help="of each load")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    arguments = parser.parse_args()
    share = 10 if arguments.quick else 1
    arguments.warm_up = 40 / share
    arguments.seconds /= share
    arguments.requests //= share
    folder = ROOT / "build" / "bench" / "state"
    shutil.rmtree(folder, ignore_errors=True)  # a log of another run would be taken for this one's
    folder.mkdir(parents=True)
    results = {"stores": bench_stores((10_000, 100_000) if arguments.quick else (10_000, 100_000, 1_000_000)),
               "bridges": [], "cores": os.cpu_count(), "load_average": os.getloadavg()[0]}
    os.environ.setdefault("KAFKA_HEAP_OPTS", HEAP)
    with Cluster(folder / "kafka") as broker:
        for keys, size in ((arguments.keys // share, 1_000), (max(200, arguments.keys // share // 100), 100_000)):
            results["bridges"].append(bench_bridge(broker, folder, keys, size, arguments))
            print("bridge:", json.dumps(results["bridges"][-1]), flush=True)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    print(f"written to {RESULTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
