#!/usr/bin/env python3
"""Runs one style check, or all, over the tree; prints the findings; exit 1 when there are any.

    tests/style/run.py [--root FOLDER] [CHECK...]
"""

import argparse
import sys
from pathlib import Path

import inbox
import layers
import shape
from tree import Tree

CHECKS = {
    "includes": layers.check_includes,
    "purity": layers.check_purity,
    "sizes": shape.check_sizes,
    "guards": shape.check_guards,
    "comments": shape.check_comments,
    "gotos": shape.check_gotos,
    "words": shape.check_words,
    "tests": shape.check_tests,
    "golden": shape.check_golden,
    "inbox": inbox.check_inbox,
}


def run(name, root):
    """Findings of one check, as lines. To have looked at nothing is a finding: the check is then void."""
    tree = Tree(root)
    findings = list(CHECKS[name](tree))
    if not tree.looked_at:
        findings.append(f"{root}: the check '{name}' found no file to look at")
    return findings, len(tree.looked_at)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=Path(__file__).resolve().parent.parent.parent)
    parser.add_argument("checks", nargs="*", metavar="CHECK", default=list(CHECKS))
    arguments = parser.parse_args()
    failed = False
    for name in arguments.checks:
        if name not in CHECKS:
            parser.error(f"no check '{name}'; there are: {', '.join(CHECKS)}")
        findings, looked_at = run(name, arguments.root)
        print("\n".join(findings + [f"{name}: {len(findings)} findings in {looked_at} files"]))
        failed = failed or bool(findings)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
