#!/usr/bin/env python3
"""Freezes new files below golden/ by writing their hashes to golden/SHA256SUMS.

Only ever adds. A frozen file that has changed or is gone is refused: other programs rely on those very
bytes, so a new format gets a folder golden/<format>/v<N+1>/ of its own. `sha256sum -c golden/SHA256SUMS`
checks the list without this project. Exit 1 when something is refused.
"""

import hashlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "style"))

from shape import SUMS, check_golden, golden_files, read_sums  # noqa: E402
from tree import Tree  # noqa: E402


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    tree = Tree(root)
    sums = read_sums(tree)
    new = [path for path in golden_files(tree) if path not in sums]
    refused = [line for line in check_golden(tree)
               if "not in golden/" not in line and "holds no file" not in line]
    if refused:
        print("\n".join(refused), file=sys.stderr)
        return 1
    for path in new:
        sums[path] = hashlib.sha256(tree.bytes(path)).hexdigest()
        print(f"frozen: {path}")
    lines = [f"{digest}  {path}\n" for path, digest in sorted(sums.items())]
    (root / SUMS).write_text("".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
