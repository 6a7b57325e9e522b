#!/usr/bin/env python3
"""`agent-bridge encode`: JSON to bytes, what it refuses and how it ends."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import golden  # noqa: E402
import reference  # noqa: E402

PROGRAM = reference.agent_bridge()
JUDGE = reference.Reference()


def encode(*arguments, data=b""):
    """(exit code, stdout, stderr)."""
    done = subprocess.run([PROGRAM, "encode", *arguments], input=data, capture_output=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8")


class EncodeTest(unittest.TestCase):
    def test_json_of_each_golden_message_gives_its_known_fields(self):
        inputs = [(kind, data) for _, kind, data in (*golden.inputs(), *golden.upstream())]
        accepted = [(kind, JUDGE.parse(kind, data)) for kind, data in inputs
                    if JUDGE.parse(kind, data) is not None]
        requests, wanted = [], []
        for kind, message in accepted:
            message.DiscardUnknownFields()
            requests.append(json.dumps({"type": kind, "json": JUDGE.indented_json(message)}))
            wanted.append({"ok": True, "hex": message.SerializeToString(deterministic=True).hex()})
        code, out, err = encode("--batch", data="\n".join(requests).encode())
        self.assertEqual((code, err), (0, ""))
        self.assertEqual([json.loads(line) for line in out.splitlines()], wanted)
        self.assertGreater(len(wanted), 40)

    def test_what_inspect_prints_is_taken_back_by_every_type(self):
        for name in reference.TYPES:
            with self.subTest(name):
                code, out, err = encode("--type", name, data=b"{}")
                self.assertEqual((code, out, err), (0, b"", ""))
        data = JUDGE.classes["TraceEvent"](seq=4, attributes={"a": "1", "aa": "é"}).SerializeToString(
            deterministic=True)
        shown = subprocess.run([PROGRAM, "inspect", "--type", "TraceEvent"], input=data,
                               capture_output=True, check=True).stdout
        self.assertEqual(encode("--type", "TraceEvent", data=shown), (0, data, ""))
        self.assertEqual(encode("--type", "beam_agents.v1.TraceEvent", "--hex", data=shown),
                         (0, data.hex().encode() + b"\n", ""))

    def test_refusals_name_place_and_reason_and_exit_65(self):
        for text, words in ((b'{"seq":x}', "malformed_json at byte 7 in /seq"),
                            (b'{"seq":1,"seq":1}', "duplicate_key at byte 9 in /seq"),
                            (b'{"seq":1.5}', "json_mismatch at byte 7 in /seq: expected a whole"),
                            (b"[]", "json_mismatch at byte 0: expected an object")):
            with self.subTest(text):
                code, out, err = encode("--type", "ToolResult", data=text)
                self.assertEqual((code, out), (65, b""))
                self.assertIn(words, err)

    def test_batch_answers_every_line(self):
        lines = (b'{"type":"ToolResult","json":"{\\"seq\\":4}"}\n'
                 b'{"type":"ToolResult","json":"{\\"seq\\":[]}"}\n'
                 b'{"type":"ToolResult","json":"\\u0000"}\n'
                 b'{"type":"Nope","json":"{}"}\n'
                 b'{"type":"ToolResult","hex":""}\n\n')
        code, out, err = encode("--batch", data=lines)
        self.assertEqual((code, err), (0, ""))
        answers = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(answers[0], {"ok": True, "hex": "1804"})
        self.assertEqual(answers[1], {"ok": False, "reason": "json_mismatch", "offset": 7,
                                      "field": "/seq"})
        self.assertEqual(answers[2]["reason"], "malformed_json")
        self.assertEqual([answer["reason"] for answer in answers[3:]], ["bad_request"] * 3)
        self.assertIn("type and json", answers[4]["message"])

    def test_wrong_usage_exits_64_and_a_missing_file_66(self):
        for arguments in ([], ["--type", "Nope"], ["--batch", "--hex"], ["--wrong"],
                          ["--type", "ToolResult", "a", "b"]):
            with self.subTest(arguments):
                code, out, err = encode(*arguments)
                self.assertEqual((code, out), (64, b""))
                self.assertTrue(err.startswith("agent-bridge encode: "), err)
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(encode("--type", "ToolResult", f"{folder}/gone")[0], 66)
            self.assertEqual(encode("--batch", f"{folder}/gone")[0], 66)
            file = pathlib.Path(folder, "message.json")
            file.write_text('{"seq":"4"}', encoding="utf-8")
            self.assertEqual(encode("--type", "ToolResult", str(file)), (0, b"\x18\x04", ""))


if __name__ == "__main__":
    unittest.main()
