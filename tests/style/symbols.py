#!/usr/bin/env python3
"""Names of what the static libraries define: public aw_<noun>_<verb>, inner aw__…, daemon ab_….

    tests/style/symbols.py --root FOLDER LIBRARY=KIND...      KIND: codec | bridge

A public name has to be declared in a public header and an inner one must not; a static carries no
prefix, unless it is an inline function of a header. Prints the findings; exit 1 when there are any.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

GENERATED = re.compile(r"^beam_agents__v1__")
PUBLIC = re.compile(r"^aw_[a-z0-9]+(_[a-z0-9]+)*$")
INNER = re.compile(r"^aw__[a-z0-9]+(_[a-z0-9]+)*$")
DAEMON = re.compile(r"^ab_[a-z0-9]+(_[a-z0-9]+)*$")
# What compilers and sanitizers add to an object.
ADDED = re.compile(r"[.$]|^(_|__odr_asan|asan|tsan|\.L)")


def symbols(library):
    """(kind letter, name) of what the library's objects define."""
    listed = subprocess.run(["nm", "--defined-only", library], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    for line in listed.splitlines():
        parts = line.split()
        if len(parts) == 3:
            yield parts[1], parts[2]


def check(library, kind, declared, inline=()):
    """Findings about one library. declared: every name in the public headers; inline: in any header."""
    count = 0
    for letter, name in symbols(library):
        if GENERATED.match(name) or ADDED.search(name):
            continue
        count += 1
        where = f"{Path(library).name}: {name}"
        if letter.islower():
            if re.match(r"a[wb]_", name) and name not in inline and letter == "t":
                yield f"{where}: is static; only shared names carry a prefix"
        elif kind == "bridge" and not DAEMON.match(name):
            yield f"{where}: what the daemon's folders share is named ab_<noun>_<verb>"
        elif kind == "codec" and PUBLIC.match(name) and name not in declared:
            yield f"{where}: looks public, but no public header declares it: aw__ for inner names"
        elif kind == "codec" and INNER.match(name) and name in declared:
            yield f"{where}: an inner name in a public header"
        elif kind == "codec" and not (PUBLIC.match(name) or INNER.match(name)):
            yield f"{where}: the codec's names are aw_<noun>_<verb>, or aw__… inside"
    if count == 0:
        yield f"{library}: defines no symbol, so nothing was checked"


def declared_names(*folders):
    text = "".join(path.read_text() for folder in folders for path in Path(folder).rglob("*.h"))
    return set(re.findall(r"\b(a[wb]_+\w+)\s*\(", text))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", required=True, type=Path, help="where codec/ and bridge/ lie")
    parser.add_argument("libraries", nargs="+", metavar="LIBRARY=KIND")
    arguments = parser.parse_args()
    declared = declared_names(arguments.root / "codec/include")
    inline = declared_names(arguments.root / "codec", arguments.root / "bridge")
    findings = []
    for item in arguments.libraries:
        library, _, kind = item.rpartition("=")
        findings += check(library, kind, declared, inline)
    print("\n".join(findings + [f"symbols: {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
