#!/usr/bin/env python3
"""What docker-compose.yml, deploy/Dockerfile, deploy/setup-topics.sh and the example configurations say of
each other. Docker itself is not needed: `make tour` runs them."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = (ROOT / "docker-compose.yml").read_text()
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text()
EXAMPLE = ROOT / "deploy" / "examples" / "compose.yaml"
SETUP = ROOT / "deploy" / "setup-topics.sh"

FAKE_TOPICS = """\
#!/usr/bin/env python3
import os, pathlib, sys
state = pathlib.Path(os.environ["STATE"])
words = sys.argv[1:]
def value(name): return words[words.index(name) + 1]
with open(state / "calls", "a") as calls: calls.write(" ".join(words) + "\\n")
if (state / "down").exists(): sys.exit("timed out")
if "--create" in words:
    config = ",".join(words[i + 1] for i, word in enumerate(words) if word == "--config")
    (state / "topics" / value("--topic")).write_text(f"{value('--partitions')} {config}")
elif "--describe" in words:
    for topic in sorted((state / "topics").iterdir()):
        count, config = topic.read_text().split(" ", 1)
        print(f"Topic: {topic.name}\\tTopicId: abc\\tPartitionCount: {count}\\tReplicationFactor: 1\\t"
              f"Configs: {config}")
        print(f"\\tTopic: {topic.name}\\tPartition: 0\\tLeader: 1\\tReplicas: 1\\tIsr: 1")
"""


def service(name):
    """The text of one service of the compose file."""
    found = re.search(rf"^  {name}:\n(.*?)(?=^\S|^  \S|\Z)", COMPOSE, re.M | re.S)
    return "\n".join(line for line in found.group(1).splitlines() if not line.strip().startswith("#"))


def seconds(text):
    return int(re.fullmatch(r"(\d+)s", text).group(1))


class ComposeFile(unittest.TestCase):
    def test_kafka_image_of_the_version_that_the_broker_tests_use(self):
        pom = (ROOT / "tests" / "broker" / "pom.xml").read_text()
        version = re.search(r"<kafka\.version>(.*?)<", pom).group(1)
        self.assertEqual(set(re.findall(r"image: (apache/kafka:\S+)", COMPOSE)), {f"apache/kafka:{version}"})

    def test_bridge_scales_with_no_name_and_no_port_of_its_own(self):
        bridge = service("bridge")
        self.assertNotRegex(bridge, r"hostname|container_name")
        self.assertNotRegex(EXAMPLE.read_text(), r"(?m)^instance")
        low, high = re.search(r":-(\d+)-(\d+)}:9465", bridge).groups()
        self.assertGreaterEqual(int(high) - int(low), 2)

    def test_bridge_may_finish_its_commit_before_docker_kills_it(self):
        grace = seconds(re.search(r"stop_grace_period: (\S+)", service("bridge")).group(1))
        page = (ROOT / "docs" / "configuration.md").read_text()
        section = page[page.index("### `shutdown`"):]
        shutdown = seconds(re.search(r"\| `timeout` \|[^|]*\| `(\w+)`", section).group(1))
        self.assertGreater(grace, shutdown)
        self.assertNotIn("shutdown", EXAMPLE.read_text())

    def test_bridge_and_tools_run_locked_down(self):
        for name in ("bridge", "tools"):
            for line in ("read_only: true", "cap_drop: [ALL]", 'security_opt: ["no-new-privileges:true"]'):
                self.assertIn(line, service(name), name)

    def test_each_bridge_has_a_store_of_its_own_that_it_may_write(self):
        folder = re.search(r"^  dir: (\S+)$", EXAMPLE.read_text(), re.M).group(1)
        # Without a name, or replicas would share the volume; its owner is that of the folder in the image.
        self.assertIn(f"      - {folder}\n", service("bridge"))
        user, group = re.findall(r"^USER (\d+):(\d+)$", DOCKERFILE, re.M)[-1]
        self.assertRegex(DOCKERFILE, rf"install -d -o {user} -g {group} -m 0750 {folder}\n")

    def test_ports_published_to_this_machine_only(self):
        ports = re.findall(r'^\s+- "(\S+:\d+)"$', COMPOSE, re.M)
        self.assertEqual(len(ports), 2)
        for port in ports:
            self.assertTrue(port.startswith("127.0.0.1:"), port)

    def test_config_listens_where_the_image_exposes(self):
        port = re.search(r"^EXPOSE (\d+)$", DOCKERFILE, re.M).group(1)
        self.assertIn(f"listen: 0.0.0.0:{port}", EXAMPLE.read_text())
        self.assertIn(f":{port}\"", service("bridge"))


class Image(unittest.TestCase):
    def test_context_lets_in_what_is_copied_and_no_more(self):
        let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
        copied = {word for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.M) for word in line.split()[:-1]}
        self.assertEqual(copied, let_in)
        for name in copied:
            self.assertTrue((ROOT / name).exists(), name)

    def test_default_stage_is_the_daemon_under_a_number_that_is_not_root(self):
        self.assertEqual(re.findall(r"^FROM .* AS (\S+)$", DOCKERFILE, re.M)[-1], "bridge")
        self.assertGreater(int(re.findall(r"^USER (\d+):\d+$", DOCKERFILE, re.M)[-1]), 0)

    def test_default_stage_has_its_commands(self):
        stage = DOCKERFILE[DOCKERFILE.index("AS bridge\n"):]
        for line in ('ENTRYPOINT ["agent-bridge"]', 'CMD ["run"]', "STOPSIGNAL SIGTERM",
                     'CMD ["agent-bridge", "health"]'):
            self.assertIn(line, stage)

    def test_libraries_asked_for_are_those_that_setup_installs(self):
        setup = (ROOT / "scripts" / "setup.sh").read_text()
        wanted = set(re.findall(r"\blib\S+-dev\b", re.search(r"build_packages=\((.*?)\)", setup, re.S).group(1)))
        stage = DOCKERFILE[:DOCKERFILE.index("AS runtime")]
        self.assertEqual(set(re.findall(r"\blib\S+-dev\b", stage)), wanted)


class Example(unittest.TestCase):
    def test_lint_finds_nothing(self):
        done = subprocess.run([os.environ["AGENT_BRIDGE"], "lint", "-c", str(EXAMPLE)], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_topics_all_made(self):
        made = set(re.findall(r'^  "(\S+) +\$', SETUP.read_text(), re.M))
        config = EXAMPLE.read_text()
        source = re.search(r"topic: (\S+)", config).group(1)
        routes = set(re.findall(r"^      \w+: (agents\S+)$", config, re.M))
        self.assertEqual(len(routes), 3)
        state = re.search(r"snapshots_from: \[(\S+)\]", config).group(1)
        answers = re.search(r"^snapshots:\n  topic: (\S+)$", config, re.M).group(1)
        self.assertEqual(made, routes | {source, state, answers, source + ".errors", source + ".quarantine"})


class SetupTopics(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "topics").mkdir()
        self.tool = self.folder / "kafka-topics"
        self.tool.write_text(FAKE_TOPICS.replace("/usr/bin/env python3", sys.executable))
        self.tool.chmod(0o755)
        sleep = self.folder / "sleep"
        sleep.write_text("#!/bin/sh\n")
        sleep.chmod(0o755)

    def setup(self, **env):
        return subprocess.run([SETUP], capture_output=True, text=True, timeout=60, check=False,
                              env=os.environ | {"KAFKA_TOPICS": str(self.tool), "STATE": str(self.folder),
                                                "PATH": f"{self.folder}:{os.environ['PATH']}"} | env)

    def calls(self, word):
        return [line for line in (self.folder / "calls").read_text().splitlines() if word in line]

    def test_empty_cluster_gets_all_topics(self):
        done = self.setup(PARTITIONS="5")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(self.calls("--create")), 8)
        self.assertRegex(done.stdout, r"agents\.in\.quarantine +5  delete +14d +1114112\n")
        self.assertRegex(done.stdout, r"agents\.snapshots +5  compact +1048588\n")
        self.assertEqual((self.folder / "topics" / "agents.snapshots").read_text(),
                         "5 cleanup.policy=compact,delete.retention.ms=86400000,max.message.bytes=1048588")
        self.assertEqual((self.folder / "topics" / "agents.in").read_text(),
                         "5 cleanup.policy=delete,retention.ms=604800000,max.message.bytes=1048588")

    def test_topics_of_the_tour_are_these(self):
        self.assertIn("\n" + self.setup().stdout, (ROOT / "docs" / "tour.md").read_text())

    def test_second_run_makes_nothing(self):
        self.setup()
        first = len(self.calls("--create"))
        self.assertEqual(self.setup().returncode, 0)
        self.assertEqual(len(self.calls("--create")), first)

    def test_wrong_partition_count_named(self):
        self.setup()
        done = self.setup(PARTITIONS="3")
        self.assertEqual(done.returncode, 1)
        self.assertIn("agents.in has 2 partitions, 3 were asked for", done.stderr)

    def test_wrong_cleanup_policy_named(self):
        self.setup()
        topic = self.folder / "topics" / "agents.events"
        topic.write_text(topic.read_text().replace("=delete", "=compact"))
        done = self.setup()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "setup-topics: agents.events has cleanup.policy=compact, not delete\n")

    def test_no_broker_said_with_69(self):
        (self.folder / "down").touch()
        done = self.setup(BOOTSTRAP="nowhere:1")
        self.assertEqual(done.returncode, 69)
        self.assertIn("no broker answers at nowhere:1", done.stderr)
        self.assertEqual(self.calls("--create"), [])


if __name__ == "__main__":
    unittest.main()
