#!/usr/bin/env python3
"""scripts/check_schema.py finds every change of the schema that would break what was written before."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "scripts")]

import check_schema  # noqa: E402
import reference  # noqa: E402

PROTO = reference.PROTO.read_text(encoding="utf-8")


class SchemaTest(unittest.TestCase):
    def findings(self, *changes):
        """What is found when each (old, new) is replaced in the schema, the first time it stands there."""
        text = PROTO
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "beam_agents.proto")
            path.write_text(text, encoding="utf-8")
            today = check_schema.load(reference.descriptor_set(path))
        return list(check_schema.check(today, check_schema.frozen_sets()))

    def expect(self, words, *changes):
        found = self.findings(*changes)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_schema_as_it_is_and_with_new_numbers_above_passes(self):
        self.assertEqual(self.findings(), [])
        self.assertEqual(self.findings(
            ("int64 completed_at_ms = 7;", "int64 completed_at_ms = 7;\n  string more = 8;"),
            ("REJECTED = 4;", "REJECTED = 4;\n    PARTIAL = 5;"),
            ("message ToolResult {", "message Another { string a = 1; }\n\nmessage ToolResult {")), [])

    def test_removed_field_needs_number_and_name_reserved(self):
        gone = ("  string error_message = 6;\n", "")
        self.expect("6 (error_message): is gone", gone)
        self.expect("6 (error_message): is gone",
                    ("  string error_message = 6;\n", "  reserved 6;\n"))
        self.expect("6 (error_message): is gone",
                    ("  string error_message = 6;\n", '  reserved "error_message";\n'))
        self.assertEqual(self.findings(
            ("  string error_message = 6;\n", '  reserved 6;\n  reserved "error_message";\n')), [])

    def test_removed_enum_value_needs_number_and_name_reserved(self):
        self.expect("4 (REJECTED): is gone", ("    REJECTED = 4;\n", ""))
        self.assertEqual(self.findings(
            ("    REJECTED = 4;\n", '    reserved 4;\n    reserved "REJECTED";\n')), [])

    def test_retyped_renamed_and_reused_numbers_are_found(self):
        self.expect("6 (error_message): was", ("string error_message = 6;", "bytes error_message = 6;"))
        self.expect("6 (error_message): was", ("string error_message = 6;", "string failure = 6;"))
        self.expect("6 (error_message): was",
                    ("string error_message = 6;", "repeated string error_message = 6;"))
        self.expect("3 (external_event): was", ("  oneof payload {\n    bytes external_event = 3;",
                                               "  bytes external_event = 3;\n  oneof payload {"))
        self.expect("4 (REJECTED): was", ("REJECTED = 4;", "DENIED = 4;"))
        swapped = self.findings(("string error_message = 6;", "int64 completed_at_ms = 6;"),
                                ("int64 completed_at_ms = 7;", "string error_message = 7;"))
        self.assertEqual(len(swapped), 2, swapped)

    def test_number_between_and_missing_message_are_found(self):
        found = self.findings(("string error_message = 6;", "string error_message = 16;"))
        self.assertTrue(any("6 (error_message): is gone" in line for line in found), found)
        found = self.findings(("message LongTermRecord {", "message LongTermRecords {"))
        self.assertTrue(any("LongTermRecord is gone" in line for line in found), found)

    def test_new_number_below_the_highest_is_found(self):
        self.expect("is new, and not above",
                    ("REJECTED = 4;", "REJECTED = 4;\n    EARLY = -1;"))


if __name__ == "__main__":
    unittest.main()
