#!/usr/bin/env python3
"""Builds and runs the tests of each preset and closes with one line of counts over all of them.

    scripts/test.py [--jobs N] [PRESET...]      default: dev asan tsan, and a job for each processor

Two tests more than that run at once: most of them wait most of the time.

What ran is read from ctest's JUnit file, never guessed from its exit code alone. A test that was
skipped, disabled or not found fails the run, and so does a preset that does not build or runs no test:
each counts as one failure. Up to three failed tests are run once more, alone: one that passes then was not up
to a busy machine, or is unsteady; it is named at the end, with what it printed at first. Logs and JUnit files are in build/logs. Exit code: 0 or 1, 2 usage.
"""

import argparse
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRESETS = ["dev", "asan", "tsan"]
TAIL_LINES = 60
SECOND_TRIES_MAX = 3
TEST_LINE = re.compile(r"^\s*\d+/\d+ Test\s+#")


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    troubles: list = field(default_factory=list)  # (name, what it printed)
    failures: list = field(default_factory=list)  # names of tests that ran and failed
    unsteady: list = field(default_factory=list)  # the same as troubles, of tests that passed at the second try

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.troubles += other.troubles
        self.unsteady += other.unsteady

    def line(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"

    def good(self):
        return self.passed > 0 and self.failed == 0 and self.skipped == 0


def failure(name, text):
    return Counts(failed=1, troubles=[(name, text)])


def read_junit(path, preset):
    """Counts of one ctest run; a file without a test is a failure."""
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        return failure(f"{preset}: no result", f"{path}: {error}")
    if not cases:
        return failure(f"{preset}: ran no test", f"{path} holds no test case")
    counts = Counts()
    for case in cases:
        name = f"{preset}: {case.get('name')}"
        said = case.findtext("system-out") or ""
        status = case.get("status")
        if status == "run" and case.find("failure") is None and case.find("skipped") is None:
            counts.passed += 1
        elif status in ("notrun", "disabled") or case.find("skipped") is not None:
            counts.skipped += 1
            counts.troubles.append((f"{name}: did not run", said))
        else:
            counts.failed += 1
            counts.failures.append(case.get("name"))
            reason = case.find("failure")
            why = reason.get("message") if reason is not None else status
            why = (why or "failed").split(" Regex=")[0].splitlines()[0]
            counts.troubles.append((f"{name}: {why}", said))
    return counts


def run_logged(command, log, show=None):
    """Runs command with its output in log; lines that show matches go to the terminal too."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w", buffering=1, encoding="utf-8", errors="replace") as out:
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, text=True,
                                   errors="replace", stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        for line in process.stdout:
            out.write(line)
            if show and show.search(line):
                print(line.rstrip(), flush=True)
        return process.wait()


def tail(path):
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-TAIL_LINES:])


def run_tests(preset, step, words):
    """Runs ctest; returns its exit code and the counts of its JUnit file."""
    logs = ROOT / "build" / "logs"
    junit = logs / f"{preset}-{step}-junit.xml"
    junit.unlink(missing_ok=True)
    code = run_logged(["ctest", "--preset", preset, *words,
                       "--test-output-size-passed", "4096", "--test-output-size-failed", "200000",
                       "--output-junit", str(junit)],
                      logs / f"{preset}-{step}.log", TEST_LINE)
    return code, read_junit(junit, preset)


def run_preset(preset, jobs):
    logs = ROOT / "build" / "logs"
    steps = [("configure", ["cmake", "--preset", preset]),
             ("build", ["cmake", "--build", "--preset", preset, "--parallel", str(jobs)])]
    for step, command in steps:
        began = time.monotonic()
        log = logs / f"{preset}-{step}.log"
        code = run_logged(command, log)
        if code != 0:
            return failure(f"{preset}: {step} failed (exit {code})", tail(log))
        print(f"{preset}: {step} {time.monotonic() - began:.0f} s", flush=True)
    code, counts = run_tests(preset, "test", ["--parallel", str(jobs + 2)])
    if 0 < len(counts.failures) == counts.failed <= SECOND_TRIES_MAX and counts.skipped == 0:
        print(f"{preset}: once more: {' '.join(counts.failures)}", flush=True)
        code, again = run_tests(preset, "again", ["--rerun-failed"])
        if code == 0 and again.good():
            counts = Counts(passed=counts.passed + counts.failed, unsteady=counts.troubles)
    if code != 0 and counts.good():
        counts.add(failure(f"{preset}: ctest exits with {code}", tail(logs / f"{preset}-test.log")))
    return counts


def report(counts):
    for name, said in counts.troubles + counts.unsteady:
        print(f"\n---- {name}")
        lines = said.rstrip().splitlines()
        print("\n".join(lines[-TAIL_LINES:]))
    if counts.troubles:
        print("\nWhat failed or did not run:")
        for name, _ in counts.troubles:
            print(f"  {name}")
        print(f"Whole logs: {ROOT / 'build' / 'logs'}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("presets", nargs="*", metavar="PRESET", default=PRESETS)
    arguments = parser.parse_args()
    total = Counts()
    for preset in arguments.presets:
        counts = run_preset(preset, arguments.jobs)
        ran = counts.passed + counts.failed + counts.skipped
        print(f"{preset}: {counts.passed} of {ran} tests passed\n", flush=True)
        total.add(counts)
    report(total)
    for name, _ in total.unsteady:
        print(f"unsteady, passed at the second try: {name}")
    print(total.line(), flush=True)
    return 0 if total.good() else 1


if __name__ == "__main__":
    sys.exit(main())
