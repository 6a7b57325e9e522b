#!/usr/bin/env python3
"""A newcomer's first half hour with docker-compose.yml, played by a program; docs/tour.md is what it wrote.

    make tour                              all of it, with Kafka away for five minutes
    deploy/tour/tour.py [--down SECONDS] [--page FILE] [--keep]

Everything that the page says holds is checked here, and the first check that fails ends the tour with
exit code 1 and no page. It runs under a compose project of its own, agent-bridge-tour, and removes that
at the end (--keep leaves it). Needs docker with compose and Python's standard library.

Where docker or the image debian:trixie-slim is missing and cannot be pulled, $BASE_IMAGE_SCRIPT is run with
`trixie` (default ../shared/tools/local-base-image.sh), and apache/kafka is then built from Maven's jars.
"""

import argparse
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import audit
from page import CheckFailed, Page
from stack import PROJECT, ROOT, Stack, Trouble, run, wait_until

SAMPLES = ROOT / "deploy" / "samples" / "records.tsv"
# transaction_timeout of the configuration, and how often the broker looks for transactions past it.
TRANSACTION_TIMEOUT_S = 15
BROKER_LOOKS_EVERY_S = 1
# How exactly the tour measures: one look at the end of a topic, on a machine with other work.
LOOK_S = 4
DOCKER_STOP_S = 10
# A replica that was killed is missed after the session timeout (45 s), then the group rebalances.
TAKEOVER_S = 180
START_S = 600


# ---- engine and images -----------------------------------------------------------------------------


def have_image(name):
    return run(["docker", "image", "inspect", name], check=False).returncode == 0


def pulled(name):
    print(f"pulling {name}", file=sys.stderr)
    try:
        return run(["docker", "pull", "-q", name], check=False, timeout_s=600).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def kafka_image():
    return re.search(r"image: (apache/kafka:\S+)", (ROOT / "docker-compose.yml").read_text()).group(1)


def engine_answers():
    return shutil.which("docker") and run(["docker", "version"], check=False).returncode == 0


def prepare(base_image_script):
    """Sees to it that an engine, a base image and a Kafka image are there; True where the registry was
    out of reach, whose machines also need the host's network to build."""
    base, kafka = "debian:trixie-slim", kafka_image()
    if not engine_answers() or not (have_image(base) or pulled(base)):
        script = (ROOT / base_image_script).resolve()
        if not script.exists():
            raise Trouble(f"no Docker engine answers, or {base} cannot be pulled, and there is no {script} "
                          "to make them: install Docker, or set BASE_IMAGE_SCRIPT")
        print(f"running {script.name} trixie", file=sys.stderr)
        run(["bash", str(script), "trixie"], timeout_s=1800)
    if not have_image(kafka) and not pulled(kafka):
        run([ROOT / "deploy" / "kafka-stand-in" / "build.sh"], timeout_s=1800)
    label = '{{index .Config.Labels "agent-bridge.stand-in"}}'
    return run(["docker", "image", "inspect", "-f", label, kafka]).stdout.strip() == b"true"


def revision():
    said = run(["git", "describe", "--always", "--dirty", "--abbrev=12"], check=False)
    return said.stdout.decode().strip()


# ---- the tour --------------------------------------------------------------------------------------


class Tour:
    def __init__(self, stack, page, down_s, stand_in):
        self.stack, self.page = stack, page
        self.down_s, self.stand_in = down_s, stand_in
        self.samples = audit.read_samples(SAMPLES)
        self.rounds = 0
        self.requests = 0  # of `snapshot`, beside the rounds
        self.load = None

    # ---- words that several stations share -------------------------------------------------------------

    def play(self, words, code=0):
        """Runs a compose command and shows it; code is how it has to end."""
        done = self.stack.compose(*words.split(), check=False)
        said = done.stdout.decode()
        self.page.show(f"docker compose {words}", re.sub(r"^Attaching to .*\n", "", said))
        if done.returncode != code:
            raise CheckFailed(f"docker compose {words} ends with {code}: it ended with {done.returncode}\n"
                              f"{done.stderr.decode()[-2000:]}")
        return done

    def start_load(self, rounds, per_second):
        self.load = self.stack.popen("run", "--rm", "-T", "tools", "traffic", str(rounds), str(per_second))
        self.rounds += rounds
        self.page.say("```console\n$ docker compose run --rm tools traffic "
                      f"{rounds} {per_second} &\n```")

    def end_load(self):
        said = self.load.communicate(timeout=900)[0].decode()
        if self.load.returncode != 0:
            raise Trouble(f"the sample traffic ended with {self.load.returncode}: {said}")
        self.load = None
        self.page.say("The traffic has ended:\n\n```console\n" + said.rstrip() + "\n```")

    def records(self, topic):
        said = self.stack.in_box("kcat", "-C", "-q", "-e", "-b", "kafka:19092", "-t", topic, "-o", "beginning",
                                 "-X", "isolation.level=read_committed", "-f", audit.KCAT_FORMAT)
        return list(audit.parse_dump(said.stdout))

    def account(self):
        """Waits until nothing is on its way any more, then holds every record against its sample."""
        self.play("run --rm tools where 240")
        check = audit.Audit(self.samples, {topic: self.records(topic) for topic in audit.TOPICS})
        wrong = check.run()
        self.page.check(not wrong, f"each of the {len(check.inputs)} records came out once, where it belongs, "
                        "unaltered and in its key's order", wrong)
        wanted = self.rounds * len(self.samples) + self.requests
        self.page.check(len(check.inputs) == wanted, f"all {wanted} records that were written came in",
                        f"{len(check.inputs)}")

    def all_ready(self, count):
        wait_until(f"{count} bridges are healthy",
                   lambda: sum(b.healthy for b in self.stack.bridges()) == count, START_S)

    def share(self, members, lanes):
        """Waits for so many members in the group, and returns address -> partitions."""
        def look():
            found = self.stack.members()
            settled = sorted(p for held in found.values() for p in held) == [0, 1]
            return found if len(found) == members and settled else None
        return wait_until(f"{members} members share {lanes} partitions", look, TAKEOVER_S)

    def undisturbed(self, bridges, text):
        restarts = {b.name: b.restarts for b in bridges if b.restarts or not b.running}
        self.page.check(not restarts, text, str(restarts))

    # ---- stations ------------------------------------------------------------------------------------------

    def start(self):
        page = self.page
        page.section("Start")
        page.say("One command builds the bridge's image, starts a Kafka of one node, makes the topics and, once "
                 "they are there, starts the bridge.")
        self.play("up -d")
        self.stack.box()
        page.say("`topics` ran once and ended; this is what it made:")
        self.play("logs --no-log-prefix --no-color topics")
        self.all_ready(1)
        bridge = self.stack.bridges()[0]
        page.say("Docker asks the bridge how it is with `agent-bridge health`, which the image brings along; the "
                 "same answer is on its HTTP port.")
        page.show("curl -s http://localhost:9465/livez http://localhost:9465/readyz",
                  bridge.get("/livez")[1].rstrip() + "\n" + bridge.get("/readyz")[1])
        page.check(bridge.get("/livez")[0] == 200, "the bridge is live", str(bridge.get("/livez")))
        page.check(bridge.get("/readyz")[0] == 200, "and ready", str(bridge.get("/readyz")))
        self.locked_down(bridge)
        self.play("exec -T bridge agent-bridge version")

    def locked_down(self, bridge):
        found = bridge.inspect()
        host, config = found["HostConfig"], found["Config"]
        self.page.check(config["User"] not in ("", "0", "root") and host["ReadonlyRootfs"]
                        and host["CapDrop"] == ["ALL"] and not host["Privileged"],
                        "it runs as a user of its own, under a read-only root, without capabilities",
                        f"{config['User']} {host['ReadonlyRootfs']} {host['CapDrop']}")

    def traffic(self):
        page = self.page
        page.section("Sample traffic")
        page.say("`deploy/samples/records.tsv` holds 53 records: every variant for ten agents, and one record for "
                 "each way a record can be wrong by itself.")
        page.say("Ten of them are export requests: each asks for one agent's state. What the agents' pipeline would "
                 "publish lies in `deploy/samples/states.tsv`, for eight of the ten agents:")
        self.play("run --rm tools states")
        self.play("run --rm tools traffic")
        self.rounds += 1
        page.say("Where did they go? `where` reads every topic as a `read_committed` consumer does:")
        self.account()
        page.say("A routed record is the very bytes that came in. One of them, decoded:")
        self.play("run --rm tools show agents.results")

    def snapshot(self):
        page = self.page
        page.section("What an agent knew")
        page.say("Export requests were answered by the bridge itself, each with the state that was published last. "
                 "`snapshot` sends one more and waits for its answer. It is told the time and the id of a request "
                 "among the samples, so that the answer has to be the same again:")
        answer = self.ask(3)
        page.check(answer["known"] and answer["snapshot"]["requestId"] == "export-03"
                   and answer["snapshot"]["snapshotAtMs"] == "1767225780003", "it is the published state, with the "
                   "request's own time and id", str(answer))
        page.say("Nothing was ever published of agent-09, and the answer says so:")
        answer = self.ask(9)
        page.check(not answer["known"] and "state_from" not in answer, "it names no record that it was made from",
                   str(answer))
        self.account()

    def ask(self, number):
        """Sends the export request that the samples have of this agent, and returns what was printed."""
        done = self.play(f"exec -T bridge agent-bridge snapshot agent-{number:02d} --request-id export-{number:02d} "
                         f"--at 2026-01-01T00:{number:02d}:00.003Z")
        self.requests += 1
        return json.loads(done.stdout)

    def broken(self):
        page = self.page
        page.section("One broken record")
        page.say("Thirteen records were refused. Take the one whose text is not UTF-8. Its dead letter says which "
                 "record it was, at which byte it went wrong and in which field; what `invalid_utf8` means, and what "
                 "to do about it, is in [reasons.md](reasons.md).")
        shown = self.play("run --rm tools show agents.in.errors reason=invalid_utf8").stdout.decode()
        page.check('\\"at\\":37,\\"field\\":\\"approval.approver\\"' in shown, "the dead letter names byte 37 of "
                   "approval.approver", shown)
        page.say("The record itself lies in quarantine, byte for byte. Byte 37 is the last one, `e9`: an é in "
                 "Latin-1, where the schema wants UTF-8.")
        self.play("run --rm tools show --hex agents.in.quarantine reason=invalid_utf8")
        page.say("`inspect` refuses the same bytes for the same reason, and says so with exit code 65 (here behind "
                 "`show`, on standard error):")
        done = self.stack.compose("run", "--rm", "tools", "show", "agents.in.quarantine", "reason=invalid_utf8",
                                  check=False)
        said = [line for line in done.stderr.decode().splitlines() if "inspect:" in line]
        page.show("docker compose run --rm tools show agents.in.quarantine reason=invalid_utf8 >/dev/null",
                  "\n".join(said))
        page.check(done.returncode == 65 and any("invalid_utf8 at byte 37" in line for line in said),
                   "inspect names the same byte", done.stderr.decode())

    def metrics(self):
        page = self.page
        page.say("The counters tell the same story, for a dashboard:")
        body = self.stack.bridges()[0].get("/metrics")[1]
        lines = [line for line in body.splitlines()
                 if line.startswith("agent_bridge_records_total") and not line.endswith(" 0")]
        page.show("curl -s http://localhost:9465/metrics | grep '^agent_bridge_records_total' | grep -v ' 0$'",
                  "\n".join(lines))
        page.check(any("dead_lettered" in line and line.endswith(" 13") for line in lines),
                   "/metrics counts 13 dead letters", "\n".join(lines))

    def scale(self):
        page = self.page
        page.section("Three bridges")
        page.say("More replicas share the work. Meanwhile records keep coming, ten rounds of 53 a second:")
        self.start_load(300, 10)
        self.play("up -d --scale bridge=3")
        self.all_ready(3)
        shared = self.share(3, 2)
        page.say("`docker compose exec kafka /opt/kafka/bin/kafka-consumer-groups.sh --bootstrap-server "
                 "localhost:19092 --describe --group agent-bridge --members` counts the partitions of each member: "
                 "there are two of them, and the third bridge waits for one of the others to go.")
        page.check(sorted(len(held) for held in shared.values()) == [0, 1, 1], "partitions moved: two bridges have one "
                   "each, one has none", str(shared))
        bridges = self.stack.bridges()
        page.check(all(b.get("/readyz")[0] == 200 for b in bridges), "all three are ready, the one without a "
                   "partition too", str([b.get("/readyz") for b in bridges]))
        self.undisturbed(bridges, "none ended or was restarted")
        fenced = [e for b in bridges for e in b.events() if e.get("event") == "fenced"]
        page.check(not fenced, "none fenced another", str(fenced[:3]))
        self.end_load()
        self.account()
        return shared

    def kill(self, shared):
        page = self.page
        page.section("One is killed")
        page.say("`docker kill`, of a bridge that has a partition and is busy: its open transaction holds up "
                 "`read_committed` readers of that partition until the broker ends it, after `transaction_timeout` "
                 f"({TRANSACTION_TIMEOUT_S}s) and no later. The partition goes to another bridge once the group has "
                 "missed the dead one (`session.timeout.ms`, 45 s).")
        page.say("To be sure to hit it in the middle of a transaction, work is piled up before it: it is frozen while "
                 "2000 rounds are written, and killed when it has just gone on.")
        address, held = next((a, held) for a, held in shared.items() if held)
        victim = next(b for b in self.stack.bridges() if b.address() == address)
        waited = self.kill_and_wait(victim, held[0])
        limit = TRANSACTION_TIMEOUT_S + BROKER_LOOKS_EVERY_S + LOOK_S
        page.check(waited <= limit, "readers waited for its open transaction no longer than transaction_timeout "
                   f"(but for the second in which the broker looks, and {LOOK_S} s of measuring)", f"{waited:.1f} s")
        after = self.share(2, 2)
        page.check(sorted(len(held) for held in after.values()) == [1, 1], "the bridge without a partition took over",
                   str(after))
        page.check(not victim.running, "Docker left the killed one dead, as it was told", victim.name)
        others = [b for b in self.stack.bridges() if b.name != victim.name]
        self.undisturbed(others, "the other two did not so much as restart")
        self.account()
        return others

    def kill_and_wait(self, victim, partition):
        """Kills it while it has a transaction open, and measures how long that kept readers from what lay
        behind. Keys keep their partition from topic to topic, so nobody else writes to this one."""
        topic, name = audit.ROUTED[0], f"{PROJECT}_bridge_N"

        def end(isolation):
            return self.stack.ends(topic, isolation)[partition]

        def caught():
            """Let go for a moment, and frozen again: with an open transaction, whose commit is not under way?"""
            run(["docker", "unpause", victim.name])
            time.sleep(random.uniform(0.02, 0.1))
            run(["docker", "pause", victim.name])
            stable = end("read_committed")
            if stable < end("read_uncommitted"):
                time.sleep(1)
                return end("read_committed") == stable
            return False

        def pile_up():
            return self.stack.compose("run", "--rm", "tools", "traffic", "2000").stdout.decode()

        run(["docker", "pause", victim.name])
        self.page.show(f"docker pause {name}", "")
        self.page.show("docker compose run --rm tools traffic 2000", pile_up())
        self.rounds += 2000
        tries = 1
        while not caught():
            # A quick one is through with the pile in a few tries.
            if tries % 8 == 0:
                pile_up()
                self.rounds += 2000
            tries += 1
            if tries > 60:
                raise Trouble(f"{victim.name} was never found with a transaction open")
        written = end("read_uncommitted")
        run(["docker", "kill", victim.name])
        killed = time.monotonic()
        self.page.show(f"docker unpause {name}; docker kill {name}", "")
        wait_until("the open transaction has ended", lambda: end("read_committed") >= written, 90, every_s=0.1)
        waited = time.monotonic() - killed
        print(f"readers waited {waited:.1f} s for its open transaction", file=sys.stderr)
        return waited

    def stop(self, running):
        page = self.page
        page.section("One is stopped")
        page.say("`docker stop` is the ordinary end: the bridge commits what it has in hand, gives its partition back "
                 "and exits with 0.")
        self.start_load(300, 10)
        address, _ = next((a, held) for a, held in self.share(2, 2).items() if held)
        leaver = next(b for b in running if b.address() == address)
        began = time.monotonic()
        run(["docker", "stop", "-t", str(DOCKER_STOP_S), leaver.name])
        took = time.monotonic() - began
        page.show(f"docker stop {PROJECT}_bridge_N", "")
        code = leaver.state()["ExitCode"]
        page.check(took < DOCKER_STOP_S, f"it was gone within {DOCKER_STOP_S} seconds", f"{took:.1f} s")
        page.check(code == 0, "its exit code is 0", str(code))
        after = self.share(1, 2)
        page.check(len(after) == 1, "the last bridge has both partitions", str(after))
        self.end_load()
        self.account()
        return [b for b in running if b.name != leaver.name]

    def kafka_away(self, last):
        page = self.page
        page.section("Kafka goes away")
        page.say(f"Kafka is stopped for {self.down_s} seconds, right behind a burst of records.")
        self.play("run --rm tools traffic 200")
        self.rounds += 200
        before = {b.name: b.state()["StartedAt"] for b in last}
        self.play("stop kafka")
        end = time.monotonic() + self.down_s
        looks = 0
        while time.monotonic() < end:
            for bridge in last:
                code, body = bridge.get("/livez")
                if code != 200 or not bridge.running:
                    raise CheckFailed(f"{bridge.name} stays live while Kafka is away: {code} {body}\n{bridge.tail()}")
                looks += 1
            time.sleep(min(5, max(0.1, end - time.monotonic())))
        page.check(looks > 0, "the bridge stayed live all that time (`/livez`, every 5 seconds)")
        self.play("start kafka")
        wait_until("Kafka is there again", lambda: self.stack.containers("kafka")[0].healthy, START_S)
        wait_until("the bridge is ready again", lambda: all(b.get("/readyz")[0] == 200 for b in last), START_S)
        page.check(all(b.state()["StartedAt"] == before[b.name] and b.restarts == 0 for b in last),
                   "it was not restarted", str(before))
        page.say("Nobody touched the bridge. New records go through, and the old ones are there:")
        self.play("run --rm tools traffic 10")
        self.rounds += 10
        self.account()

    def finish(self, last):
        page = self.page
        page.section("The end")
        self.play("stop bridge")
        codes = [b.state()["ExitCode"] for b in last]
        page.check(codes == [0] * len(last), "the last bridge ends with 0 as well", str(codes))
        ledger = [e for e in last[0].events() if e.get("event") == "ledger"]
        page.check(bool(ledger), "its last word is its ledger", last[0].tail())
        page.say("`docker compose down -v` removes it all. From here: [configuration.md](configuration.md) has every "
                 "key, [operations.md](operations.md) what to watch.")

    def all(self):
        page = self.page
        page.title("A first half hour")
        page.say("<!-- Written by `make tour`; edit deploy/tour/tour.py instead. -->")
        words = " ".join(self.stack.words)
        version = run([*self.stack.words, "version", "--short"]).stdout.decode().strip()
        kafka = f"`{kafka_image()}`" + (" (the stand-in of deploy/kafka-stand-in, built from Maven's jars, since no "
                                        "registry was in reach)" if self.stand_in else "")
        page.say(f"This page is a run of `make tour`, which types what you see here and checks what it says holds. It "
                 f"was played with {words} {version} and {kafka}; both forms of compose take the same words.")
        self.start()
        self.traffic()
        self.metrics()
        self.snapshot()
        self.broken()
        shared = self.scale()
        running = self.kill(shared)
        last = self.stop(running)
        self.kafka_away(last)
        self.finish(last)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--down", type=int, default=300, metavar="SECONDS",
                        help="Kafka stays away so long (%(default)s)")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the page there when all has held")
    parser.add_argument("--keep", action="store_true", help="leave the containers at the end")
    parser.add_argument("--base-image-script", default="../shared/tools/local-base-image.sh", metavar="FILE",
                        help="makes debian:trixie-slim where it cannot be pulled (%(default)s)")
    return parser.parse_args(argv)


def play(arguments):
    stand_in = prepare(arguments.base_image_script)
    stack = Stack("host" if stand_in else "default", revision())
    page = Page()
    tour = Tour(stack, page, arguments.down, stand_in)
    stack.close(keep=False)  # what an earlier tour may have left
    try:
        print("building the images", file=sys.stderr)
        stack.compose("--profile", "tools", "build", "bridge", "tools", timeout_s=3600)
        tour.all()
    except (CheckFailed, Trouble, subprocess.TimeoutExpired) as error:
        for bridge in stack.bridges():
            print(f"---- {bridge.name}\n{bridge.tail()}", file=sys.stderr)
        print(f"tour: {'does not hold: ' if isinstance(error, CheckFailed) else ''}{error}", file=sys.stderr)
        return 1
    finally:
        if tour.load is not None:
            tour.load.terminate()
        stack.close(arguments.keep)
    if arguments.page:
        arguments.page.write_text(page.text(), encoding="utf-8")
    print(f"{page.checks} checks held")
    return 0


def main(argv):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    arguments = parse(argv)
    try:
        return play(arguments)
    except Trouble as error:
        print(f"tour: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
