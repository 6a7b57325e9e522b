#!/usr/bin/env python3
"""inspect on every frozen input of golden/wire/v1, as one message and in a batch."""

import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import defects  # noqa: E402
import golden  # noqa: E402
import mutate  # noqa: E402
import reference  # noqa: E402
from batch import Batch  # noqa: E402

PROGRAM = reference.agent_bridge()
REFERENCE = reference.Reference()
MESSAGES = {name: mutate.Message.of(REFERENCE.descriptor(name)) for name in reference.TYPES}

# Reason, offset and field of every refused case, found by hand from DESIGN section 3: neither the codec nor
# tests/support/defects.py has a say in it.
REFUSED = {
    "env_group_mismatched_end": ("decode_group", 17, "#50"),
    "env_group_end_alone": ("decode_group", 15, "#50"),
    "env_field_zero": ("decode_bad_tag", 15, None),
    "env_wiretype7": ("decode_wire_type", 15, "#10"),
    "env_trunc_len": ("decode_truncated", 16, "external_event"),
    "env_trunc_varint": ("decode_truncated", 9, "event_time_ms"),
    "env_varint_11_bytes": ("decode_varint", 9, "event_time_ms"),
    "env_len_huge": ("decode_truncated", 16, "external_event"),
    "env_len_int_max": ("decode_truncated", 16, "external_event"),
    "env_field_over_max": ("decode_bad_tag", 18, None),
    "env_sr_framed": ("framed_payload", 0, None),
    "env_utf8_bad_approver": ("invalid_utf8", 22, "approval.approver"),
    "env_utf8_overlong": ("invalid_utf8", 19, "export_request.request_id"),
    "env_nested_trunc": ("decode_truncated", 79, "tool_result.completed_at_ms"),
    "trace_map_bad_utf8": ("invalid_utf8", 7, "attributes[0].value"),
    "err_bad_utf8_detail": ("invalid_utf8", 13, "detail"),
}


def inspect(*arguments, data=b""):
    """(exit code, stdout, stderr)."""
    done = subprocess.run([PROGRAM, "inspect", *arguments], input=data, capture_output=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8")


class Upstream(unittest.TestCase):
    """The messages of the agents' own project, read where they lie; asked for by --upstream."""

    def test_upstream_files_print_as_the_reference_and_encode_to_themselves(self):
        upstream = list(golden.upstream())
        self.assertGreater(len(upstream), 10)
        for name, type_name, data in upstream:
            with self.subTest(name):
                verdict = REFERENCE.judge(type_name, data)
                self.assertTrue(verdict.accepted)
                self.assertEqual(verdict.deterministic, data)
                indented = REFERENCE.indented_json(REFERENCE.parse(type_name, data)) + "\n"
                self.assertEqual(inspect("--type", type_name, data=data),
                                 (0, indented.encode(), ""))


class Golden(unittest.TestCase):
    def test_expected_file_is_what_the_reference_says_today(self):
        for line in golden.expected():
            verdict = REFERENCE.judge(line["type"], bytes.fromhex(line["hex"]))
            self.assertEqual(verdict.accepted, line["accepted"], line["name"])
            if verdict.accepted:
                self.assertEqual(verdict.value, line["json"], line["name"])
                self.assertEqual(verdict.deterministic.hex(), line["deterministic_hex"])
                self.assertEqual(verdict.variant, line.get("variant"))

    def test_accepted_bytes_print_what_the_reference_prints(self):
        accepted = [line for line in golden.expected() if line["accepted"]]
        self.assertGreater(len(accepted), 40)
        for line in accepted:
            data = bytes.fromhex(line["hex"])
            indented = REFERENCE.indented_json(REFERENCE.parse(line["type"], data)) + "\n"
            compact = reference.compact_text(line["json"]) + "\n"
            with self.subTest(line["name"]):
                self.assertEqual(inspect("--type", line["type"], data=data),
                                 (0, indented.encode(), ""))
                self.assertEqual(inspect("--type", line["type"], "--compact", "--hex",
                                         data=line["hex"].encode()), (0, compact.encode(), ""))

    def test_refused_bytes_name_reason_offset_and_field(self):
        refused = [line for line in golden.expected() if not line["accepted"]]
        self.assertEqual({line["name"] for line in refused}, set(REFUSED))
        for line in refused:
            reason, offset, field = REFUSED[line["name"]]
            place = f" at byte {offset}" + (f" in {field}" if field else "") + ": "
            with self.subTest(line["name"]):
                code, out, err = inspect("--type", line["type"], data=bytes.fromhex(line["hex"]))
                self.assertEqual((code, out), (65, b""))
                self.assertIn(f"agent-bridge inspect: standard input: {reason}{place}", err)

    def test_the_tests_own_defect_finder_agrees_with_the_hand_made_list(self):
        for line in golden.expected():
            if line["accepted"]:
                continue
            find = defects.first_defect
            if line["type"] == "AgentEnvelope":
                find = defects.envelope_defect
            found = find(MESSAGES[line["type"]], bytes.fromhex(line["hex"]))
            reason, offset, field = REFUSED[line["name"]]
            self.assertEqual(found, defects.Defect(reason, offset, field or ""), line["name"])

    def test_batch_answers_every_input_in_order(self):
        lines = golden.expected()
        batch = Batch(PROGRAM)
        batch.send([(line["type"], bytes.fromhex(line["hex"])) for line in lines])
        for line in lines:
            answer = json.loads(batch.receive())
            with self.subTest(line["name"]):
                if line["accepted"]:
                    wanted = {"ok": True, "json": line["json"],
                              "deterministic_hex": line["deterministic_hex"]}
                    if line["type"] == "AgentEnvelope":
                        wanted["variant"] = line["variant"]
                else:
                    reason, offset, field = REFUSED[line["name"]]
                    wanted = {"ok": False, "reason": reason, "offset": offset}
                    if field is not None:
                        wanted["field"] = field
                self.assertEqual(answer, wanted)
        batch.close()

    def test_batch_agrees_with_the_reference_on_the_corpus(self):
        inputs = list(golden.corpus())
        self.assertGreater(len(inputs), 500)
        batch = Batch(PROGRAM)
        batch.send(inputs)
        for type_name, data in inputs:
            verdict = REFERENCE.judge(type_name, data)
            if verdict.accepted:
                wanted = verdict.answer(type_name)
            else:
                find = defects.first_defect
                if type_name == "AgentEnvelope":
                    find = defects.envelope_defect
                wanted = find(MESSAGES[type_name], data).answer()
            self.assertEqual(batch.receive(), wanted, f"{type_name} {data.hex()}")
        batch.close()


if __name__ == "__main__":
    what = "Upstream" if "--upstream" in sys.argv else "Golden"
    unittest.main(argv=[sys.argv[0], what], verbosity=2)
