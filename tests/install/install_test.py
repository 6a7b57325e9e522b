#!/usr/bin/env python3
"""Installs the library of a build and uses it as somebody else would.

    tests/install/install_test.py BUILD

Shared and static, by way of pkg-config and of CMake; the names it exports, its SONAME, its headers.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests" / "install" / "messages.c"
EXPORTS = ROOT / "codec" / "exports.txt"
BUILD = None
TEN = ["MemoryBlob", "ToolIntent", "ToolResult", "TraceEvent", "AgentEnvelope", "StateSnapshot",
       "ActivationErrorRecord", "Continuation", "LlmCacheBlob", "LongTermRecord"]
CMAKE_PROJECT = """cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(agentwire 0.1 REQUIRED)
foreach(kind agentwire agentwire-static)
  add_executable(use-${kind} messages.c)
  target_link_libraries(use-${kind} PRIVATE agentwire::${kind})
endforeach()
"""


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command} exits with {done.returncode}:\n{done.stdout}")
    return done.stdout


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.folder.name, "prefix")
        cls.cmake = os.environ.get("CMAKE", "cmake")
        cls.cc = os.environ.get("CC", "cc")
        run(cls.cmake, "--install", BUILD, "--component", "library", "--prefix", cls.prefix)
        cls.lib = next(cls.prefix.rglob("libagentwire.so")).parent
        # The file names the prefix of the build; a user who moves it says so.
        cls.env = {**os.environ, "PKG_CONFIG_PATH": f"{cls.lib}/pkgconfig"}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def pkg_config(self, *arguments):
        return run("pkg-config", f"--define-variable=prefix={self.prefix}", *arguments, "agentwire",
                   env=self.env).split()

    def compile_and_run(self, name, *libraries, env=None):
        program = pathlib.Path(self.folder.name, name)
        run(self.cc, "-std=c11", "-Wall", "-Wextra", "-Werror", *self.pkg_config("--cflags"), SOURCE,
            "-o", program, *libraries)
        self.assertEqual(run(program, env=env).split(), TEN)
        return program

    def test_exported_names_are_those_of_the_list(self):
        listed = run("nm", "-D", "--defined-only", self.lib / "libagentwire.so")
        names = sorted(line.split()[-1] for line in listed.splitlines())
        self.assertEqual(names, EXPORTS.read_text().split(),
                         "codec/exports.txt is the list of what the library promises")

    def test_exported_names_are_those_the_headers_declare(self):
        text = "".join(header.read_text() for header in (self.prefix / "include/agentwire").glob("*.h"))
        text = re.sub(r"/\*.*?\*/|static inline.*?^}", "", text, flags=re.S | re.M)
        declared = set(re.findall(r"\b(aw_[a-z0-9_]+)\s*\([^;{}]*\)\s*;", text))
        declared = {name for name in declared if not name.endswith("_t")}
        self.assertEqual(declared, set(EXPORTS.read_text().split()))

    def test_shared_library_has_its_soname_and_links(self):
        header = run("readelf", "-d", self.lib / "libagentwire.so")
        self.assertIn("Library soname: [libagentwire.so.0]", header)
        self.assertTrue((self.lib / "libagentwire.so.0").is_symlink())
        needed = set(re.findall(r"Shared library: \[(lib[a-z-]+)", header))
        self.assertLessEqual(needed, {"libprotobuf-c", "libcrypto", "libc", "libm"})

    def test_program_builds_against_the_shared_library_by_pkg_config(self):
        env = {**os.environ, "LD_LIBRARY_PATH": str(self.lib)}
        program = self.compile_and_run("shared", *self.pkg_config("--libs"), env=env)
        self.assertIn("libagentwire.so.0", run("readelf", "-d", program))

    def test_first_program_of_the_page_builds(self):
        code = re.search(r"^```c\n(.*?)^```", (ROOT / "docs/library.md").read_text(), re.S | re.M).group(1)
        source = pathlib.Path(self.folder.name, "first.c")
        source.write_text(f"{code}\nint main(void)\n{{\n    return print_result(AW_SPAN_NULL, stdout);\n}}\n")
        run(self.cc, "-std=c11", "-Wall", "-Wextra", "-Werror", *self.pkg_config("--cflags"), source,
            "-o", pathlib.Path(self.folder.name, "first"), *self.pkg_config("--libs"))

    def test_program_builds_against_the_static_library_by_pkg_config(self):
        libraries = [str(self.lib / "libagentwire.a") if item == "-lagentwire" else item
                     for item in self.pkg_config("--libs", "--static")]
        program = self.compile_and_run("static", *libraries)
        self.assertNotIn("libagentwire", run("readelf", "-d", program))

    def test_program_builds_against_both_by_the_cmake_package(self):
        project = pathlib.Path(self.folder.name, "project")
        project.mkdir()
        (project / "CMakeLists.txt").write_text(CMAKE_PROJECT)
        (project / "messages.c").write_text(SOURCE.read_text())
        run(self.cmake, "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_C_COMPILER={self.cc}")
        run(self.cmake, "--build", project / "build")
        for kind in ("agentwire", "agentwire-static"):
            self.assertEqual(run(project / "build" / f"use-{kind}").split(), TEN)

    def headers(self):
        return sorted(header.name for header in (self.prefix / "include" / "agentwire").glob("*.h"))

    def test_headers_compile_alone_also_as_cpp(self):
        for header in self.headers():
            for language in ("c", "c++"):
                with self.subTest(header, language=language):
                    run(self.cc, "-x", language, "-fsyntax-only", "-Wall", f"-I{self.prefix}/include", "-",
                        input=f'#include "agentwire/{header}"\n')

    def test_program_in_cpp_links_what_the_headers_declare(self):
        names = EXPORTS.read_text().split()
        source = pathlib.Path(self.folder.name, "names.cc")
        source.write_text("".join(f'#include "agentwire/{header}"\n' for header in self.headers()) + f"""
int main()
{{
    aw_error_t error = AW_ERROR_INIT;
    void (*const functions[])() = {{
        {", ".join(f"reinterpret_cast<void (*)()>({name})" for name in names)}
    }};
    for (auto function : functions) {{
        error.status += function == nullptr;
    }}
    return error.status != AW_OK || AW_SPAN_NULL.data != nullptr;
}}
""")
        program = source.with_suffix("")
        run(self.cc, "-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", *self.pkg_config("--cflags"), source,
            "-o", program, "-x", "none", *self.pkg_config("--libs"))
        run(program, env={**os.environ, "LD_LIBRARY_PATH": str(self.lib)})


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
