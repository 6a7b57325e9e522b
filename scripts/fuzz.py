#!/usr/bin/env python3
"""Runs the fuzz targets of a build, each for so many seconds, from the frozen inputs as seeds.

    scripts/fuzz.py BUILD SECONDS [NAME...]

What a target finds worth keeping stays in BUILD/corpus/NAME for the next run; an input that shows a bug is
written to BUILD/crashes. Exit 1 when a target found one.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import golden  # noqa: E402

INPUT_BYTES_MAX = 4096
MEMORY_MIB = 2048
# The order of AW_MESSAGE_LIST, of which a target's first byte is an index.
TYPES = ("MemoryBlob", "ToolIntent", "ToolResult", "TraceEvent", "AgentEnvelope", "StateSnapshot",
         "ActivationErrorRecord", "Continuation", "LlmCacheBlob", "LongTermRecord")


def wire_seeds():
    for _, type_name, data in golden.inputs():
        yield bytes([TYPES.index(type_name)]) + data
    for type_name, data in golden.corpus():
        yield bytes([TYPES.index(type_name)]) + data
    for folder in sorted(golden.FOLDER.glob("*/expect.json")):
        kind = json.loads(folder.read_text(encoding="utf-8"))["type"]
        yield bytes([TYPES.index(kind)]) + (folder.parent / "input.bin").read_bytes()


def json_seeds():
    for line in golden.expected():
        if line["accepted"]:
            text = json.dumps(line["json"], ensure_ascii=False)
            yield bytes([TYPES.index(line["type"])]) + text.encode()


def canonical_seeds():
    yield from (seed[1:] for seed in json_seeds())
    yield b'[1e2,1.50,-0,0.000001,18446744073709551615,"\\u00e9\\ud83e\\uddea",{"b":[],"a":{}}]'


def keyring_seeds():
    path = ROOT / "golden" / "intent-signature" / "v1" / "cases.jsonl"
    yield json.loads(path.read_text(encoding="utf-8").splitlines()[0])["keyring"].encode()
    yield b"# x\n\n a=_-8=\r\nb=AA\n"


def snapshot_seeds():
    times = (0, 0x20, 0x60, 0x80)  # zero, above and below, above a length of at most 31
    cases = ROOT / "golden" / "snapshot" / "v1" / "cases.jsonl"
    for index, one in enumerate(map(json.loads, cases.read_text(encoding="utf-8").splitlines())):
        request_id = one["request_id"].encode()[:31]
        yield (bytes([times[index % len(times)] | len(request_id)]) + request_id
               + bytes.fromhex(one["published_hex"]))


def inbox_seeds():
    for folder in sorted((ROOT / "golden" / "session-inbox").glob("v*")):
        for line in (folder / "fixtures.jsonl").read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            yield b"\0" + one["value"].encode()
            yield b"\1" + one["command"].encode()
    operations = {"decode": b"\0", "encode": b"\1", "classify": b"\2"}
    cases = ROOT / "golden" / "session-inbox" / "v1" / "cases.jsonl"
    for one in map(json.loads, cases.read_text(encoding="utf-8").splitlines()):
        yield operations[one["op"]] + one["input"].encode()


def tea_seeds():
    kinds = ("command", "event", "record", "error")  # the order of aw_tea_kind_t
    for line in (ROOT / "golden" / "tea" / "v1" / "tea-cases.jsonl").open(encoding="utf-8"):
        case = json.loads(line)
        if len(case["input"]) < INPUT_BYTES_MAX:
            for edition in (0, 0x80):
                yield bytes([kinds.index(case["kind"]) | edition]) + case["input"].encode()


SEEDS = {"wire": wire_seeds, "migrate": wire_seeds, "json": json_seeds, "canonical": canonical_seeds,
         "keyring": keyring_seeds, "snapshot": snapshot_seeds, "inbox": inbox_seeds, "tea": tea_seeds}


def run(build, name, seconds):
    """True when the target found nothing."""
    seeds = build / "seeds" / name
    corpus = build / "corpus" / name
    crashes = build / "crashes"
    for folder in (seeds, corpus, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    for index, seed in enumerate(SEEDS.get(name, list)()):
        (seeds / f"{index:04}").write_bytes(seed)
    command = [build / "fuzz" / f"{name}_fuzzer", f"-max_total_time={seconds}",
               f"-max_len={INPUT_BYTES_MAX}", f"-rss_limit_mb={MEMORY_MIB}", "-timeout=10",
               f"-artifact_prefix={crashes}/{name}-", "-print_final_stats=1", corpus, seeds]
    done = subprocess.run([str(part) for part in command], stderr=subprocess.PIPE, text=True,
                          errors="replace", check=False)
    ran = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    count = int(ran.group(1)) if ran else 0
    good = done.returncode == 0 and count > 0
    print(f"{name}: {count} inputs, {'nothing found' if good else 'A BUG, OR IT DID NOT RUN'}", flush=True)
    if not good:
        print("\n".join(done.stderr.splitlines()[-40:]))
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("seconds", type=int)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    there = sorted(path.name.removesuffix("_fuzzer") for path in (arguments.build / "fuzz").glob("*_fuzzer"))
    results = [run(arguments.build.resolve(), name, arguments.seconds)
               for name in arguments.names or there]
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
