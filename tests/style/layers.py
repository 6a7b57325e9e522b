"""Who may include what: DESIGN's layers, and one door for each outside library."""

import re

from tree import blank_comments

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)

CODEC = ("agentwire/",)
# Folder -> what it may include of this project. The longest folder that fits decides.
LAYERS = {
    "codec/include/agentwire/": CODEC,
    "codec/base/": CODEC + ("codec/base/",),
    "codec/crypto/": CODEC + ("codec/base/", "codec/crypto/"),
    "codec/wire/": CODEC + ("codec/base/", "codec/wire/"),
    "codec/message/": CODEC + ("codec/base/", "codec/wire/", "codec/message/"),
    "codec/state/": CODEC + ("codec/base/", "codec/wire/", "codec/message/", "codec/state/"),
    "codec/json/": CODEC + ("codec/base/", "codec/wire/", "codec/message/", "codec/json/"),
    "codec/tea/": CODEC + ("codec/base/", "codec/json/", "codec/tea/"),
    "codec/inbox/": CODEC + ("codec/base/", "codec/json/", "codec/inbox/"),
    "bridge/core/": CODEC + ("bridge/core/",),
    "bridge/config/": CODEC + ("bridge/core/", "bridge/config/"),
    "bridge/state/": CODEC + ("bridge/core/", "bridge/state/"),
    "bridge/kafka/": CODEC + ("bridge/core/", "bridge/config/", "bridge/state/", "bridge/kafka/"),
    "bridge/http/": CODEC + ("bridge/core/", "bridge/http/"),
    "bridge/cli/": CODEC + ("bridge/",),
    "fuzz/": CODEC + ("codec/", "fuzz/"),
    "bench/": CODEC + ("codec/", "bridge/", "bench/"),
    "tests/": CODEC + ("codec/", "bridge/", "tests/"),
}
PROJECT = ("agentwire/", "codec/", "bridge/", "bench/", "fuzz/", "tests/")

# Headers that the build writes into its own folder.
BUILT = {"git_describe.h"}

# Header of an outside library -> the folders that may open it.
DOORS = [
    (re.compile(r"^librdkafka/"), ("bridge/kafka/", "tests/unit/kafka/", "tests/mock/")),
    (re.compile(r"^lmdb\.h$"), ("bridge/state/",)),
    (re.compile(r"^microhttpd\.h$"), ("bridge/http/",)),
    (re.compile(r"^yaml\.h$"), ("bridge/config/",)),
    (re.compile(r"^openssl/"), ("codec/crypto/",)),
    (re.compile(r"^jansson\.h$"), ("bridge/cli/", "bridge/http/", "bridge/config/", "bench/", "tests/")),
    (re.compile(r"(^|/)[a-z_]+\.pb-c\.h$|^protobuf-c/"), ("codec/message/", "bench/", "tests/")),
    (re.compile(r"^cmocka\.h$"), ("tests/",)),
]

# The pure folders. Calls are looked for behind blanked comments and strings.
STDIO = ("printf", "fprintf", "vprintf", "vfprintf", "puts", "fputs", "putchar", "perror", "syslog",
         "dprintf")
FILES = ("fopen", "fdopen", "open", "openat", "read", "write", "fwrite", "fread", "close", "mmap",
         "socket", "getenv", "secure_getenv", "system", "popen")
CLOCKS = ("time", "clock", "clock_gettime", "gettimeofday", "nanosleep", "usleep", "sleep",
          "timespec_get", "localtime", "localtime_r", "gmtime", "gmtime_r", "rand", "random",
          "getrandom")
PURE = {
    "codec/": (STDIO + FILES + CLOCKS, "codec does no I/O, no logging and reads no clock"),
    "bridge/core/": (FILES + CLOCKS + ("printf", "puts", "perror", "syslog"),
                     "core is a pure function of its arguments"),
}
PURE_HEADERS = re.compile(r"^(pthread|threads|syslog|time|unistd|fcntl|signal|sys/.*|netinet/.*)\.h$")


def includes(text):
    """(line, bracket, path) of each include that is not in a comment."""
    for match in INCLUDE.finditer(blank_comments(text, strings=False)):
        yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


def own_header(tree, path):
    """The header beside path, a .c file, that has its name; None when there is none."""
    header = path[:-2] + ".h"
    return header if header in tree.files else None


def check_includes(tree):
    """Layers point down, each outside library has one door, a .c includes its own header first."""
    for path in tree.select(".c", ".h"):
        text = tree.text(path)
        found = list(includes(text))
        layer = max((folder for folder in LAYERS if path.startswith(folder)), key=len, default=None)
        for line, bracket, name in found:
            where = f"{path}:{line}"
            if name.startswith(PROJECT):
                if bracket == "<":
                    yield f'{where}: write "{name}", in quotes: it is this project\'s'
                if layer is None:
                    yield f"{where}: {path} lies in no folder that tests/style/layers.py knows"
                elif not name.startswith(LAYERS[layer]):
                    yield f"{where}: {layer} must not include {name}: layers point down"
            elif bracket == '"' and not name.endswith(".pb-c.h") and name not in BUILT:
                yield f'{where}: "{name}": write the path from the root (or agentwire/…)'
            for pattern, folders in DOORS:
                if pattern.search(name) and not path.startswith(folders):
                    yield f"{where}: {name} may be included only in {', '.join(folders)}"
        if path.endswith(".c") and path.startswith(("codec/", "bridge/")):
            own = own_header(tree, path)
            if own and (not found or found[0][2] != own):
                yield f'{path}: the first include has to be its own header "{own}"'


def check_purity(tree):
    """The codec and the core neither do I/O nor read a clock."""
    for folder, (calls, why) in PURE.items():
        pattern = re.compile(r"(?<![\w.>])(" + "|".join(calls) + r")\s*\(")
        for path in tree.select(".c", ".h", under=(folder,)):
            text = tree.text(path)
            code = blank_comments(text)
            for match in pattern.finditer(code):
                line = code.count("\n", 0, match.start()) + 1
                yield f"{path}:{line}: {match.group(1)}(): {why}"
            for match in re.finditer(r"\b(stdout|stderr|stdin)\b", code):
                line = code.count("\n", 0, match.start()) + 1
                yield f"{path}:{line}: {match.group(1)}: {why}"
            for line, _, name in includes(text):
                if PURE_HEADERS.search(name):
                    yield f"{path}:{line}: <{name}>: {why}"
