#!/usr/bin/env python3
"""Runs the codec's unit tests of a coverage build and says which lines and branches of codec/ they reach.

    scripts/coverage.py BUILD

A line a file, what is missed below it, and the sum: at least 95 % of the lines and 90 % of the branches, or exit
1. Generated sources and headers of other libraries do not count. BUILD/coverage.json has all of it.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = "^(codec_|json_|tea_|inbox_|golden_)"
LINES_MIN, BRANCHES_MIN = 95.0, 90.0


def run_tests(build):
    for counts in build.rglob("*.gcda"):
        counts.unlink()
    done = subprocess.run(["ctest", "--test-dir", str(build), "-L", "unit", "-R", TESTS, "--output-on-failure"],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0 or "No tests were found" in done.stdout:
        raise SystemExit(f"the tests do not pass in {build}:\n{done.stdout[-4000:]}")


def reports(build):
    """gcov's report of each object of codec/ that ran."""
    for notes in sorted((build / "codec").rglob("*.gcno")):
        if not notes.with_suffix(".gcda").exists() or "_generated" in str(notes):
            continue
        done = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", str(notes)],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=build, check=True)
        for line in done.stdout.splitlines():
            yield json.loads(line)


def collect(build):
    """path -> (line -> count, (line, branch) -> count), inline functions of all objects added up."""
    found = {}
    for report in reports(build):
        for file in report["files"]:
            path = pathlib.Path(report["current_working_directory"], file["file"]).resolve()
            if not path.is_relative_to(ROOT / "codec") or "/gen/" in str(path):
                continue
            lines, branches = found.setdefault(
                str(path.relative_to(ROOT)), (collections.Counter(), collections.Counter()))
            for line in file["lines"]:
                lines[line["line_number"]] += line["count"]
                for index, branch in enumerate(line["branches"]):
                    branches[line["line_number"], index] += branch["count"]
    return found


def rate(counts):
    return 100.0 * sum(count > 0 for count in counts.values()) / len(counts) if counts else 100.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--no-run", action="store_true", help="take the counts that are there")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    if not arguments.no_run:
        run_tests(build)
    all_lines, all_branches, report = {}, {}, {}
    for path, (lines, branches) in sorted(collect(build).items()):
        missed = sorted(line for line, count in lines.items() if count == 0)
        half = sorted({line for (line, _), count in branches.items() if count == 0} - set(missed))
        print(f"{path:34} lines {rate(lines):5.1f} %  branches {rate(branches):5.1f} %"
              + (f"  lines {missed}" if missed else "") + (f"  branches of {half}" if half else ""))
        report[path] = {"lines": rate(lines), "branches": rate(branches), "missed": missed, "half": half}
        all_lines.update(((path, line), count) for line, count in lines.items())
        all_branches.update(((path, branch), count) for branch, count in branches.items())
    print(f"codec: lines {rate(all_lines):.2f} % of {len(all_lines)} (at least {LINES_MIN:.0f}), "
          f"branches {rate(all_branches):.2f} % of {len(all_branches)} (at least {BRANCHES_MIN:.0f})")
    (build / "coverage.json").write_text(json.dumps(report, indent=1))
    good = all_lines and rate(all_lines) >= LINES_MIN and rate(all_branches) >= BRANCHES_MIN
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
