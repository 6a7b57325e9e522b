#!/usr/bin/env python3
"""Throughput of a relay on a real Kafka of its own: records that are all good against one in a hundred that
no parser takes, and with a scraper against without. Run by `make bench-relay`.

The kinds of run take turns, so that a ratio compares neighbours in time; what is given is the median of the
rounds. Every record of every run is accounted for, or the bench fails.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from bridge import Bridge, config  # noqa: E402
from broker import Broker  # noqa: E402
from face import Face  # noqa: E402
from oracle import VARIANTS  # noqa: E402
from relay_case import envelope  # noqa: E402

from confluent_kafka import Producer  # noqa: E402

SCRIPT = ROOT / "tests" / "broker" / "kafka"
PARTITIONS = 8
KEYS = 1009
VALUES = KEYS * 8  # as many different ones, over and over
POISON_EVERY = 100
SCRAPE_EVERY_S = 0.1
LOOK_EVERY_S = 0.05
RATIO_MIN = 0.9


class Cluster:
    """A Kafka in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        subprocess.run([sys.executable, SCRIPT, "start", "--fresh", "--dir", self.folder], check=True,
                       stdout=subprocess.DEVNULL)
        return Broker(self.folder)

    def __exit__(self, *_):
        subprocess.run([sys.executable, SCRIPT, "stop", "--dir", self.folder], check=True, stdout=subprocess.DEVNULL)


def fill(broker, topic, records, size, poison):
    """Writes the source; with poison every hundredth record is cut short."""
    broker.create(topic, PARTITIONS)
    values = [(b"entity-%04d" % (n % KEYS), envelope(b"entity-%04d" % (n % KEYS), VARIANTS[n % 4], size=size,
                                                     name=f"n{n}-")) for n in range(VALUES)]
    producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True, "linger.ms": 50,
                         "queue.buffering.max.messages": 500_000, "log_level": 2})
    for number in range(records):
        key, value = values[number % VALUES]
        value = value[:-1] if poison and number % POISON_EVERY == 0 else value
        while True:
            try:
                producer.produce(topic, value, key, number % VALUES % KEYS % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.1)
        if number % 1000 == 0:
            producer.poll(0)
    if producer.flush(120):
        raise SystemExit(f"{topic} could not be written")


class Scraper(threading.Thread):
    """Asks for /metrics ten times a second."""

    def __init__(self, face):
        super().__init__(daemon=True)
        self.face, self.ended, self.answers = face, threading.Event(), 0

    def run(self):
        while not self.ended.wait(SCRAPE_EVERY_S):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.face.port}/metrics", timeout=5) as answer:
                    self.answers += bool(answer.read())
            except OSError:
                pass  # not listening yet, or not any more


def resident_mib(process):
    return int(Path(f"/proc/{process.pid}/status").read_text().split("VmRSS:")[1].split()[0]) >> 10


def cpu_seconds(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def relay(broker, folder, source, records, kind, sections):
    """One run over the whole source. Returns records a second, records a second of the bridge's own CPU time
    (which says what a record costs also where others keep the machine busy), and resident MiB halfway and
    at the end."""
    name = f"{kind}-{uuid.uuid4().hex[:6]}"
    outputs = {variant: f"out.{variant}" for variant in VARIANTS}
    errors, quarantine = f"{name}.errors", f"{name}.quarantine"
    for topic in (errors, quarantine):
        broker.create(topic, PARTITIONS)
    face = Face()
    settings = config(broker, name, [{"topic": source, "routes": outputs}], instance=name, http=face.section,
                      errors={"topic": errors, "quarantine": quarantine}, **sections)
    bridge = Bridge(settings, folder, name)
    scraper = Scraper(face) if kind == "scraped" else None
    bridge.start()
    try:
        bridge.wait_event("partitions_assigned")
        if scraper:
            scraper.start()
        began, half = time.monotonic(), None
        while (done := sum(o or 0 for o in broker.committed(name, source).values())) < records:
            bridge.check_alive()
            if half is None and done >= records // 2:
                half = resident_mib(bridge.process)
            if time.monotonic() - began > 240:
                raise SystemExit(f"{name}: {done} of {records} after four minutes")
            time.sleep(LOOK_EVERY_S)
        took, cpu, last = time.monotonic() - began, cpu_seconds(bridge.process), resident_mib(bridge.process)
        bridge.stop()
    finally:
        bridge.kill9()
        if scraper:
            scraper.ended.set()
    account(broker, bridge.ledger(), errors, quarantine, records, kind)
    if scraper and scraper.answers < took / SCRAPE_EVERY_S / 4:
        raise SystemExit(f"{name}: only {scraper.answers} scrapes in {took:.1f} s")
    return records / took, records / cpu, half or last, last


def account(broker, ledger, errors, quarantine, records, kind):
    """Every record has its outcome, and every dead letter is there, with its copy."""
    dead = records // POISON_EVERY if kind == "poison" else 0
    wanted = (records, records - dead, dead, 0, True)
    found = tuple(ledger[name] for name in ("consumed", "routed", "dead_lettered", "stale", "balanced"))
    if found != wanted:
        raise SystemExit(f"{kind}: the ledger says {found}, expected {wanted}")
    for topic in (errors, quarantine):
        count = sum(1 for _ in broker.read([topic]))
        if count != dead:
            raise SystemExit(f"{kind}: {topic} has {count} records, expected {dead}")


def bench(broker, folder, options):
    """The rounds. Returns kind -> one result a round."""
    kinds = {"clean": "in.clean", "poison": "in.poison", "scraped": "in.clean"}
    for variant in VARIANTS:
        broker.create(f"out.{variant}", PARTITIONS)
    for topic in sorted(set(kinds.values())):
        fill(broker, topic, options.records, options.size, topic == "in.poison")
        print(f"{topic}: {options.records} records of {options.size} bytes", flush=True)
    sections = {"delivery": {"guarantee": options.guarantee}, "lanes": options.lanes,
                "producer": dict(pair.split("=", 1) for pair in options.producer)}
    results = {kind: [] for kind in kinds}
    relay(broker, folder, "in.clean", options.records, "clean", sections)  # warms the page cache
    for number in range(options.rounds):
        for kind, source in kinds.items():
            results[kind].append(relay(broker, folder, source, options.records, kind, sections))
            speed, per_cpu, half, last = results[kind][-1]
            print(f"round {number + 1} {kind:8} {speed:9,.0f} records/s, {per_cpu:9,.0f} records per CPU second, "
                  f"resident {half} MiB halfway, {last} MiB at the end", flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lanes", type=int, default=1)
    parser.add_argument("--producer", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--guarantee", default="exactly_once")
    parser.add_argument("--dir", type=Path, default=ROOT / "build" / "bench-kafka")
    options = parser.parse_args()
    with Cluster(options.dir) as broker:
        folder = options.dir / "bench"
        folder.mkdir(parents=True, exist_ok=True)
        results = bench(broker, folder, options)
    summary, ratios = {}, {}
    for what, column in (("", 0), ("_by_cpu", 1)):
        speeds = {kind: [run[column] for run in runs] for kind, runs in results.items()}
        for kind, found in speeds.items():
            summary[kind + what] = round(statistics.median(found))
        for kind in ("poison", "scraped"):
            ratio = statistics.median(a / b for a, b in zip(speeds[kind], speeds["clean"]))
            summary[f"{kind}_to_clean{what}"] = ratios[kind + what] = round(ratio, 3)
    summary["resident_mib_at_most"] = max(max(run[2:]) for runs in results.values() for run in runs)
    print(json.dumps({"guarantee": options.guarantee, "records": options.records, **summary}))
    slow = [f"{kind} runs at {ratio:.2f} of the clean ones, {RATIO_MIN} is wanted"
            for kind, ratio in ratios.items() if ratio < RATIO_MIN]
    if slow:
        raise SystemExit("; ".join(slow))


if __name__ == "__main__":
    os.environ.setdefault("AGENT_BRIDGE", str(ROOT / "build" / "release" / "bridge" / "cli" / "agent-bridge"))
    main()
