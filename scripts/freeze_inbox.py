#!/usr/bin/env python3
"""Freezes the modules of session-inbox versions by writing their hashes to codec/inbox/FROZEN.

Only ever adds: values that these modules wrote or read may lie in a topic for years, so a changed one is
refused. A change of shape is a version of its own beside the others. A correction that was agreed on is a
line `path hash-before hash-after` in codec/inbox/CORRECTIONS; this script then takes over the new hash,
and the line has to go. `sha256sum -c codec/inbox/FROZEN` checks the list without this project.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "style"))

from inbox import FROZEN, digest_of, modules, read_corrections, read_frozen  # noqa: E402
from tree import Tree  # noqa: E402


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    tree = Tree(root)
    frozen = read_frozen(tree)
    corrections = read_corrections(tree)
    refused = [path for path in frozen if path not in tree.files]
    for path in modules(tree):
        digest = digest_of(tree, path)
        if frozen.get(path, digest) != digest and (path, frozen[path], digest) not in corrections:
            refused.append(path)
        elif frozen.get(path) != digest:
            frozen[path] = digest
            print(f"frozen: {path}")
    if refused:
        print("\n".join(f"{path}: frozen, and changed or gone" for path in refused), file=sys.stderr)
        return 1
    lines = [f"{digest}  {path}\n" for path, digest in sorted(frozen.items())]
    (root / FROZEN).write_text("".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
