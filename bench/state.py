#!/usr/bin/env python3
"""What answering export requests costs: the stores alone, for 10^4 to 10^6 keys, and a bridge on a real Kafka of
its own: how fast it restores, how many requests it answers, and how long one waits at half of that.

    bench/state.py [--keys N] [--requests N] [--quick]

Run by `make bench-state`; writes build/bench/state.json. Wall-clock figures are those of the machine as it is;
figures per CPU second say what the work costs also where others keep it busy.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "bench")]

from confluent_kafka import Consumer, Producer, TopicPartition  # noqa: E402

from bridge import Bridge, config  # noqa: E402
from broker import wait_until  # noqa: E402
from mutate import varint  # noqa: E402
from reference import Reference  # noqa: E402
from relay import Cluster, cpu_seconds  # noqa: E402

RESULTS = ROOT / "build" / "bench" / "state.json"
PROGRAM = ROOT / "build" / "bench" / "bench" / "state" / "state_bench"
REFERENCE = Reference()
ENVELOPE, SNAPSHOT = REFERENCE.classes["AgentEnvelope"], REFERENCE.classes["StateSnapshot"]
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


class Answers(threading.Thread):
    """Notes when the answer to each request came."""

    def __init__(self, broker, topic):
        super().__init__(daemon=True)
        self.came, self.ended = {}, threading.Event()
        self._consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "bench", "log_level": 2,
                                   "isolation.level": "read_committed", "enable.auto.commit": False,
                                   "fetch.wait.max.ms": 1, "auto.offset.reset": "earliest"})
        self._consumer.assign([TopicPartition(topic, 0, 0)])
        self.start()

    def run(self):
        while not self.ended.is_set():
            message = self._consumer.poll(0.1)
            if message is not None and not message.error():
                self.came[SNAPSHOT.FromString(message.value()).request_id] = time.monotonic()


def ask(broker, source, keys, count, per_second, answers, tag):
    """Writes requests at a rate (None: at once) and waits for all answers: (answers a second, sorted waits)."""
    producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 0, "log_level": 2})
    sent, began = {}, time.monotonic()
    for number in range(count):
        if per_second:
            time.sleep(max(0.0, began + number / per_second - time.monotonic()))
        request = f"{tag}-{number}"
        key = b"entity-%07d" % (number * 7919 % keys)
        value = ENVELOPE(entity_key=key, event_time_ms=1, export_request={"request_id": request})
        sent[request] = time.monotonic()
        producer.produce(source, value.SerializeToString(), key, 0)
        producer.poll(0)
    producer.flush(60)
    wait_until("every request is answered", lambda: sent.keys() <= answers.came.keys(), 120, 0.02)
    waits = sorted(answers.came[request] - when for request, when in sent.items())
    return count / (max(answers.came[request] for request in sent) - began), waits


def bench_bridge(broker, folder, keys, size, requests):
    """Restore and answers of one bridge with states of one size."""
    name = f"state-{size}"
    source, state, snapshots = f"{name}.in", f"{name}.state", f"{name}.answers"
    for topic in (source, state, snapshots, f"{source}.errors", f"{source}.quarantine"):
        broker.create(topic, 1)
    publish(broker, state, keys, size)
    settings = config(broker, name, [{"topic": source, "routes": ROUTES}], instance=name,
                      state={"dir": str(folder / name), "snapshots_from": [state]}, snapshots={"topic": snapshots})
    shutil.rmtree(folder / name, ignore_errors=True)
    bridge = Bridge(settings, folder, name).start()
    try:
        begun = bridge.wait_event("state_restoring")
        begun_at, begun_cpu = time.monotonic(), cpu_seconds(bridge.process)
        done = bridge.wait_event("state_restored", timeout_s=300)
        restore_s, restore_cpu = time.monotonic() - begun_at, cpu_seconds(bridge.process) - begun_cpu
        answers = Answers(broker, snapshots)
        ask(broker, source, keys, 50, None, answers, "warm")
        rate, _ = ask(broker, source, keys, requests, None, answers, "full")
        _, waits = ask(broker, source, keys, requests // 2, min(rate / 2, 500), answers, "half")
        answers.ended.set()
        answers.join()
    finally:
        bridge.kill9()
    return {"state_bytes": size, "keys": keys, "restored_records": done["offset"] - begun["from"],
            "restored_per_second": round(keys / restore_s), "restored_per_cpu_second": round(keys / max(restore_cpu, .01)),
            "answers_per_second": round(rate), "half_load_median_ms": round(waits[len(waits) // 2] * 1000, 1),
            "half_load_p99_ms": round(waits[len(waits) * 99 // 100] * 1000, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=500_000, help="published states of 1 KB")
    parser.add_argument("--requests", type=int, default=4000)
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    arguments = parser.parse_args()
    share = 10 if arguments.quick else 1
    folder = ROOT / "build" / "bench" / "state"
    shutil.rmtree(folder, ignore_errors=True)  # a log of another run would be taken for this one's
    folder.mkdir(parents=True)
    results = {"stores": bench_stores((10_000, 100_000) if arguments.quick else (10_000, 100_000, 1_000_000)),
               "bridges": [], "cores": os.cpu_count(), "load_average": os.getloadavg()[0]}
    with Cluster(folder / "kafka") as broker:
        for keys, size in ((arguments.keys // share, 1_000), (max(200, arguments.keys // share // 100), 100_000)):
            results["bridges"].append(bench_bridge(broker, folder, keys, size, arguments.requests // share))
            print("bridge:", json.dumps(results["bridges"][-1]), flush=True)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    print(f"written to {RESULTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
