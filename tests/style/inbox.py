"""The session inbox's history: versions are only added, whole, and what was shipped never changes."""

import hashlib
import re

from layers import includes

FOLDER = "codec/inbox/"
REGISTRY = FOLDER + "registry.h"
PUBLIC = "codec/include/agentwire/inbox.h"
DECODER = FOLDER + "decode.c"
FROZEN = FOLDER + "FROZEN"
CORRECTIONS = FOLDER + "CORRECTIONS"
MODULE = re.compile(r"^codec/inbox/(wire|from)_v([0-9]+)\.(c|h)$")
# All that a migration may include of this project, beside its own header.
MIGRATION_MAY = {"codec/inbox/migration.h"}
# What only validation and encoding may know.
VALIDATOR = "codec/inbox/shape.h"


def registered(tree):
    """The versions that values declare, as the registry lists them; None when it cannot be read."""
    text = tree.text(REGISTRY) if REGISTRY in tree.files else ""
    line = re.search(r"^#define AW__INBOX_VERSIONS\(X\)((?:\s*\\?\s*X\([0-9]+\))+)", text, re.M)
    return [int(number) for number in re.findall(r"X\(([0-9]+)\)", line.group(1))] if line else None


def modules(tree):
    """The files that hold a version's shape or its migration, which are what is frozen."""
    return [path for path in tree.files if MODULE.match(path)]


def read_frozen(tree):
    """path -> hash, from sha256sum's own format."""
    if FROZEN not in tree.files:
        return {}
    lines = (line for line in tree.text(FROZEN).splitlines() if line)
    return {path: digest for digest, path in (line.split("  ", 1) for line in lines)}


def read_corrections(tree):
    """The triples (path, hash before, hash after) of corrections that were agreed on. One fits only
    while FROZEN still holds the hash before, so that it expires by itself."""
    if CORRECTIONS not in tree.files:
        return set()
    return {tuple(line.split()) for line in tree.text(CORRECTIONS).splitlines() if line}


def digest_of(tree, path):
    return hashlib.sha256(tree.bytes(path)).hexdigest()


def check_frozen(tree):
    frozen = read_frozen(tree)
    corrections = read_corrections(tree)
    for path in modules(tree):
        digest = digest_of(tree, path)
        if path not in frozen:
            yield f"{path}: not in {FROZEN}; when its version ships, add it with scripts/freeze_inbox.py"
        elif frozen[path] != digest and (path, frozen[path], digest) not in corrections:
            yield f"{path}: frozen, and changed; put it back, and add a version beside it"
    for path in frozen:
        if path not in tree.files:
            yield f"{path}: frozen in {FROZEN}, and gone; put it back"
    for path, before, _ in sorted(corrections):
        if frozen.get(path) != before:
            yield f"{CORRECTIONS}: the correction of {path} is made; take it out"


def missing_of(tree, version, highest):
    """What a registered version, or 0, lacks: (path, what it is)."""
    def test_of(stem):
        return f"tests/unit/codec/inbox_{stem}_test.c"

    yield f"{FOLDER}wire_v{version}.c", "its module"
    yield f"{FOLDER}wire_v{version}.h", "its module's header"
    yield test_of(f"v{version}"), "its test"
    yield f"golden/session-inbox/v{version}/fixtures.jsonl", "its frozen fixtures"
    if version > 0:
        yield f"golden/session-inbox/v{version}/schema.json", "its frozen schema"
    if 0 < version < highest:
        yield f"{FOLDER}from_v{version}.c", f"the migration from {version} to {version + 1}"
        yield test_of(f"from_v{version}"), "the migration's test"


def check_versions(tree, versions):
    if versions != list(range(1, len(versions) + 1)):
        yield f"{REGISTRY}: the versions {versions} are not 1, 2, 3 and so on without a hole"
        return
    public = tree.text(PUBLIC) if PUBLIC in tree.files else ""
    if not re.search(rf"^#define AW_INBOX_VERSION {versions[-1]}$", public, re.M):
        yield f"{PUBLIC}: AW_INBOX_VERSION is not {versions[-1]}, the highest of {REGISTRY}"
    decoder = tree.text(DECODER) if DECODER in tree.files else ""
    for version in [0] + versions:
        for path, what in missing_of(tree, version, versions[-1]):
            if path not in tree.files:
                yield f"session inbox version {version}: {path} is missing: {what}"
        if version < versions[-1] and f"&aw__inbox_from_v{version}" not in decoder:
            yield (f"session inbox version {version}: {DECODER} has no step aw__inbox_from_v{version} "
                   f"in STEPS, to version {version + 1}")
    for path in modules(tree):
        if int(MODULE.match(path).group(2)) not in [0] + versions:
            yield f"{path}: {REGISTRY} has no such version"


def reach(tree, path):
    """All headers of the project that a file includes, directly or not."""
    seen, todo = set(), [path]
    while todo:
        for _, _, name in includes(tree.text(todo.pop())):
            if name in tree.files and name not in seen:
                seen.add(name)
                todo.append(name)
    return seen


def check_purity(tree):
    for path in modules(tree):
        text = tree.text(path)
        own = re.sub(r"\.c$", ".h", path)
        if "aw__inbox_from_v" not in text:
            continue
        for line, bracket, name in includes(text):
            if bracket == '"' and name not in MIGRATION_MAY | {own}:
                yield (f"{path}:{line}: a migration is a pure function of a value and must not include "
                       f"{name}; it may use {', '.join(sorted(MIGRATION_MAY))}")
    for path in (DECODER, FOLDER + "chain.c"):
        if path in tree.files and VALIDATOR in reach(tree, path):
            yield f"{path}: the decoder trusts a declared version and must not reach {VALIDATOR}"


def check_inbox(tree):
    """Versions are contiguous and whole, shipped files stay, migrations and the decoder are pure."""
    versions = registered(tree)
    if versions is None:
        yield f"{REGISTRY}: no AW__INBOX_VERSIONS(X) with X(1) and so on"
        return
    yield from check_versions(tree, versions)
    yield from check_frozen(tree)
    yield from check_purity(tree)
