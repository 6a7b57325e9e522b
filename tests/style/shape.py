"""The shape of the sources: lengths, guards, comments, names of tests, words that must not stay."""

import hashlib
import re

from tree import blank_comments, line_of

COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 600
PUBLIC = "codec/include/agentwire/"
TEXT_SUFFIXES = (".c", ".h", ".py", ".sh", ".cmake", ".md", ".txt", ".json", ".yaml", ".yml", ".xml",
                 ".proto", ".awk", ".def", ".properties", "CMakeLists.txt", "Makefile", "/run", ".in")


def check_sizes(tree):
    """Columns, lines of a function, lines of a file."""
    for path in tree.select(".c", ".h", ".def"):
        lines = tree.text(path).splitlines()
        if len(lines) > FILE_LINES_MAX:
            yield f"{path}: {len(lines)} lines, at most {FILE_LINES_MAX}: split it by subject"
        opened = None
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS_MAX:
                yield f"{path}:{number}: {len(line)} columns, at most {COLUMNS_MAX}"
            if "\t" in line or line != line.rstrip():
                yield f"{path}:{number}: a tab, or blanks at the end of the line"
            if line == "{":
                opened = number
            elif line == "}" and opened is not None:
                if number - opened + 1 > FUNCTION_LINES_MAX:
                    yield (f"{path}:{opened}: a function of {number - opened + 1} lines, "
                           f"at most {FUNCTION_LINES_MAX}")
                opened = None


def guard_of(path):
    name = path.removeprefix("codec/include/")
    return re.sub(r"[^A-Z0-9]", "_", name.upper())


def check_guards(tree):
    """Each header's include guard is its path."""
    for path in tree.select(".h"):
        guard = guard_of(path)
        text = blank_comments(tree.text(path)).strip()
        if not re.match(rf"#ifndef {guard}\n#define {guard}\n", text) or not text.endswith("#endif"):
            yield f"{path}: has to begin with '#ifndef {guard}', '#define {guard}' and end with #endif"


DECLARATION = re.compile(r"^(?!typedef|static const|#)[A-Za-z_][^;{}#]*?\b(aw_\w+)\s*\([^;{}]*\)"
                         r"[^;{}]*[;{]", re.M)


def check_comments(tree):
    """Each function of a public header carries a comment right before it. Functions that follow each
    other without an empty line share one."""
    for path in tree.select(".h", under=(PUBLIC,)):
        text = tree.text(path)
        code = blank_comments(text)
        covered_to = None
        for match in DECLARATION.finditer(code):
            if text[:match.start()].endswith("*/\n") or match.start() == covered_to:
                covered_to = match.end() + 1
            else:
                yield f"{path}:{line_of(code, match.start())}: {match.group(1)} has no comment block"


def check_gotos(tree):
    """goto goes forward, to clean up; a loop is written as a loop."""
    for path in tree.select(".c", ".h"):
        code = blank_comments(tree.text(path))
        for function in re.finditer(r"^\{$.*?^\}$", code, re.M | re.S):
            body = function.group()
            for jump in re.finditer(r"\bgoto\s+(\w+)\s*;", body):
                label = re.search(rf"^\s*{jump.group(1)}:", body, re.M)
                if label and label.start() < jump.start():
                    line = line_of(code, function.start() + jump.start())
                    yield f"{path}:{line}: goto {jump.group(1)} goes back; write a loop"


# Put together from halves, so that this file does not hold what it looks for.
OPEN_WORDS = re.compile(r"\b(TO" + "DO|FIX" + "ME|XX" + "X|HA" + r"CK)\b")
HOSTS = re.compile(r"deb\.debian\.org|registry\.npmjs\.org|repo1?\.maven|pypi\.org|"
                   r"files\.pythonhosted|proxy\.golang\.org|static\.crates\.io|maven\.apache\.org/maven2")
MACHINE_PATHS = re.compile(r"(^|[^\w.])/(work|farm|home|Users)/")
WORDS = [
    (OPEN_WORDS, "left open: finish it, or write it up as an issue"),
    (HOSTS, "a registry's host: leave the address to the machine's own settings"),
    (MACHINE_PATHS, "a path of one machine: make it relative to the project"),
]


def check_words(tree):
    """Nothing is left open, no registry is named, no path of one machine."""
    for path in tree.files:
        if not path.endswith(TEXT_SUFFIXES):
            continue
        text = tree.text(path)
        for number, line in enumerate((text or "").splitlines(), 1):
            for pattern, why in WORDS:
                match = pattern.search(line)
                if match:
                    yield f"{path}:{number}: '{match.group().strip()}': {why}"


TEST_NAME = re.compile(r"^test_[a-z0-9]+(_[a-z0-9]+){2,}$")


def is_listed(name, lists):
    """name stands in a CMakeLists.txt, or a foreach() there goes over what is before its _test."""
    if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", lists):
        return True
    stem, _, ending = name.rpartition("_test.")
    return bool(re.search(rf"foreach\([^)]*\b{re.escape(stem)}\b", lists)
                and re.search(rf"\$\{{\w+\}}_test\.{ending}\b", lists))


def check_tests(tree):
    """Each test program is registered in its folder's CMakeLists.txt, each case is named by the rule."""
    for path in tree.select(".c", ".py", under=("tests/",)):
        folder, name = path.rsplit("/", 1)
        if not (name.endswith("_test.c") or re.match(r"test_.*\.py$|.*_test\.py$", name)):
            continue
        lists = f"{folder}/CMakeLists.txt"
        listed = re.sub(r"#.*", "", tree.text(lists)) if lists in tree.files else ""
        if not is_listed(name, listed):
            yield f"{path}: not in {lists}, so it never runs"
        if name.endswith(".c"):
            code = blank_comments(tree.text(path))
            for match in re.finditer(r"^static void (\w+)\(void \*\*", code, re.M):
                if not TEST_NAME.match(match.group(1)):
                    yield (f"{path}:{line_of(code, match.start())}: {match.group(1)}: name it "
                           "test_<unit>_<situation>_<expectation>")


SUMS = "golden/SHA256SUMS"
FROZEN = re.compile(r"^golden/[a-z0-9-]+/v[0-9]+/.+")


def golden_files(tree):
    return [path for path in tree.files if path.startswith("golden/") and FROZEN.match(path)]


def read_sums(tree):
    """path -> hash, from sha256sum's own format."""
    if SUMS not in tree.files:
        return {}
    lines = (line for line in tree.text(SUMS).splitlines() if line)
    return {path: digest for digest, path in (line.split("  ", 1) for line in lines)}


def check_golden(tree):
    """A file in golden/<format>/v<N>/ never changes; nothing lies outside such a folder."""
    sums = read_sums(tree)
    for path in tree.files:
        if path.startswith("golden/") and not FROZEN.match(path) \
                and path not in (SUMS, "golden/README.md"):
            yield f"{path}: golden data lies in golden/<format>/v<N>/ and nowhere else"
    for path in golden_files(tree):
        digest = hashlib.sha256(tree.bytes(path)).hexdigest()
        if path not in sums:
            yield f"{path}: not in {SUMS}; add it with scripts/freeze_golden.py"
        elif sums[path] != digest:
            yield f"{path}: frozen, and changed; put it back, and add a new v<N> for a new format"
    for path in sums:
        if path not in tree.files:
            yield f"{path}: frozen in {SUMS}, and gone; put it back"
    if not sums:
        yield f"{SUMS}: holds no file"
