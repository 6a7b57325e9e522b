#!/usr/bin/env python3
"""The lint verb: what it prints, in text and JSON, its exit codes, and that no secret gets out."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["AGENT_BRIDGE"]
MINIMAL = """\
kafka: {bootstrap.servers: 'broker:9092'}
group: g
sources:
  - topic: in
    routes: {external_event: ev, tool_result: re, approval: ap, export_request: ex}
"""


def lint(*arguments, env=None, stdout=subprocess.PIPE):
    """(exit code, stdout, stderr)."""
    environment = {key: value for key, value in os.environ.items() if key != "AGENT_BRIDGE_CONFIG"}
    done = subprocess.run([PROGRAM, "lint", *arguments], stdout=stdout, stderr=subprocess.PIPE,
                          env=environment | (env or {}), text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, text, name="c.yaml"):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)


class Findings(Files):
    def test_example_file_without_findings(self):
        example = str(ROOT / "deploy/examples/minimal.yaml")
        self.assertEqual(lint("-c", example), (0, f"{example}: no findings\n", ""))

    def test_mistakes_all_printed_with_their_place(self):
        path = self.write(MINIMAL + "lanes: 65\ngrup: x\nlog: {level: warn}\n")
        self.assertEqual(lint("-c", path), (
            1,
            f"{path}:6:8: error: lanes: expected 1 to 64, found `65`\n"
            f"{path}:7:1: error: grup: no such key: expected `group`?\n"
            f"{path}:8:14: error: log.level: expected error, warning, info or debug, found `warn`\n",
            ""))

    def test_properties_judged_by_librdkafka_next_to_other_mistakes(self):
        path = self.write(MINIMAL + "lanes: 0\nconsumer: {fetch.min.byte: 1}\n"
                                    "producer: {linger.ms: soon, acks: 1}\n")
        code, out, err = lint(path)
        self.assertEqual((code, err), (1, ""))
        keys = [line.split(": ")[2] for line in out.splitlines()]
        self.assertEqual(keys, ["lanes", "consumer.fetch.min.byte", "producer.linger.ms",
                                "producer.acks"])
        self.assertIn(f"{path}:7:12: error: consumer.fetch.min.byte: ", out)
        self.assertIn(f"{path}:8:12: error: producer.linger.ms: ", out)
        self.assertNotIn("soon", out)

    def test_warnings_alone_end_with_one(self):
        path = self.write(MINIMAL + "    on_key_mismatch: ignore\n")
        code, out, err = lint(path)
        self.assertEqual((code, err), (1, ""))
        self.assertEqual(out, f"{path}:6:22: warning: sources[0].on_key_mismatch: with `ignore` the "
                              "order of an entity's records is not promised\n")

    def test_json_is_an_object_a_line(self):
        path = self.write("group: g\nlanes: x\n")
        code, out, err = lint("--json", path)
        self.assertEqual((code, err), (1, ""))
        found = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(found[-1], {"file": path, "line": 2, "column": 8, "severity": "error",
                                     "key": "lanes", "message": "expected a whole number, found `x`"})
        self.assertEqual([item["key"] for item in found],
                         ["kafka.bootstrap.servers", "sources", "lanes"])

    def test_json_leaves_out_a_place_that_is_none(self):
        path = self.write("")
        code, out, _ = lint("--json", path)
        self.assertEqual(code, 1)
        first = json.loads(out.splitlines()[0])
        self.assertEqual(first, {"file": path, "severity": "error", "key": "",
                                 "message": "holds no configuration"})

    def test_json_without_findings_prints_nothing(self):
        path = self.write(MINIMAL)
        self.assertEqual(lint("--json", "-c", path), (0, "", ""))

    def test_json_file_name_that_is_no_utf8_printed_as_null(self):
        path = os.fsencode(self.folder) + b"/\xff.yaml"
        with open(path, "w", encoding="ascii") as file:
            file.write(MINIMAL + "lanes: 0\n")
        code, out, _ = lint("--json", path)
        self.assertEqual(code, 1)
        self.assertIsNone(json.loads(out)["file"])

    def test_more_findings_than_are_kept_said(self):
        path = self.write(MINIMAL + "".join(f"unknown{i}: 1\n" for i in range(70)))
        code, out, _ = lint(path)
        self.assertEqual(code, 1)
        self.assertEqual(len(out.splitlines()), 65)
        self.assertTrue(out.endswith(": note: 6 more findings are not shown; mend these first\n"))

    def test_json_config_accepted(self):
        path = self.write(json.dumps({
            "kafka": {"bootstrap.servers": "b:1"}, "group": "g",
            "sources": [{"topic": "in", "routes": {
                "external_event": "o", "tool_result": "o", "approval": "o", "export_request": "drop"}}],
        }, indent="\t"), "c.json")
        self.assertEqual(lint(path)[0], 0)


class Secrets(Files):
    def test_no_message_holds_a_value(self):
        (self.folder / "password").write_text("hunter2\n", encoding="ascii")
        path = self.write(
            "kafka:\n"
            "  bootstrap.servers: hunter2\n"
            "  security.protocol: hunter2\n"
            "  sasl.password: hunter2\n"
            "  sasl.mechanisms: ${SECRET}\n"
            "  linger.ms: env:SECRET\n"
            f"  client.id.x: file:{self.folder}/password\n"
            "  acks: hunter2\n"
            "consumer: {sasl.password:hunter2}\n"
            "producer: [hunter2]\n")
        for arguments in ((path,), ("--json", path)):
            code, out, err = lint(*arguments, env={"SECRET": "hunter2"})
            self.assertEqual((code, err), (1, ""))
            self.assertNotIn("hunter2", out)
            for key in ("kafka.security.protocol", "kafka.linger.ms", "kafka.client.id.x",
                        "kafka.acks", "consumer.sasl.password", "producer"):
                self.assertIn(key, out)

    def test_references_read_at_lint_time(self):
        path = self.write(MINIMAL + "consumer: {sasl.password: 'file:/nowhere/password', "
                                    "sasl.username: env:LINT_TEST_UNSET}\n")
        code, out, _ = lint(path)
        self.assertEqual(code, 1)
        self.assertEqual(
            out, f"{path}:6:27: error: consumer.sasl.password: cannot read the file "
                 "/nowhere/password: No such file or directory\n"
                 f"{path}:6:68: error: consumer.sasl.username: the environment variable "
                 "LINT_TEST_UNSET is not set\n")


class CommandLine(Files):
    def test_file_of_option_variable_and_default(self):
        good, bad = self.write(MINIMAL), self.write("lanes: 0\n", "bad.yaml")
        self.assertEqual(lint(env={"AGENT_BRIDGE_CONFIG": good}), (0, f"{good}: no findings\n", ""))
        self.assertEqual(lint("-c", good, env={"AGENT_BRIDGE_CONFIG": bad})[0], 0)
        self.assertEqual(lint(f"--config={bad}", env={"AGENT_BRIDGE_CONFIG": good})[0], 1)

    def test_file_that_cannot_be_read_said_with_what_to_do(self):
        missing = str(self.folder / "missing.yaml")
        message = "cannot be read: {}; name a configuration with -c FILE or $AGENT_BRIDGE_CONFIG\n"
        for arguments in (("-c", missing), (missing,), ("--json", missing)):
            self.assertEqual(lint(*arguments), (
                66, "", f"agent-bridge lint: {missing} "
                + message.format("No such file or directory")))
        code, out, err = lint(str(self.folder))
        self.assertEqual((code, out), (66, ""))
        self.assertIn("Is a directory", err)

    def test_wrong_usage_complained_about(self):
        good = self.write(MINIMAL)
        for arguments in (("-c",), ("--what",), ("-x",), (good, good), ("-c", good, good),
                          ("--print-docs", good), ("--print-docs", "--json"), ("--json=x",)):
            with self.subTest(arguments):
                code, out, err = lint(*arguments)
                self.assertEqual((code, out), (64, ""))
                self.assertTrue(err.startswith("agent-bridge lint: "), err)
                self.assertIn("--help", err)

    def test_help_names_every_option_and_code(self):
        code, out, err = lint("--help")
        self.assertEqual((code, err), (0, ""))
        for word in ("-c, --config", "--json", "--print-docs", "Exit codes: 0", "66", "64"):
            self.assertIn(word, out)

    def test_docs_are_the_committed_page(self):
        page = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
        self.assertEqual(lint("--print-docs"), (0, page, ""))

    def test_full_device_not_taken_for_success(self):
        good = self.write(MINIMAL)
        with open("/dev/full", "wb") as full:
            code, _, err = lint(good, stdout=full)
        self.assertEqual(code, 74)
        self.assertIn("could not be written", err)


if __name__ == "__main__":
    sys.exit(unittest.main())
