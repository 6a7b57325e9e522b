#!/usr/bin/env python3
"""The command line as a whole: help, mistakes, versions, and output that cannot be written."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ["AGENT_BRIDGE"]
LIBRARIES = {"jansson", "libmicrohttpd", "librdkafka", "libyaml", "lmdb", "openssl", "protobuf-c"}
VERSION = r"\d+\.\d+(\.\d+)?"


def run(*arguments, **settings):
    return subprocess.run([PROGRAM, *arguments], text=True, stdin=subprocess.DEVNULL, timeout=30,
                          **({"capture_output": True} | settings))


def verbs():
    """The verbs that the help lists."""
    found = re.search(r"^Verbs:\n(.*?)\n\n", run("--help").stdout, re.M | re.S)
    return [line.split()[0] for line in found.group(1).splitlines()]


class HelpTest(unittest.TestCase):
    def test_help_lists_the_verbs(self):
        for option in ("--help", "-h"):
            done = run(option)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout.startswith("Usage: agent-bridge VERB"))
        self.assertLessEqual({"run", "demo", "lint", "health", "inspect", "version"}, set(verbs()))

    def test_help_of_each_verb_names_usage_and_exit_codes(self):
        for verb in verbs():
            for option in ("--help", "-h"):
                done = run(verb, option)
                self.assertEqual((done.returncode, done.stderr), (0, ""), verb)
                self.assertTrue(done.stdout.startswith(f"Usage: agent-bridge {verb}"), verb)
                self.assertIn("Exit codes:", done.stdout, verb)
                self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100, verb)

    def test_help_wins_over_what_else_is_wrong(self):
        done = run("run", "--no-such-option", "--help")
        self.assertEqual(done.returncode, 0)


class MistakeTest(unittest.TestCase):
    def assert_usage(self, done, *parts):
        self.assertEqual((done.returncode, done.stdout), (64, ""), done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_nothing_at_all_shows_the_help(self):
        self.assert_usage(run(), "Usage: agent-bridge VERB")

    def test_unknown_verb_names_the_nearest(self):
        for typed, meant in (("rum", "run"), ("lnit", "lint"), ("inspct", "inspect"),
                             ("versions", "version")):
            self.assert_usage(run(typed), f"unknown verb '{typed}'", f"did you mean '{meant}'?")
        for typed in ("frobnicate", "", "x" * 10000, "--verson"):
            done = run(typed)
            self.assert_usage(done, "unknown verb", "--help")
            self.assertNotIn("did you mean", done.stderr)

    def test_unknown_option_is_named(self):
        for verb in ("run", "version"):
            self.assert_usage(run(verb, "--frob"), f"agent-bridge {verb}: ", "'--frob'",
                              f"agent-bridge {verb} --help")
            self.assert_usage(run(verb, "-xyz"), "'-x'")

    def test_option_without_its_value_is_named(self):
        self.assert_usage(run("run", "-c"), "option '-c' needs a value")
        self.assert_usage(run("run", "--config"), "option '--config' needs a value")

    def test_option_with_a_value_too_many_is_named(self):
        self.assert_usage(run("version", "--json=1"), "option '--json=1' takes no value")

    def test_argument_too_many_is_named(self):
        self.assert_usage(run("run", "config.yaml"), "'config.yaml'", "-c FILE")
        self.assert_usage(run("version", "more"), "'more'")
        for both in (["--json", "--print-reasons"], ["--print-metrics", "--json"],
                     ["--print-reasons", "--print-metrics"]):
            self.assert_usage(run("version", *both), "exclude each other")


class VersionTest(unittest.TestCase):
    def test_version_as_text_has_every_library(self):
        done = run("version")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        first, *rest = done.stdout.splitlines()
        self.assertRegex(first, rf"^agent-bridge {VERSION}( \([0-9a-z.+-]+\))?$")
        self.assertEqual({line.split()[0] for line in rest}, LIBRARIES)
        for line in rest:
            self.assertRegex(line, rf"^  [a-z-]+ +{VERSION}( \(compiled against {VERSION}\))?$")

    def test_version_as_option_says_the_same(self):
        self.assertEqual(run("--version").stdout, run("version").stdout)

    def test_version_as_json_has_the_same_facts(self):
        done = run("version", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        facts = json.loads(done.stdout)
        self.assertEqual(done.stdout, json.dumps(facts, indent=2, sort_keys=True) + "\n")
        text = run("version").stdout
        self.assertTrue(text.startswith(f"agent-bridge {facts['version']}"))
        self.assertEqual(set(facts["libraries"]), LIBRARIES)
        for name, library in facts["libraries"].items():
            self.assertRegex(text, rf"(?m)^  {name} +{re.escape(library['running'])}( |$)")
            self.assertRegex(library["compiled"], rf"^{VERSION}")

    def test_commit_is_known_to_the_repository(self):
        commit = json.loads(run("version", "--json").stdout).get("commit")
        try:
            subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            self.assertIsNone(commit)
            return
        self.assertRegex(commit, r"^[0-9A-Za-z./-]+$")
        found = subprocess.run(
            ["git", "rev-parse", "--verify", commit.removesuffix("-dirty") + "^{commit}"],
            cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(found.returncode, 0, f"{commit}: {found.stderr}")

    def test_reasons_are_the_page_in_docs(self):
        done = run("version", "--print-reasons")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, (ROOT / "docs" / "reasons.md").read_text())

    def test_metrics_are_the_page_in_docs(self):
        done = run("version", "--print-metrics")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, (ROOT / "docs" / "metrics.md").read_text())


class OutputTest(unittest.TestCase):
    def assert_output_error(self, done):
        self.assertEqual(done.returncode, 74, done.stderr)
        self.assertIn("standard output could not be written", done.stderr)

    def test_full_disk_is_an_error(self):
        with open("/dev/full", "w") as full:
            for arguments in (["--help"], ["version"], ["version", "--json"],
                              ["version", "--print-reasons"], ["run", "--help"]):
                self.assert_output_error(run(*arguments, capture_output=False, stdout=full,
                                             stderr=subprocess.PIPE))

    def test_closed_pipe_is_an_error_and_no_signal(self):
        for arguments in (["--help"], ["version", "--print-reasons"]):
            reader, writer = os.pipe()
            os.close(reader)
            done = run(*arguments, capture_output=False, stdout=writer, stderr=subprocess.PIPE)
            os.close(writer)
            self.assert_output_error(done)

    def test_closed_stdout_is_an_error(self):
        done = subprocess.run(["sh", "-c", '"$0" version >&-', PROGRAM], capture_output=True,
                              text=True, timeout=30)
        self.assert_output_error(done)


if __name__ == "__main__":
    unittest.main(verbosity=2)
