"""The tour's hands: docker, and compose in whichever of its two forms is there."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = "agent-bridge-tour"
GROUP = "agent-bridge"


class Trouble(Exception):
    """The tour cannot go on; the text says why."""


def run(words, timeout_s=600, check=True, env=None, **options):
    """Runs a program with its output caught; (exit code, output, errors)."""
    done = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s,
                          env=os.environ | (env or {}), check=False, **options)
    if check and done.returncode != 0:
        said = (done.stderr or done.stdout).decode("utf-8", "replace")[-2000:]
        raise Trouble(f"{' '.join(map(str, words))} ends with {done.returncode}:\n{said}")
    return done


def wait_until(what, condition, timeout_s, every_s=0.5):
    end = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Trouble(f"{timeout_s:g} s passed and still not: {what}")
        time.sleep(every_s)


def compose_words():
    """`docker compose` where it is there, else docker-compose."""
    if run(["docker", "compose", "version"], check=False).returncode == 0:
        return ["docker", "compose"]
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    raise Trouble("neither `docker compose` nor docker-compose is there")


def http_get(port, path):
    """(status, body) of a bridge's http; status 0 when nothing answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


class Container:
    """One bridge."""

    def __init__(self, name):
        self.name = name

    def inspect(self):
        return json.loads(run(["docker", "inspect", self.name]).stdout)[0]

    def state(self):
        return self.inspect()["State"]

    @property
    def running(self):
        return self.state()["Running"]

    @property
    def healthy(self):
        return self.state().get("Health", {}).get("Status") == "healthy"

    @property
    def restarts(self):
        return self.inspect()["RestartCount"]

    def address(self):
        networks = self.inspect()["NetworkSettings"]["Networks"]
        return next(iter(networks.values()))["IPAddress"]

    def port(self):
        """Where this machine finds its http; another one after each start."""
        ports = self.inspect()["NetworkSettings"]["Ports"].get("9465/tcp")
        return int(ports[0]["HostPort"]) if ports else None

    def get(self, path):
        port = self.port()
        return http_get(port, path) if port else (0, "it does not run")

    def events(self):
        """Its log, an object a line; what a library says in its own way is left out."""
        said = run(["docker", "logs", self.name])
        lines = (said.stdout + said.stderr).decode("utf-8", "replace").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def tail(self):
        said = run(["docker", "logs", "--tail", "15", self.name], check=False)
        return (said.stdout + said.stderr).decode("utf-8", "replace")


class Stack:
    """The services of docker-compose.yml under a project name of the tour's own."""

    def __init__(self, build_network, revision):
        self.words = compose_words()
        self.env = {"COMPOSE_PROJECT_NAME": PROJECT, "BUILD_NETWORK": build_network, "REVISION": revision,
                    "DOCKER_CLI_HINTS": "false"}
        self._box = None

    def compose(self, *words, check=True, timeout_s=1800):
        return run([*self.words, *words], check=check, timeout_s=timeout_s, env=self.env)

    def popen(self, *words):
        return subprocess.Popen([*self.words, *words], cwd=ROOT, env=os.environ | self.env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def containers(self, service):
        """All of a service, running or not, by name."""
        found = run(["docker", "ps", "-a", "--format", "{{.Names}}",
                     "--filter", f"label=com.docker.compose.project={PROJECT}",
                     "--filter", f"label=com.docker.compose.service={service}",
                     "--filter", "label=com.docker.compose.oneoff=False"]).stdout.decode()
        return [Container(name) for name in sorted(found.split())]

    def bridges(self):
        return self.containers("bridge")

    # ---- the box: a tools container that stays, for what the tour itself wants to know ----------------

    def box(self):
        if self._box is None:
            said = self.compose("run", "-d", "--rm", "tools", "sleep", "infinity")
            self._box = said.stdout.decode().split()[-1]
        return self._box

    def in_box(self, *words, check=True):
        return run(["docker", "exec", self.box(), *words], check=check)

    def members(self):
        """Address of each member of the bridge's group -> its partitions of agents.in."""
        said = self.compose("exec", "-T", "kafka", "/opt/kafka/bin/kafka-consumer-groups.sh",
                            "--bootstrap-server", "localhost:19092", "--describe", "--group", GROUP,
                            "--members", "--verbose", check=False)
        members = {}
        for line in said.stdout.decode().splitlines():
            words = line.split()
            if words[:1] == [GROUP]:
                host = next(word for word in words if word.startswith("/"))
                # agents.in:0,1 from Kafka 4 on, agents.in(0,1) before.
                found = re.search(r"agents\.in[:(]([0-9,]+)", line)
                members[host[1:]] = [int(n) for n in found.group(1).split(",")] if found else []
        return members

    def ends(self, topic, isolation):
        """Partition -> where reading ends: with read_committed before the first open transaction."""
        said = self.in_box("kcat", "-C", "-b", "kafka:19092", "-t", topic, "-o", "end", "-e",
                           "-X", f"isolation.level={isolation}")
        found = {}
        for line in said.stderr.decode().splitlines():
            if "Reached end of topic" in line:
                words = line.replace("[", " ").replace("]", " ").replace(":", " ").split()
                found[int(words[words.index(topic) + 1])] = int(words[words.index("offset") + 1])
        return found

    def close(self, keep):
        if self._box is not None:
            run(["docker", "rm", "-f", self._box], check=False)
            self._box = None
        if keep:
            print(f"kept: COMPOSE_PROJECT_NAME={PROJECT} {' '.join(self.words)} down -v", file=sys.stderr)
        else:
            self.compose("--profile", "tools", "down", "-v", "--remove-orphans", check=False)
