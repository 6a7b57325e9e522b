#!/usr/bin/env python3
"""The command line of inspect: options, inputs, limits, complaints, exit codes, --errors, --batch."""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import mutate  # noqa: E402
import reference  # noqa: E402

PROGRAM = reference.agent_bridge()
REFERENCE = reference.Reference()
INPUT_MAX = 64 << 20
LINE_MAX = 16 << 20

Envelope = REFERENCE.classes["AgentEnvelope"]
Record = REFERENCE.classes["ActivationErrorRecord"]
ENVELOPE = Envelope(entity_key=b"acct-7", event_time_ms=1, external_event=b"x")
ENVELOPE_COMPACT = b'{"entityKey":"YWNjdC03","eventTimeMs":"1","externalEvent":"eA=="}\n'
BAD_REQUEST = {"ok": False, "reason": "bad_request"}


def inspect(*arguments, data=b"", stdout=subprocess.PIPE):
    """(exit code, stdout, stderr)."""
    done = subprocess.run([PROGRAM, "inspect", *arguments], input=data, stdout=stdout,
                          stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8")


class Ids(unittest.TestCase):
    def test_ids_of_another_width_are_printed_with_a_warning(self):
        event, intent = REFERENCE.classes["TraceEvent"], REFERENCE.classes["ToolIntent"]
        snapshot = REFERENCE.classes["StateSnapshot"]
        wide = event(trace_id=b"t" * 17, span_id=b"s" * 7, parent_span_id=b"p")
        code, out, err = inspect("--type", "TraceEvent", data=wide.SerializeToString())
        self.assertEqual(code, 0)
        self.assertIn(b'"spanId"', out)
        self.assertEqual([line.split(": ", 3)[3] for line in err.splitlines()],
                         ["trace_id has 17 bytes, where trace context has 16",
                          "span_id has 7 bytes, where trace context has 8",
                          "parent_span_id has 1 bytes, where trace context has 8"])
        for kind, message, warnings in (
                ("TraceEvent", event(trace_id=b"t" * 16, span_id=b"s" * 8, parent_span_id=b"p" * 8), 0),
                ("TraceEvent", event(), 0), ("ToolIntent", intent(trace_id=b"t"), 1),
                ("StateSnapshot", snapshot(pending=[intent(trace_id=b"t" * 16), intent(trace_id=b"t")]), 1)):
            with self.subTest(message):
                code, _, err = inspect("--type", kind, data=message.SerializeToString())
                self.assertEqual((code, err.count("warning:")), (0, warnings))


class Options(unittest.TestCase):
    def test_help_names_every_option(self):
        code, out, err = inspect("--help")
        self.assertEqual((code, err), (0, ""))
        for word in (b"--type", b"--hex", b"--compact", b"--errors", b"--batch", *(
                name.encode() for name in reference.TYPES)):
            self.assertIn(word, out)

    def test_wrong_usage_says_what_and_where_help_is(self):
        for arguments, words in (
                (("--type",), "--type"),
                (("--type", "Envelope"), "AgentEnvelope, StateSnapshot"),
                (("--type", "AgentEnvelope.Approval"), "no such message"),
                (("--tipe", "X"), "--tipe"),
                (("--compact=yes",), "--compact=yes"),
                (("-x",), "-x"),
                (("a", "b"), "'b' follows 'a'"),
                (("--batch", "--hex"), "--batch takes no other option"),
                (("--batch", "--type", "ToolResult"), "--batch takes no other option"),
                (("--errors", "--type", "ToolResult"), "--errors is for --type AgentEnvelope")):
            with self.subTest(arguments):
                code, out, err = inspect(*arguments)
                self.assertEqual((code, out), (64, b""))
                self.assertTrue(err.startswith("agent-bridge inspect: "), err)
                self.assertIn(words, err)
                self.assertIn("Try 'agent-bridge inspect --help'.", err)

    def test_full_type_name_is_taken(self):
        self.assertEqual(inspect("--type", "beam_agents.v1.AgentEnvelope", "--compact",
                                 data=ENVELOPE.SerializeToString()), (0, ENVELOPE_COMPACT, ""))


class Input(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.path = os.path.join(self._folder.name, "message.bin")

    def write(self, data):
        with open(self.path, "wb") as file:
            file.write(data)

    def test_file_and_dash_and_standard_input_read_the_same(self):
        self.write(ENVELOPE.SerializeToString())
        for arguments, data in (((self.path,), b"ignored"), (("-",), ENVELOPE.SerializeToString()),
                                ((), ENVELOPE.SerializeToString()),
                                (("--", self.path), b"")):
            with self.subTest(arguments):
                self.assertEqual(inspect("--compact", *arguments, data=data),
                                 (0, ENVELOPE_COMPACT, ""))

    def test_missing_file_is_exit_66(self):
        code, out, err = inspect(self.path + ".none")
        self.assertEqual((code, out), (66, b""))
        self.assertIn(f"{self.path}.none: cannot be opened: No such file or directory", err)

    def test_folder_is_exit_66(self):
        code, out, err = inspect(self._folder.name)
        self.assertEqual((code, out), (66, b""))
        self.assertIn("cannot be read: Is a directory", err)

    def test_refusal_names_the_file(self):
        self.write(b"\x0a\x85")
        code, out, err = inspect(self.path)
        self.assertEqual((code, out), (65, b""))
        self.assertIn(f"agent-bridge inspect: {self.path}: decode_truncated at byte 1 in entity_key: ",
                      err)

    def test_empty_input_is_an_empty_message(self):
        for name in reference.TYPES:
            self.assertEqual(inspect("--type", name), (0, b"{}\n", ""))

    def test_largest_input_is_printed_and_one_byte_more_is_refused(self):
        size = INPUT_MAX - 5
        self.write(b"\x1a" + mutate.varint(size) + b"\0" * size)
        self.assertEqual(os.path.getsize(self.path), INPUT_MAX)
        code, out, err = inspect("--compact", self.path)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(json.loads(out)["externalEvent"], base64.b64encode(b"\0" * size).decode())
        with open(self.path, "ab") as file:
            file.write(b"\0")
        code, out, err = inspect("--compact", self.path)
        self.assertEqual((code, out), (65, b""))
        self.assertIn(f"larger than {INPUT_MAX} bytes", err)

    def test_unwritable_output_is_exit_74(self):
        with open("/dev/full", "wb") as full:
            code, _, err = inspect(data=ENVELOPE.SerializeToString(), stdout=full)
        self.assertEqual(code, 74)
        self.assertIn("standard output could not be written", err)


class Hex(unittest.TestCase):
    def test_white_space_and_both_cases_are_taken(self):
        digits = ENVELOPE.SerializeToString().hex()
        for text in (digits, digits.upper(), " ".join(digits), f"\n\t{digits[:7]}\r\n{digits[7:]}\v\f "):
            self.assertEqual(inspect("--hex", "--compact", data=text.encode()),
                             (0, ENVELOPE_COMPACT, ""))

    def test_bad_digit_is_named_with_its_position(self):
        for text, offset, character in ((b"0a 0g", 4, 0x67), (b"0x0a", 1, 0x78), (b"0a\xc3\xa9", 2, 0xC3),
                                        (b"0a\x00", 2, 0)):
            code, out, err = inspect("--hex", data=text)
            self.assertEqual((code, out), (65, b""))
            self.assertIn(f"byte {offset} is 0x{character:02x} and no hex digit", err)

    def test_odd_digits_are_refused(self):
        code, out, err = inspect("--hex", data=b"0a 06 6 \n")
        self.assertEqual((code, out), (65, b""))
        self.assertIn("an odd number of hex digits: the one at byte 6 is half a byte", err)


class Hints(unittest.TestCase):
    def test_hex_text_without_the_option_gets_a_hint(self):
        # 0x30 0x61 …: field number 6 as a group, which nothing ends
        code, _, err = inspect(data=b"0a06616363742d37\n")
        self.assertEqual(code, 65)
        self.assertIn("looks like hex text: try --hex", err)

    def test_bare_tool_result_gets_a_hint(self):
        # ToolResult.seq and status stand where an envelope has bytes and a message
        result = REFERENCE.classes["ToolResult"](intent_id="i-1", entity_key=b"\xff", seq=1, status=1,
                                                 error_message="\u00e9")
        data = result.SerializeToString() + b"\x32\x02\x0a\x05"
        self.assertIsNone(REFERENCE.parse("AgentEnvelope", data))
        code, _, err = inspect(data=data)
        self.assertEqual(code, 65)
        self.assertIn("decode_truncated", err)


class Errors(unittest.TestCase):
    def print_errors(self, envelope):
        code, out, err = inspect("--errors", "--compact", data=envelope.SerializeToString())
        self.assertEqual(code, 0)
        return out.decode(), err

    def test_record_is_printed_beside_the_bytes(self):
        record = Record(entity_key=b"k", reason="tombstone", detail='{"v":1}', event_time_ms=5)
        envelope = Envelope(entity_key=b"k", external_event=record.SerializeToString())
        out, err = self.print_errors(envelope)
        self.assertEqual(err, "")
        value = json.loads(out)
        self.assertEqual(value.pop("activationErrorRecord"), {
            "entityKey": "aw==", "reason": "tombstone", "detail": '{"v":1}', "eventTimeMs": "5"})
        self.assertEqual(value, REFERENCE.judge("AgentEnvelope", envelope.SerializeToString()).value)
        self.assertEqual(out, reference.compact_text(json.loads(out)) + "\n")

    def test_indented_form_nests_it(self):
        envelope = Envelope(external_event=Record(reason="r").SerializeToString())
        code, out, _ = inspect("--errors", data=envelope.SerializeToString())
        self.assertEqual(code, 0)
        self.assertEqual(out.decode(), reference.indented_text(json.loads(out)) + "\n")

    def test_event_that_is_no_record_warns_and_prints_the_envelope(self):
        out, err = self.print_errors(Envelope(external_event=b"\x12\x01\xff"))
        self.assertEqual(out, '{"externalEvent":"EgH/"}\n')
        self.assertIn("warning: --errors: external_event is no ActivationErrorRecord: standard input: "
                      "invalid_utf8 at byte 2 in reason: ", err)

    def test_envelope_without_an_event_warns(self):
        out, err = self.print_errors(Envelope(entity_key=b"k"))
        self.assertEqual(out, '{"entityKey":"aw=="}\n')
        self.assertIn("warning: standard input: --errors: there is no external_event", err)


class BatchLines(unittest.TestCase):
    def answers(self, data, code=0):
        done = subprocess.run([PROGRAM, "inspect", "--batch"], input=data, capture_output=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (code, b""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_no_input_no_answer(self):
        self.assertEqual(self.answers(b""), [])

    def test_last_line_may_lack_its_end(self):
        wanted = [{"ok": True, "variant": None, "json": {}, "deterministic_hex": ""}]
        request = b'{"type":"AgentEnvelope","hex":""}'
        self.assertEqual(self.answers(request), wanted)
        self.assertEqual(self.answers(request + b"\n"), wanted)
        self.assertEqual(self.answers(request + b"\r\n"), wanted)

    def test_members_may_come_in_any_order_and_with_blanks(self):
        self.assertEqual(self.answers(b' { "hex" : "0A0161" , "type" : "MemoryBlob" } \n'), [
            {"ok": True, "json": {}, "deterministic_hex": "0a0161"}])

    def test_lines_that_are_no_request_are_answered_one_by_one(self):
        lines = (
            (b"", "no JSON object"),
            (b"   ", "no JSON object"),
            (b"x", "no JSON object"),
            (b"[]", "two members"),
            (b'"text"', "no JSON object"),
            (b"{}", "two members"),
            (b'{"type":"AgentEnvelope"}', "two members"),
            (b'{"hex":""}', "two members"),
            (b'{"type":"AgentEnvelope","hex":1}', "two members"),
            (b'{"type":null,"hex":""}', "two members"),
            (b'{"type":"AgentEnvelope","hex":"","id":1}', "two members"),
            (b'{"type":"AgentEnvelope","type":"ToolResult","hex":""}', "a member twice"),
            (b'{"type":"AgentEnvelope","hex":""} {}', "no JSON object"),
            (b'{"type":"AgentEnvelope","hex":"\xff"}', "not UTF-8"),
            (b'{"type":"agentenvelope","hex":""}', "no such message"),
            (b'{"type":"AgentEnvelope\\u0000","hex":""}', ""),
            (b'{"type":"AgentEnvelope.Approval","hex":""}', "no such message"),
            (b'{"type":"AgentEnvelope","hex":"0"}', "1 digits are no whole bytes"),
            (b'{"type":"AgentEnvelope","hex":"0a 0"}', "character 2 is no hex digit"),
            (b'{"type":"AgentEnvelope","hex":"0a\xc3\xa9"}', "character 2 is no hex digit"),
            (b"[" * 100000, "no JSON object"),
            (b"\x00", "no JSON object"),
        )
        good = b'{"type":"ToolResult","hex":""}'
        found = self.answers(b"".join(line + b"\n" + good + b"\n" for line, _ in lines))
        self.assertEqual(len(found), 2 * len(lines))
        for (line, words), bad, ok in zip(lines, found[::2], found[1::2]):
            with self.subTest(line[:60]):
                self.assertIn(words, bad.pop("message"))
                self.assertEqual(bad, BAD_REQUEST)
                self.assertEqual(ok, {"ok": True, "json": {}, "deterministic_hex": ""})

    def test_longest_line_is_answered_and_one_byte_more_is_not(self):
        good = b'{"type":"MemoryBlob","hex":""}'
        longest = good + b" " * (LINE_MAX - len(good))
        wanted = {"ok": True, "json": {}, "deterministic_hex": ""}
        found = self.answers(b"\n".join((longest, longest + b" ", longest * 3, good, longest + b" ")))
        self.assertEqual([answer["ok"] for answer in found], [True, False, False, True, False])
        self.assertEqual(found[0], wanted)
        self.assertEqual(found[3], wanted)
        for answer in (found[1], found[2], found[4]):
            self.assertEqual(answer, {**BAD_REQUEST,
                                      "message": f"the line is longer than {LINE_MAX} bytes"})

    def test_large_message_is_answered_whole(self):
        event = bytes(range(256)) * (7 << 12)
        data = Envelope(external_event=event).SerializeToString()
        found, = self.answers(
            b'{"type":"AgentEnvelope","hex":"' + data.hex().encode() + b'"}\n')
        self.assertEqual(found, {"ok": True, "variant": "external_event",
                                 "json": {"externalEvent": base64.b64encode(event).decode()},
                                 "deterministic_hex": data.hex()})

    def test_peer_that_waits_for_each_answer_gets_it(self):
        with subprocess.Popen([PROGRAM, "inspect", "--batch"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, bufsize=0) as process:
            for number in range(100):
                value = Envelope(event_time_ms=number).SerializeToString()
                request = f'{{"type":"AgentEnvelope","hex":"{value.hex()}"}}\n'.encode()
                # in two writes, so that half a line must not be taken for one
                process.stdin.write(request[:20])
                process.stdin.write(request[20:])
                answer = b""
                while not answer.endswith(b"\n"):
                    answer += process.stdout.read(4096)
                self.assertEqual(json.loads(answer)["deterministic_hex"], value.hex())
            process.stdin.close()
            self.assertEqual(process.wait(), 0)

    def test_requests_can_come_from_a_file(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b'{"type":"ToolResult","hex":"0801"}\n')
            file.flush()
            code, out, err = inspect("--batch", file.name)
        self.assertEqual((code, out, err),
                         (0, b'{"ok":true,"json":{},"deterministic_hex":"0801"}\n', ""))

    def test_unwritable_output_ends_the_batch_with_74(self):
        request = b'{"type":"ToolResult","hex":""}\n'
        with open("/dev/full", "wb") as full:
            code, _, err = inspect("--batch", data=request * 100000, stdout=full)
        self.assertEqual(code, 74)
        self.assertIn("standard output could not be written", err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
