#!/usr/bin/env python3
"""Holds every C file to .clang-format: `make format` would change nothing. Exit 1 when it would.

    tests/style/format.py CLANG_FORMAT [ROOT]
"""

import subprocess
import sys
from pathlib import Path

from tree import Tree


def unformatted(clang_format, root):
    tree = Tree(root)
    files = tree.select(".c", ".h")
    if not files:
        return [f"{root}: no C file to look at"]
    result = subprocess.run([clang_format, "--dry-run", "--Werror", "--ferror-limit=1", *files],
                            cwd=root, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = result.stdout.splitlines()
    findings = [line for line in lines if "-Wclang-format-violations" in line]
    if result.returncode != 0 and not findings:
        findings = lines or [f"{clang_format} ends with {result.returncode}"]
    return findings


def main():
    root = sys.argv[2] if len(sys.argv) > 2 else Path(__file__).resolve().parent.parent.parent
    findings = unformatted(sys.argv[1], root)
    print("\n".join(findings + [f"format: {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
