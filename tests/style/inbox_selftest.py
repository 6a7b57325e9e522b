#!/usr/bin/env python3
"""Shows that the history of the session inbox is held: takes a copy of the real files, breaks one rule
at a time, and expects to be told what is wrong."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "scripts")]

import freeze_inbox  # noqa: E402
import run  # noqa: E402

TAKEN = ("codec", "golden/session-inbox", "tests/unit/codec")


class History(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in TAKEN:
            shutil.copytree(ROOT / name, self.root / name)

    def edit(self, path, old, new):
        file = self.root / path
        text = file.read_text()
        self.assertIn(old, text)
        file.write_text(text.replace(old, new))

    def findings(self):
        return run.run("inbox", self.root)[0]

    def expect(self, *wanted):
        findings = self.findings()
        self.assertEqual(len(findings), len(wanted), findings)
        for finding, words in zip(findings, wanted):
            self.assertIn(words, finding)

    def freeze(self):
        said = io.StringIO()
        old, sys.argv = sys.argv, ["freeze_inbox.py", str(self.root)]
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                return freeze_inbox.main()
        finally:
            sys.argv = old

    def compile(self, path):
        """What the compiler says about a file of the copy."""
        return subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-D_GNU_SOURCE", "-fsyntax-only",
                               f"-I{self.root}", f"-I{self.root}/codec/include", self.root / path],
                              stderr=subprocess.PIPE, text=True, check=False).stderr

    def test_history_as_it_is_accepted(self):
        self.expect()
        self.assertEqual(self.compile("codec/inbox/decode.c"), "")

    def test_version_raised_alone_is_told_all_it_lacks(self):
        self.edit("codec/inbox/registry.h", "(X) X(1)", "(X) X(1) X(2)")
        self.expect("AW_INBOX_VERSION is not 2",
                    "version 1: codec/inbox/from_v1.c is missing: the migration from 1 to 2",
                    "tests/unit/codec/inbox_from_v1_test.c is missing: the migration's test",
                    "decode.c has no step aw__inbox_from_v1 in STEPS",
                    "version 2: codec/inbox/wire_v2.c is missing: its module",
                    "codec/inbox/wire_v2.h is missing",
                    "tests/unit/codec/inbox_v2_test.c is missing: its test",
                    "golden/session-inbox/v2/fixtures.jsonl is missing: its frozen fixtures",
                    "golden/session-inbox/v2/schema.json is missing: its frozen schema")

    def test_version_raised_alone_does_not_compile(self):
        self.edit("codec/inbox/registry.h", "(X) X(1)", "(X) X(1) X(2)")
        self.assertIn("not contiguous up to the one that the public header names",
                      self.compile("codec/inbox/decode.c"))
        self.edit("codec/include/agentwire/inbox.h", "#define AW_INBOX_VERSION 1",
                  "#define AW_INBOX_VERSION 2")
        self.assertIn("a migration to the highest version is missing in STEPS",
                      self.compile("codec/inbox/decode.c"))
        self.assertIn("a version has no encoder in ENCODERS", self.compile("codec/inbox/encode.c"))
        self.assertIn("a version has no target in TARGETS", self.compile("codec/inbox/target.c"))

    def test_hole_is_found(self):
        self.edit("codec/inbox/registry.h", "(X) X(1)", "(X) X(1) X(3)")
        self.expect("are not 1, 2, 3 and so on without a hole")

    def test_module_of_no_version_is_found(self):
        (self.root / "codec/inbox/wire_v7.c").write_text("")
        self.expect("wire_v7.c: codec/inbox/registry.h has no such version", "wire_v7.c: not in")

    def test_missing_test_and_fixture_are_found(self):
        (self.root / "tests/unit/codec/inbox_v1_test.c").unlink()
        (self.root / "golden/session-inbox/v0/fixtures.jsonl").unlink()
        self.expect("version 0: golden/session-inbox/v0/fixtures.jsonl is missing",
                    "version 1: tests/unit/codec/inbox_v1_test.c is missing")

    def test_edit_of_a_frozen_module_is_refused(self):
        self.edit("codec/inbox/wire_v1.c", '"steer"', '"swerve"')
        self.expect("wire_v1.c: frozen, and changed")
        self.assertEqual(self.freeze(), 1)
        self.expect("wire_v1.c: frozen, and changed")

    def test_removed_module_is_found(self):
        (self.root / "codec/inbox/wire_v0.h").unlink()
        self.expect("version 0: codec/inbox/wire_v0.h is missing", "wire_v0.h: frozen in")
        self.assertEqual(self.freeze(), 1)

    def test_agreed_correction_passes_once_and_expires(self):
        path = "codec/inbox/wire_v1.c"
        before = freeze_inbox.digest_of(run.Tree(self.root), path)
        self.edit(path, "/* Who sent it,", "/* Who had sent it,")
        after = freeze_inbox.digest_of(run.Tree(self.root), path)
        corrections = self.root / "codec/inbox/CORRECTIONS"
        corrections.write_text(f"{path} {before} {'0' * 64}\n")
        self.expect("wire_v1.c: frozen, and changed")
        corrections.write_text(f"{path} {before} {after}\n")
        self.expect()
        self.assertEqual(self.freeze(), 0)
        self.expect("the correction of codec/inbox/wire_v1.c is made; take it out")

    def test_migration_that_reaches_for_policy_is_found(self):
        self.edit("codec/inbox/wire_v0.c", '#include "codec/inbox/wire_v0.h"',
                  '#include "codec/inbox/wire_v0.h"\n\n#include "codec/inbox/registry.h"')
        self.expect("wire_v0.c: frozen", "must not include codec/inbox/registry.h")

    def test_decoder_that_reaches_the_validator_is_found(self):
        self.edit("codec/inbox/text.h", '#include "codec/inbox/fault.h"',
                  '#include "codec/inbox/fault.h"\n#include "codec/inbox/wire_v1.h"')
        self.expect("decode.c: the decoder trusts a declared version and must not reach "
                    "codec/inbox/shape.h")


if __name__ == "__main__":
    unittest.main()
