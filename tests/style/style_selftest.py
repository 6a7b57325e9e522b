#!/usr/bin/env python3
"""Shows that each style check can fail: plants a violation in an empty tree and expects it found."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "scripts")]

import format as layout  # noqa: E402
import freeze_golden  # noqa: E402
import run  # noqa: E402
import symbols  # noqa: E402
import test as runner  # noqa: E402

GUARDED = "#ifndef {0}\n#define {0}\n{1}\n#endif\n"


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def plant(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def expect(self, check, *wanted):
        """The check's findings are exactly as many as wanted, each holding its words."""
        findings, _ = run.run(check, self.root)
        self.assertEqual(len(findings), len(wanted), findings)
        for finding, words in zip(findings, wanted):
            self.assertIn(words, finding)


class IncludesTest(Planted):
    def test_layers_upwards_found(self):
        self.plant("bridge/core/a.c", '#include "bridge/kafka/b.h"\n')
        self.plant("codec/wire/a.c", '#include "bridge/core/b.h"\n')
        self.plant("codec/base/a.h", '#include "codec/wire/reader.h"\n')
        self.expect("includes", "bridge/core/a.c:1: bridge/core/ must not include bridge/kafka/b.h",
                    "codec/base/ must not", "codec/wire/ must not")

    def test_bridge_inner_codec_header_found(self):
        self.plant("bridge/core/a.c", '#include "codec/wire/reader.h"\n')
        self.expect("includes", "must not include codec/wire/reader.h")

    def test_layers_downwards_accepted(self):
        self.plant("bridge/kafka/a.c", '#include "bridge/core/b.h"\n#include "agentwire/span.h"\n')
        self.expect("includes")

    def test_doors_elsewhere_found(self):
        for header in ("librdkafka/rdkafka.h", "lmdb.h", "microhttpd.h", "yaml.h", "openssl/hmac.h",
                       "jansson.h", "protobuf-c/protobuf-c.h", "cmocka.h"):
            with self.subTest(header):
                self.plant("bridge/core/a.c", f"#include <{header}>\n")
                self.expect("includes", f"{header} may be included only in")

    def test_doors_own_folder_accepted(self):
        self.plant("bridge/kafka/a.c", "#include <librdkafka/rdkafka.h>\n")
        self.plant("codec/crypto/a.c", "#include <openssl/hmac.h>\n")
        self.plant("bridge/config/a.c", "#include <yaml.h>\n")
        self.expect("includes")

    def test_include_in_comment_ignored(self):
        self.plant("bridge/core/a.c", "/*\n#include <yaml.h>\n*/\n// #include <yaml.h>\n")
        self.expect("includes")

    def test_own_header_not_first_found(self):
        self.plant("bridge/core/a.h", "")
        self.plant("bridge/core/a.c", '#include <stdio.h>\n#include "bridge/core/a.h"\n')
        self.expect("includes", 'own header "bridge/core/a.h"')

    def test_relative_path_found(self):
        self.plant("bridge/core/a.c", '#include "a.h"\n')
        self.expect("includes", "write the path from the root")

    def test_unknown_folder_found(self):
        self.plant("bridge/new/a.c", '#include "agentwire/span.h"\n')
        self.expect("includes", "no folder that tests/style/layers.py knows")

    def test_empty_tree_found(self):
        self.expect("includes", "found no file to look at")


class PurityTest(Planted):
    def test_codec_logging_found(self):
        self.plant("codec/wire/a.c", 'void f(void) {\n    fprintf(x, "no");\n    f(stderr);\n}\n')
        self.expect("purity", "codec/wire/a.c:2: fprintf()", "codec/wire/a.c:3: stderr")

    def test_core_clock_found(self):
        self.plant("bridge/core/a.c", "long f(void) { return time(0) + clock_gettime(1, 0); }\n")
        self.plant("bridge/core/b.c", "#include <pthread.h>\n")
        self.expect("purity", "time()", "clock_gettime()", "<pthread.h>")

    def test_harmless_words_accepted(self):
        self.plant("codec/wire/a.c", '/* printf( */ int f(void) { snprintf(b, 1, "time("); '
                                     "x->read(1); start_time(2); return 0; }\n")
        self.expect("purity")


class ShapeTest(Planted):
    def test_sizes_long_function_found(self):
        body = "    f();\n" * 68
        self.plant("a.c", f"void f(void)\n{{\n{body}}}\n")
        self.expect("sizes")
        self.plant("a.c", f"void f(void)\n{{\n{body}    f();\n}}\n")
        self.expect("sizes", "a.c:2: a function of 71 lines")

    def test_sizes_long_file_found(self):
        self.plant("a.c", "\n" * 600)
        self.expect("sizes")
        self.plant("a.c", "\n" * 601)
        self.expect("sizes", "601 lines")

    def test_sizes_wide_line_found(self):
        self.plant("a.c", "/*" + "ä" * 96 + "*/\n")
        self.expect("sizes")
        self.plant("a.c", "/*" + "ä" * 97 + "*/\nint a; \n\tint b;\n")
        self.expect("sizes", "a.c:1: 101 columns", "a.c:2: a tab, or blanks", "a.c:3: a tab")

    def test_sizes_generated_exempt(self):
        self.plant("codec/message/gen/a.c", "\n" * 601)
        self.plant("a.c", "")
        self.expect("sizes")

    def test_guards_wrong_found(self):
        self.plant("codec/include/agentwire/a.h", GUARDED.format("AGENTWIRE_A_H", "int a;"))
        self.plant("bridge/core/b.h", "/* why */\n" + GUARDED.format("BRIDGE_CORE_B_H", ""))
        self.expect("guards")
        self.plant("bridge/core/b.h", GUARDED.format("CORE_B_H", ""))
        self.plant("bridge/core/c.h", "#pragma once\n")
        self.expect("guards", "BRIDGE_CORE_B_H", "BRIDGE_CORE_C_H")

    def test_comments_missing_found(self):
        path = "codec/include/agentwire/a.h"
        good = ("/** What it does. */\nint aw_a_do(int a,\n            int b);\nvoid aw_a_undo(int a);\n"
                "\n/* A struct is no function. */\ntypedef struct aw_a {\n    int (*f)(int);\n} aw_a_t;\n"
                "/** Inline. */\nstatic inline int aw_a_get(int a)\n{\n    return a;\n}\n")
        self.plant(path, good)
        self.expect("comments")
        self.plant(path, good + "\nint aw_a_more(int a);\n")
        self.expect("comments", "aw_a_more has no comment block")

    def test_gotos_backwards_found(self):
        forward = "int f(void)\n{\n    goto done;\ndone:\n    return 0;\n}\n"
        self.plant("a.c", forward)
        self.expect("gotos")
        self.plant("a.c", forward + "int g(void)\n{\nagain:\n    goto again;\n}\n")
        self.expect("gotos", "a.c:10: goto again goes back")

    def test_words_open_found(self):
        for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"):
            with self.subTest(word):
                self.plant("a.c", f"int a; /* {word}: later */\n")
                self.expect("words", "left open")

    def test_words_host_and_path_found(self):
        host = ".".join(("pypi", "org"))
        home = "/".join(("", "home", "someone", "x"))
        self.plant("docs/a.md", f"see {host}\nand {home}\n")
        self.expect("words", "a registry's host", "a path of one machine")

    def test_words_binary_ignored(self):
        self.plant("a.txt", b"\0" + ("TO" + "DO").encode())
        self.expect("words")


class TestsTest(Planted):
    CASE = "static void test_a_empty_refused(void **state)\n"

    def test_tests_unregistered_found(self):
        self.plant("tests/unit/a_test.c", self.CASE)
        self.plant("tests/unit/test_b.py", "")
        self.plant("tests/unit/CMakeLists.txt", "# a_test.c\nf(SOURCES other_a_test.c)\n")
        self.expect("tests", "a_test.c: not in", "test_b.py: not in")
        self.plant("tests/unit/CMakeLists.txt", "f(SOURCES a_test.c)\ng(${X}/test_b.py)\n")
        self.expect("tests")
        self.plant("tests/unit/CMakeLists.txt",
                   "foreach(u b a)\n  f(SOURCES ${u}_test.c)\nendforeach()\ng(test_b.py)\n")
        self.expect("tests")

    def test_tests_badly_named_found(self):
        self.plant("tests/unit/CMakeLists.txt", "f(SOURCES a_test.c)\n")
        self.plant("tests/unit/a_test.c", self.CASE.replace("test_a_empty_refused", "test_a"))
        self.expect("tests", "name it")


class GoldenTest(Planted):
    def freeze(self):
        said = io.StringIO()
        old, sys.argv = sys.argv, ["freeze_golden.py", str(self.root)]
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                return freeze_golden.main()
        finally:
            sys.argv = old

    def test_golden_unlisted_found_and_frozen(self):
        self.plant("golden/a/v1/x.bin", b"\0\1")
        self.expect("golden", "not in golden/SHA256SUMS", "holds no file")
        self.assertEqual(self.freeze(), 0)
        self.expect("golden")

    def test_golden_changed_found_and_refused(self):
        self.plant("golden/a/v1/x.bin", b"\0\1")
        self.freeze()
        self.plant("golden/a/v1/x.bin", b"\0\2")
        self.expect("golden", "frozen, and changed")
        self.assertEqual(self.freeze(), 1)
        self.expect("golden", "frozen, and changed")

    def test_golden_removed_found(self):
        self.plant("golden/a/v1/x.bin", b"\0\1")
        gone = self.plant("golden/a/v1/y.bin", b"\0\1")
        self.freeze()
        gone.unlink()
        self.expect("golden", "and gone")

    def test_golden_outside_version_found(self):
        self.plant("golden/a/v1/x.bin", b"")
        self.freeze()
        for path in ("golden/stray.txt", "golden/a/x.bin", "golden/a/b/x.bin"):
            with self.subTest(path):
                stray = self.plant(path, b"")
                self.expect("golden", "nowhere else")
                stray.unlink()


class BuildTest(Planted):
    """Checks that need the compiler: names of symbols, headers alone."""

    def library(self, source):
        cc = os.environ.get("CC", "cc")
        file = self.plant("a.c", source)
        subprocess.run([cc, "-c", file, "-o", self.root / "a.o"], check=True)
        subprocess.run(["ar", "rc", self.root / "a.a", self.root / "a.o"], check=True)
        return str(self.root / "a.a")

    def findings(self, kind, source, declared=()):
        return list(symbols.check(self.library(source), kind, set(declared)))

    def test_symbols_named_by_rule_accepted(self):
        self.assertEqual(self.findings("codec", "int aw_a_do(void){return 0;} int aw__b;",
                                       ["aw_a_do"]), [])
        self.assertEqual(self.findings("bridge", "int ab_a_do(void){return 0;}"), [])

    def test_symbols_against_rule_found(self):
        for kind, source, declared, words in (
                ("codec", "int helper(void){return 0;}", [], "names are aw_"),
                ("codec", "int aw_a_do(void){return 0;}", [], "no public header declares it"),
                ("codec", "int aw__a(void){return 0;}", ["aw__a"], "inner name in a public header"),
                ("bridge", "int aw_a_do(void){return 0;}", [], "ab_<noun>_<verb>"),
                ("bridge", "static int ab_x(void){return 0;} int ab_y(void){return ab_x();}", [],
                 "is static"),
                ("bridge", "", [], "nothing was checked")):
            with self.subTest(source):
                found = self.findings(kind, source, declared)
                self.assertEqual(len(found), 1, found)
                self.assertIn(words, found[0])

    def test_header_not_alone_refused(self):
        cc = os.environ.get("CC", "cc")
        self.plant("bad.h", "uint8_t a;\n")
        source = self.plant("alone.c", '#include "bad.h"\n')
        result = subprocess.run([cc, "-fsyntax-only", source], stderr=subprocess.DEVNULL)
        self.assertNotEqual(result.returncode, 0)


class FormatTest(Planted):
    """Only where clang-format 14 is; elsewhere the check is not made either."""

    def test_format_other_layout_found(self):
        tool = os.environ.get("CLANG_FORMAT")
        if tool is None:
            return
        self.plant(".clang-format", (ROOT / ".clang-format").read_text())
        self.plant("a.c", "int f(void)\n{\n    return 0;\n}\n")
        self.assertEqual(layout.unformatted(tool, self.root), [])
        self.plant("b.c", "int f(void) {\n  return 0; }\n")
        found = layout.unformatted(tool, self.root)
        self.assertTrue(found and "b.c" in found[0], found)
        self.assertTrue(layout.unformatted("false", self.root))


class RunnerTest(Planted):
    """The counts of make test."""

    def counts(self, *cases):
        junit = self.plant("junit.xml", f"<testsuite>{''.join(cases)}</testsuite>")
        return runner.read_junit(junit, "dev")

    def test_counts_all_kinds_told_apart(self):
        counts = self.counts('<testcase name="a" status="run"/>',
                             '<testcase name="b" status="fail"><failure message="x"/></testcase>',
                             '<testcase name="c" status="notrun"><skipped/></testcase>',
                             '<testcase name="d" status="disabled"><skipped/></testcase>')
        self.assertEqual(counts.line(), "1 passed, 1 failed, 2 skipped")
        self.assertFalse(counts.good())

    def test_counts_skip_alone_not_good(self):
        counts = self.counts('<testcase name="a" status="run"/>', '<testcase name="b" status="notrun"/>')
        self.assertEqual(counts.line(), "1 passed, 0 failed, 1 skipped")
        self.assertFalse(counts.good())

    def test_counts_nothing_ran_failed(self):
        self.assertEqual(self.counts().line(), "0 passed, 1 failed, 0 skipped")
        missing = runner.read_junit(self.root / "none.xml", "dev")
        self.assertEqual(missing.line(), "0 passed, 1 failed, 0 skipped")

    def test_counts_all_passed_good(self):
        self.assertTrue(self.counts('<testcase name="a" status="run"/>').good())


if __name__ == "__main__":
    unittest.main()
