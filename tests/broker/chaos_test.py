#!/usr/bin/env python3
"""Minutes of bad days in a row against three brokers, and then the sum: each record once, unaltered, in order.

    chaos_test.py [--minutes M] [--seed N] [--per-second R]

Four lanes in three processes relay good and broken envelopes. Meanwhile, all from the seed, bridges are killed,
stopped, started, and made to stand still past their session and past their transaction; brokers are killed,
restarted and made to stand still; and the network between the two is cut, or swallows everything. Then all is
healed, the rest is relayed, and three checks have to agree: the record by record audit on the reference runtime
(audit.py), the numbers that each key's records carry (traffic.py), and `agent-bridge verify`.

At the end a few faults are planted in what was read, and the audit has to find each. Exit 0 when all is well;
figures go to build/chaos/seed-N.json, logs beside the cluster's.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from http.client import HTTPException
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from audit import Audit  # noqa: E402
from bridge import Bridge, config, program  # noqa: E402
from broker import ROOT, SCRIPT, Broker, Load, state_folder, wait_until  # noqa: E402
from oracle import SOURCE_HEADER, VARIANTS  # noqa: E402
from ports import free_port  # noqa: E402
from proxy import Proxy  # noqa: E402
from relay_case import REFERENCE, Layout  # noqa: E402
from traffic import SequenceCheck, Traffic  # noqa: E402

PARTITIONS = 8
OUTPUT_PARTITIONS = {"external_event": 3, "tool_result": 5, "approval": 2, "export_request": 4}
NODES = (1, 2, 3)
SESSION_S, TRANSACTION_S = 6, 7
# A dead broker is noticed in 3 s instead of 9, a transaction past its timeout in 1 s instead of 10.
PROPERTIES = ("broker.session.timeout.ms=3000", "broker.heartbeat.interval.ms=500",
              "transaction.abort.timed.out.transaction.cleanup.interval.ms=1000")
# One that ends by itself with these is started again, as a supervisor would; any other code is a finding.
RESTARTED = (70, 75)
KINDS = ("missing", "doubled", "altered", "reordered")
SAMPLE = 400  # source offsets of partition 0 that the planted faults are tried on


class Figures:
    """What was done and what was seen, counted from several threads."""

    def __init__(self):
        self._lock = threading.Lock()
        self._counts = Counter()
        self.findings = []

    def count(self, name, by=1):
        with self._lock:
            self._counts[name] += by

    def find(self, text):
        with self._lock:
            self.findings.append(text)
        print(f"finding: {text}", flush=True)

    def counts(self):
        with self._lock:
            return dict(sorted(self._counts.items()))


class Watched(Bridge):
    """A bridge whose counters are read once a second, so that those of a killed one are not lost."""

    def __init__(self, *words, port, figures, **named):
        super().__init__(*words, **named)
        self._url = f"http://127.0.0.1:{port}/metrics"
        self._figures = figures
        self._lock = threading.Lock()
        self._last, self._life = {}, 0

    def look(self):
        """Reads the counters of this life; silence of one that stands still or is dead is none of ours."""
        life = self._life
        try:
            with urllib.request.urlopen(self._url, timeout=0.5) as answer:
                lines = answer.read().decode().splitlines()
        except (OSError, HTTPException):
            return
        found = dict(line.rsplit(" ", 1) for line in lines if line.startswith("agent_bridge_"))
        with self._lock:
            if life == self._life:
                self._last = found

    def life_ends(self):
        """Adds what was last seen of this life to the figures."""
        wanted = {
            "transactions committed": 'agent_bridge_transactions_total{result="committed"}',
            "transactions aborted": 'agent_bridge_transactions_total{result="aborted"}',
            "transactions fenced": 'agent_bridge_transactions_total{result="fenced"}',
            "rebalances: assigned": 'agent_bridge_rebalances_total{kind="assigned"}',
            "rebalances: revoked": 'agent_bridge_rebalances_total{kind="revoked"}',
            "rebalances: lost": 'agent_bridge_rebalances_total{kind="lost"}',
            "stale records": "agent_bridge_stale_records_total",
            "lane restarts": "agent_bridge_lane_restarts_total",
        }
        with self._lock:
            last, self._last = self._last, {}
            self._life += 1
        for name, metric in wanted.items():
            self._figures.count(name, int(float(last.get(metric, 0))))


def deck(rng, cards):
    """The cards in random order, then again in another: each comes up, and no two runs of a seed differ."""
    while True:
        yield from rng.sample(cards, len(cards))


class Chaos:
    """The run itself: a cluster behind a proxy, the bridges, and what is done to both."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.figures = Figures()
        self.over = threading.Event()
        self.began = time.monotonic()

    def tell(self, text):
        print(f"{time.monotonic() - self.began:6.1f} s  {text}", flush=True)

    # ---- the stage -----------------------------------------------------------------------------------

    def start_cluster(self):
        words = [word for line in PROPERTIES for word in ("--property", line)]
        subprocess.run([sys.executable, str(SCRIPT), "start", "--fresh", "--brokers", "3", "--proxied",
                        "--dir", str(self.folder), *words], check=True, stdout=subprocess.DEVNULL)
        self.broker = Broker(self.folder)

    def stop_cluster(self):
        subprocess.run([sys.executable, str(SCRIPT), "stop", "--dir", str(self.folder)], check=True,
                       stdout=subprocess.DEVNULL)

    def make_topics(self):
        source = "chaos.in"
        layout = Layout(source, "chaos", {v: f"chaos.{v}" for v in VARIANTS}, f"{source}.errors",
                        f"{source}.quarantine")
        counts = {source: PARTITIONS, layout.errors: 3, layout.quarantine: 3}
        counts |= {layout.routes[v]: OUTPUT_PARTITIONS[v] for v in VARIANTS}
        for topic, partitions in counts.items():
            layout.counts[topic] = self.broker.create(topic, partitions) and partitions
        self.layout = layout

    def make_bridges(self):
        """Two of dynamic membership and one of static; transactions of different lengths."""
        long = {"commit_interval": "1s", "commit_records": 1000000}
        plans = (("one", 2, {}, True), ("two", 1, long, False), ("three", 1, {}, False))
        self.bridges = []
        logs = self.folder / "chaos"
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir()
        for name, lanes, delivery, named in plans:
            port = free_port()
            settings = config(
                self.broker, self.layout.group, [self.layout.source_config()],
                kafka={"bootstrap.servers": self.broker.state["proxied"]["bootstrap"]},
                consumer={"session.timeout.ms": SESSION_S * 1000}, lanes=lanes,
                delivery={"transaction_timeout": f"{TRANSACTION_S}s", **delivery},
                instance=name if named else None, http={"listen": f"127.0.0.1:{port}"})
            self.bridges.append(Watched(settings, logs, name, host=None if named else f"chaos-{name}",
                                        port=port, figures=self.figures))

    # ---- what is done to bridges ---------------------------------------------------------------------

    def end_life(self, bridge):
        bridge.kill9()
        bridge.life_ends()

    def kill_bridge(self, rng, bridge):
        self.end_life(bridge)
        self.figures.count("bridges killed")
        # Mostly a supervisor's pace, sometimes past the session.
        self.over.wait(rng.choice((0, 0, rng.uniform(0, 3), SESSION_S + 2)))
        bridge.start()

    def kill_bridge_while_it_starts(self, rng, bridge):
        for _ in range(2):
            self.end_life(bridge)
            bridge.start()
            self.over.wait(rng.uniform(0, 2))
            self.figures.count("bridges killed")

    def stop_bridge(self, rng, bridge):
        bridge.look()
        bridge.signal(signal.SIGTERM)
        try:
            code = bridge.process.wait(40)
        except subprocess.TimeoutExpired:
            self.figures.find(f"{bridge.name} did not stop within 40 s")
            code = None
        if code not in (0, 75):
            self.figures.find(f"{bridge.name} ended a stop with {code}")
        self.end_life(bridge)
        self.figures.count("bridges stopped" if code == 0 else "bridges stopped with 75")
        self.over.wait(rng.uniform(0, 4))
        bridge.start()

    def freeze_bridge(self, seconds, name):
        def freeze(_, bridge):
            with bridge.frozen():
                self.over.wait(seconds)
            self.figures.count(name)
        return freeze

    def disturb_bridges(self):
        rng = random.Random(f"bridges {self.arguments.seed}")
        actions = ([self.kill_bridge] * 5 + [self.kill_bridge_while_it_starts, self.stop_bridge, self.stop_bridge]
                   + [self.freeze_bridge(2, "bridges frozen"),
                      self.freeze_bridge(SESSION_S + 2, "bridges frozen past the session"),
                      self.freeze_bridge(TRANSACTION_S + 4, "bridges frozen past the transaction")])
        for action in deck(rng, actions):
            if self.over.wait(rng.uniform(0.5, 4)):
                return
            self.revive()
            action(rng, rng.choice(self.bridges))

    def revive(self):
        """Starts those that have ended by themselves again."""
        for bridge in self.bridges:
            if bridge.running:
                continue
            code = bridge.process.returncode
            self.figures.count(f"bridges that ended by themselves with {code}")
            if code not in RESTARTED:
                self.figures.find(f"{bridge.name} ended by itself with {code}: {bridge.log_text()[-2000:]}")
            bridge.life_ends()
            bridge.start()

    # ---- what is done to brokers and the network -----------------------------------------------------

    def kill_broker(self, rng):
        node = rng.choice(NODES)
        self.broker.script("kill9", node)
        self.figures.count("brokers killed")
        self.over.wait(rng.uniform(0, 6))
        self.broker.script("restart", node)

    def restart_broker(self, rng):
        self.broker.script("restart", rng.choice(NODES))
        self.figures.count("brokers restarted")

    def freeze_broker(self, rng):
        with self.broker.frozen(rng.choice(NODES)):
            self.over.wait(rng.uniform(1, 10))
        self.figures.count("brokers frozen")

    def cut(self, verb, numbers, name, most_s):
        def act(rng):
            chosen = numbers or (rng.choice(NODES),)
            self.proxy.command(verb, *chosen)
            self.over.wait(rng.uniform(1, most_s))
            self.proxy.command("open", *chosen)
            self.figures.count(name)
        return act

    def disturb_brokers(self):
        rng = random.Random(f"brokers {self.arguments.seed}")
        actions = ([self.kill_broker] * 3 + [self.restart_broker, self.freeze_broker]
                   + [self.cut("cut", None, "cuts of one broker", 6), self.cut("hold", None, "holds of one broker", 12),
                      self.cut("cut", NODES, "cuts of all brokers", 4),
                      self.cut("hold", NODES, "holds of all brokers", SESSION_S + 4)])
        for action in deck(rng, actions):
            if self.over.wait(rng.uniform(1, 5)):
                return
            action(rng)

    # ---- the run -------------------------------------------------------------------------------------

    def watch(self):
        while not self.over.wait(1):
            for bridge in self.bridges:
                bridge.look()

    def guarded(self, act):
        def run():
            try:
                act()
            except BaseException as error:  # a thread that dies unseen would make a quiet run of it
                self.figures.find(f"{act.__name__}: {error!r}")
        return threading.Thread(target=run)

    def storm(self):
        """Load and disturbances for the time asked for; returns what was written, with its verdicts."""
        traffic, oracle, verdicts = Traffic(self.layout.source, PARTITIONS, self.arguments.seed), \
            self.layout.oracle(), []

        def judged():
            for item in traffic.inputs():
                verdicts.append(oracle.judge(item.key, item.value, item.headers, item.timestamp_ms))
                yield item

        for bridge in self.bridges:
            bridge.start()
        with Load(self.broker, judged(), self.arguments.per_second) as load:
            wait_until("the first records are done", lambda: self.progress() > 0)
            self.tell("the load runs")
            threads = [self.guarded(act) for act in (self.disturb_brokers, self.watch)]
            threads.append(threading.Timer(self.arguments.minutes * 60, self.over.set))
            for thread in threads:
                thread.daemon = True
                thread.start()
            # Here, because a bridge dies with the thread that started it.
            self.disturb_bridges()
            for thread in threads:
                thread.join()
            inputs = load.finish(early=True)
        self.tell(f"the load ends: {len(inputs)} records")
        # The generator is one ahead of what was written where the load ended.
        self.written = Counter()
        for item in inputs:
            self.written[int(item.headers[0][1].split(b":")[0])] += 1
        return inputs, verdicts[:len(inputs)]

    def progress(self):
        return sum(at or 0 for at in self.broker.committed(self.layout.group, self.layout.source).values())

    def settle(self):
        """All is healed; the rest is relayed, and the bridges stop in good order."""
        def alive():
            self.revive()
            for bridge in self.bridges:
                bridge.look()
        self.broker.wait_done(self.layout.group, self.layout.source, alive=alive)
        self.tell("all is relayed")
        for bridge in self.bridges:
            bridge.look()
            bridge.stop()
            bridge.life_ends()
        for topic in self.layout.outputs:
            wait_until(f"no transaction is open on {topic}",
                       lambda: self.broker.ends(topic) == self.broker.ends(topic, "read_uncommitted"))

    def events(self):
        """How often each warning and error was logged, over all lives of all bridges."""
        events = Counter()
        for bridge in self.bridges:
            for line in bridge.log_text().splitlines():
                try:
                    event = json.loads(line)
                    events[f"{event['level']}: {event['event']}"] += event["level"] in ("warning", "error")
                except ValueError:
                    self.figures.find(f"{bridge.name}: a log line is no event: {line[:200]}")
        return {name: count for name, count in sorted(events.items()) if count}

    # ---- the sum -------------------------------------------------------------------------------------

    def expectations(self, inputs, verdicts):
        audit, settings = Audit(), self.layout.settings()
        for item, verdict in zip(inputs, verdicts):
            audit.expect_verdict(item, verdict, settings)
        return audit

    def check(self, inputs, verdicts):
        """The two checks in Python, over one reading. Returns counts by kind of the audit."""
        audit = self.expectations(inputs, verdicts)
        sequence = SequenceCheck(self.written, self.layout.errors)
        sample, prefix = [], f"{self.layout.source}:0:"
        for record in self.broker.read(self.layout.outputs):
            audit.see(record)
            sequence.see(record)
            source = (record.header(SOURCE_HEADER) or b"").decode("utf-8", "replace")
            if source.startswith(prefix) and int(source.split(":")[2]) < SAMPLE:
                sample.append(record)
        for problem in audit.finish()[1:]:
            self.figures.find(problem)
        if sequence.finish():
            self.figures.find(f"the numbers of the keys: {sequence.finish()}")
        self.try_faults(inputs, verdicts, sample)
        return audit.kinds

    def verify(self):
        """The bridge's own verdict over the same topics."""
        said = subprocess.run([program(), "verify", "-c", str(self.bridges[0].config_file)], capture_output=True,
                              text=True, timeout=600)
        print(said.stdout, end="", flush=True)
        if said.returncode != 0:
            self.figures.find(f"agent-bridge verify ended with {said.returncode}: {said.stderr[-2000:]}")

    def try_faults(self, inputs, verdicts, sample):
        """What has just called a run clean must find what is planted in a part of it."""
        pairs = [(i, v) for i, v in zip(inputs, verdicts) if i.partition == 0 and i.offset < SAMPLE]
        rng = random.Random(f"faults {self.arguments.seed}")
        for kind, plant in FAULTS.items():
            audit = self.expectations(*zip(*pairs))
            audit.see_all(plant(rng, list(sample))).finish()
            if audit.kinds[kind] == 0:
                self.figures.find(f"the check is void: it does not see what is {kind}")
            self.figures.count("planted faults found", audit.kinds[kind] > 0)


def _plant_reordered(rng, records):
    """Moves a record behind a later one of its place."""
    while True:
        first = rng.randrange(len(records))
        for second in range(first + 1, len(records)):
            if all(getattr(records[first], name) == getattr(records[second], name)
                   for name in ("topic", "partition", "key")):
                records[first], records[second] = records[second], records[first]
                return records


def _plant_missing(rng, records):
    del records[rng.randrange(len(records))]
    return records


def _plant_doubled(rng, records):
    return records + [rng.choice(records)]


def _plant_altered(rng, records):
    at = rng.choice([n for n, record in enumerate(records) if record.value])
    value = bytearray(records[at].value)
    value[rng.randrange(len(value))] ^= 1
    records[at] = records[at]._replace(value=bytes(value))
    return records


FAULTS = {"missing": _plant_missing, "doubled": _plant_doubled, "altered": _plant_altered,
          "reordered": _plant_reordered}
# Without these the run proves nothing.
NEEDED = ("bridges killed", "brokers killed", "rebalances: assigned", "transactions aborted",
          "transactions committed")


def last_line(records, kinds):
    """The verdict in one line. What nobody expected counts as altered: its source says what it is not."""
    return (f"{records} records, {kinds['missing']} missing, {kinds['doubled']} duplicate, "
            f"{kinds['altered'] + kinds['unexpected']} altered, {kinds['reordered']} reordered")


def write_report(chaos, line, seconds):
    counts, events = chaos.figures.counts(), chaos.events()
    versions = json.loads(subprocess.run([program(), "version", "--json"], capture_output=True, check=True).stdout)
    report = {"seed": chaos.arguments.seed, "minutes": chaos.arguments.minutes, "seconds": round(seconds),
              "per_second": chaos.arguments.per_second, "broker": chaos.broker.state["version"],
              "version": versions, "figures": counts, "events": events, "findings": chaos.figures.findings, "verdict": line}
    file = ROOT / "build" / "chaos" / f"seed-{chaos.arguments.seed}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(report, indent=2) + "\n")
    for name, count in counts.items():
        print(f"{count:9d}  {name}")
    print(f"written to {file}")


def run(arguments):
    folder = state_folder().parent / "broker-chaos"
    chaos = Chaos(arguments, folder)
    kinds, line = Counter(), "no verdict: the run did not come to its end"
    chaos.start_cluster()
    try:
        with Proxy(chaos.broker.state["proxied"]["doors"]) as chaos.proxy:
            chaos.make_topics()
            chaos.make_bridges()
            chaos.tell("three brokers run")
            try:
                inputs, verdicts = chaos.storm()
                chaos.settle()
            finally:
                chaos.over.set()
                for bridge in chaos.bridges:
                    bridge.kill9()
            chaos.figures.count("records", len(inputs))
            kinds = chaos.check(inputs, verdicts)
            chaos.verify()
            chaos.tell("all is checked")
        for name in NEEDED:
            if not chaos.figures.counts().get(name):
                chaos.figures.find(f"the run is void: no {name}")
        line = last_line(len(inputs), kinds)
    except Exception as error:
        chaos.figures.find(repr(error))
        raise
    finally:
        write_report(chaos, line, time.monotonic() - chaos.began)
        chaos.broker.close()
        chaos.stop_cluster()
    print(line)
    return 1 if chaos.figures.findings or any(kinds.values()) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--per-second", type=int, default=600)
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
