#!/usr/bin/env python3
"""Writes golden/snapshot/v1/cases.jsonl: published states, requests, and the answers' very bytes.

    .venv/bin/python scripts/make_snapshot_golden.py [--check]

The codec has no part in it. --check writes nothing and fails when the file is not what comes out.
"""

import argparse
import json
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import mutate  # noqa: E402
import reference  # noqa: E402
import snapshots  # noqa: E402

CASES = ROOT / "golden" / "snapshot" / "v1" / "cases.jsonl"
GENERATED = 250
SIZE_MAX = 1500  # larger ones show nothing more

# name, published hex, time, request id
BY_HAND = [
    ("nothing", "", 0, ""),
    ("nothing_but_the_request", "", 1700000000000, "req-1"),
    ("canonical", "0801 120161 1805 2007 2a020801 32020801 3a020801 42020a00 4a0178", 8, "y"),
    ("without_time_and_request", "0801 120161 1805", 8, "y"),
    ("time_zero_is_left_out", "0801 120161 2007 4a0178", 0, "y"),
    ("request_empty_is_left_out", "0801 120161 2007 4a0178", 8, ""),
    ("time_negative_takes_ten_bytes", "0801", -1, "y"),
    ("time_most_negative", "0801", -(1 << 63), "y"),
    ("time_several_times", "2001 2002 0801 2003 120161", 8, "y"),
    ("request_several_times", "4a0178 0801 4a00 120161 4a0179", 8, "zz"),
    ("fields_backwards", "4a0178 42020a00 3a00 3200 2a00 2007 1805 120161 0801", 8, "y"),
    ("memory_in_two_pieces", "2a020801 0801 2a021802", 8, "y"),
    ("pending_keeps_its_order", "42030a0162 0801 42030a0161", 8, "y"),
    ("continuation_absent", "0801 2a00", 8, "y"),
    ("continuation_empty", "0801 3a00", 8, "y"),
    ("unknown_between", "5201aa 0801 fa3f0178 120161 5801", 8, "y"),
    ("unknown_group", "0801 53 0801 54 120161", 8, "y"),
    ("unknown_group_of_a_known_number", "23 0801 24 0801 4b 4c 2007", 8, "y"),
    ("time_as_bytes_is_unknown", "220161 0801 2007", 8, "y"),
    ("time_fixed_is_unknown", "2101020304050607082502030405 0801", 8, "y"),
    ("request_as_varint_is_unknown", "4807 0801 4a0178", 8, "y"),
    ("version_of_the_future", "08e707 120161 2a0508e7071800", 8, "y"),
    ("version_absent", "120161 2007", 8, "y"),
    ("spelled_long", "888000818000 928000 8100 61 a08000 8700 ca8000 8100 78", 8, "y"),
    ("inside_is_not_looked_at", "2a06 1807 0801 1803 0801 3a0a 28013a0078015004 1803", 8, "y"),
    ("request_long", "0801 4a0178", 8, "r" * 300),
    ("request_with_nul_and_more", "0801", 8, "a\0é漢\U0001f9ea"),
]


def cases(judge):
    for name, published, time_ms, request_id in BY_HAND:
        yield name, bytes.fromhex(published), time_ms, request_id
    rng = random.Random("snapshots")
    messages = {"StateSnapshot": mutate.Message.of(judge.descriptor("StateSnapshot"))}
    seeds = [("StateSnapshot", bytes.fromhex(case[1])) for case in BY_HAND]
    mutator = mutate.Mutator(messages, seeds, rng)
    count = 0
    while count < GENERATED:
        data = mutator.next()[1]
        if len(data) <= SIZE_MAX and judge.parse("StateSnapshot", data) is not None:
            count += 1
            time_ms = rng.choice((0, 1, -1, 1700000000000, rng.randrange(1 << 63)))
            yield f"generated_{count}", data, time_ms, rng.choice(("", "r", "req-7", "é" * 70))


def line_of(judge, name, data, time_ms, request_id):
    made, deterministic = snapshots.expected(data, time_ms, request_id, judge)
    case = {"name": name, "published_hex": data.hex(), "snapshot_at_ms": time_ms,
            "request_id": request_id, "answer_hex": made.hex(),
            "deterministic_hex": deterministic.hex()}
    return json.dumps(case, ensure_ascii=False, separators=(",", ":")) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    judge = reference.Reference()
    text = "".join(line_of(judge, *case) for case in cases(judge))
    if not check:
        CASES.write_text(text, encoding="utf-8")
    elif CASES.read_text(encoding="utf-8") != text:
        print(f"{CASES}: not what comes out under protobuf {reference.REQUIRED_VERSION}",
              file=sys.stderr)
        return 1
    print(f"{text.count(chr(10))} cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
