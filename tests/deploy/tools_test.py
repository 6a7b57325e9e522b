#!/usr/bin/env python3
"""deploy/tools with a kcat that keeps its topics in files: what is written, counted and shown."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "deploy" / "tools"
SAMPLES = ROOT / "deploy" / "samples" / "records.tsv"
STATES = ROOT / "deploy" / "samples" / "states.tsv"
ROUTED = ("agents.events", "agents.results", "agents.approvals", "agents.snapshots.answers")
TOPICS = ("agents.in", *ROUTED, "agents.in.errors", "agents.in.quarantine")

# Topics are files of "partition offset key headers value-in-hex" lines.
FAKE_KCAT = """\
#!/usr/bin/env python3
import os, pathlib, sys
state = pathlib.Path(os.environ["STATE"])
words = sys.argv[1:]
def value(name): return words[words.index(name) + 1]
if (state / "down").exists(): sys.exit("% ERROR: All broker connections are down")
if "-P" in words:
    (state / "words").write_text("\\n".join(words))
    (state / "produced").write_bytes(sys.stdin.buffer.read())
    sys.exit(0)
for line in (state / value("-t")).read_text().splitlines():
    partition, offset, key, headers, data = line.split(" ")
    if "-p" in words and (value("-p"), value("-o")) != (partition, offset): continue
    text = value("-f").replace("%p", partition).replace("%o", offset).replace("%k", key)
    text = text.replace("%h", headers.replace("~", " ")).replace("\\\\n", "\\n")
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode().replace(b"%s", bytes.fromhex(data)))
"""


class Tools(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.script("kcat", FAKE_KCAT.replace("/usr/bin/env python3", sys.executable))
        shutil.copy(os.environ["AGENT_BRIDGE"], self.folder / "agent-bridge")
        for topic in TOPICS:
            self.fill(topic)

    def script(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def fill(self, topic, *records):
        (self.folder / topic).write_text("".join(record + "\n" for record in records))

    def run_tool(self, name, *words):
        return subprocess.run([TOOLS / name, *words], capture_output=True, text=True, timeout=60, check=False,
                              env=os.environ | {"STATE": str(self.folder), "SAMPLES": str(SAMPLES),
                                                "STATES": str(STATES), "PATH": f"{self.folder}:{os.environ['PATH']}"})


class Traffic(Tools):
    def produced(self):
        """(key, value) of each record, as kcat's delimiters part them."""
        words = (self.folder / "words").read_text().split("\n")
        key_end, record_end = (words[words.index(name) + 1].encode() for name in ("-K", "-D"))
        records = (self.folder / "produced").read_bytes().split(record_end)
        self.assertEqual(records.pop(), b"")
        return [tuple(record.split(key_end)) for record in records]

    def samples(self, file=SAMPLES):
        for line in file.read_text().splitlines():
            if not line.startswith("#"):
                _, key, value, *_ = line.split("\t")
                yield bytes.fromhex(key), b"" if value == "-" else bytes.fromhex(value)

    def test_rounds_are_the_samples_byte_for_byte(self):
        done = self.run_tool("traffic", "3")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.produced(), list(self.samples()) * 3)
        self.assertEqual(done.stdout, "159 records written to agents.in: 120 good, 39 broken\n")

    def test_only_the_tombstone_is_empty_since_kcat_makes_null_of_it(self):
        self.assertEqual(sum(value == b"" for _, value in self.samples()), 1)
        self.run_tool("traffic")
        self.assertIn("-Z", (self.folder / "words").read_text().split("\n"))

    def test_states_go_to_the_state_topic_byte_for_byte(self):
        done = self.run_tool("states")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.produced(), list(self.samples(STATES)))
        words = (self.folder / "words").read_text().split("\n")
        self.assertEqual(words[words.index("-t") + 1], "agents.snapshots")
        self.assertEqual(done.stdout, "8 records written to agents.snapshots: 8 good, 0 broken\n")

    def test_words_that_are_no_numbers_refused(self):
        for words in (("x",), ("3", "-1")):
            self.assertEqual(self.run_tool("traffic", *words).returncode, 64, words)


class Where(Tools):
    def some(self, count, headers=""):
        return [f"0 {n} k {headers} " for n in range(count)]

    def balanced(self):
        self.fill("agents.in", *self.some(5))
        self.fill("agents.events", *self.some(2))
        self.fill("agents.snapshots.answers", *self.some(1))
        self.fill("agents.in.errors", *self.some(2, "__dlq.errors.topic=a,__agent_bridge.reason=tombstone,__x=1"))
        self.fill("agents.in.quarantine", *self.some(2))

    def test_sum_that_is_right_said_with_0(self):
        self.balanced()
        done = self.run_tool("where", "0")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("5 in = 3 routed or answered + 2 dead-lettered: every record is accounted for", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^  tombstone +2$")

    def test_missing_record_said_with_1(self):
        self.balanced()
        self.fill("agents.events", *self.some(1))
        done = self.run_tool("where", "0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 are not there (yet)", done.stdout)

    def test_record_too_many_said_with_1(self):
        self.balanced()
        self.fill("agents.events", *self.some(3))
        done = self.run_tool("where", "0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 too many", done.stdout)

    def test_no_answer_said_with_69(self):
        (self.folder / "down").touch()
        done = self.run_tool("where", "0")
        self.assertEqual(done.returncode, 69)
        self.assertIn("is Kafka up?", done.stderr)


class Show(Tools):
    def test_record_found_by_its_headers_and_decoded(self):
        self.fill("agents.results", "0 0 a __agent_bridge.source=agents.in:0:4:1 0a0161",
                  "1 7 b __agent_bridge.source=agents.in:1:9:1,__second=with~blank 0a0162")
        done = self.run_tool("show", "agents.results", "agents.in:1:9")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "agents.results:1:7\nkey     b\n"
                         "header  __agent_bridge.source=agents.in:1:9:1\nheader  __second=with blank\nvalue\n"
                         '{\n  "entityKey": "Yg=="\n}\n')

    def test_state_and_answer_read_as_snapshots(self):
        for topic in ("agents.snapshots", "agents.snapshots.answers"):
            self.fill(topic, "0 3 a __r=1 120161")
            done = self.run_tool("show", topic)
            self.assertEqual((done.returncode, done.stderr), (0, ""), topic)
            self.assertTrue(done.stdout.endswith('value\n{\n  "entityKey": "YQ=="\n}\n'), done.stdout)

    def test_bytes_shown_as_they_are(self):
        self.fill("agents.in.quarantine", "0 3 a __r=1 00ff0a")
        self.assertTrue(self.run_tool("show", "--hex", "agents.in.quarantine").stdout.endswith("value\n  00 ff 0a\n"))

    def test_bytes_that_are_refused_end_with_65(self):
        self.fill("agents.in.quarantine", "0 3 a __r=1 0a05")
        done = self.run_tool("show", "agents.in.quarantine")
        self.assertEqual(done.returncode, 65)
        self.assertIn("decode_truncated", done.stderr)

    def test_no_such_record_said_with_1(self):
        self.fill("agents.results", "0 0 a __r=1 0a0161")
        self.assertEqual(self.run_tool("show", "agents.results", "nowhere").returncode, 1)

    def test_wrong_words_refused(self):
        for words in ((), ("a", "b", "c"), ("--help",)):
            self.assertEqual(self.run_tool("show", *words).returncode, 64, words)

    def test_no_answer_said_with_69(self):
        (self.folder / "down").touch()
        self.assertEqual(self.run_tool("show", "agents.results").returncode, 69)


if __name__ == "__main__":
    unittest.main()
