#!/usr/bin/env python3
"""Holds `agent-bridge inspect --batch` against the reference runtime on mutated inputs.

    AGENT_BRIDGE=build/dev/bridge/cli/agent-bridge .venv/bin/python scripts/differential.py SEED COUNT

Every answer is compared as a whole line: verdict, variant, JSON and deterministic encoding with what
protobuf 6.33.6 on upb says; reason, offset and field of refused bytes with tests/support/defects.py. A
difference is printed with its input in hex; exit 1 when there was one. The same SEED and the same
golden/wire/v1, whose inputs are what is mutated, give the same inputs on every machine, whatever the number
of jobs.

--keep FILE writes the inputs, at most 2,000 short ones, that showed something no earlier one had: a
field with a new kind of value, a reason at a new place. That is how golden/wire/v1/corpus.jsonl was made.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import defects  # noqa: E402
import golden  # noqa: E402
import mutate  # noqa: E402
import reference  # noqa: E402
from batch import Batch, BatchDied, shared_out  # noqa: E402

CHUNK = 2000
SHOWN_MAX = 20
KEPT_MAX = 2000
KEPT_BYTES_MAX = 512
INDEX = re.compile(r"\[\d+\]|#\d+")


class Oracle:
    """The line that has to be answered for any input."""

    def __init__(self):
        self.reference = reference.Reference()
        self.messages = {name: mutate.Message.of(self.reference.descriptor(name))
                         for name in reference.TYPES}

    def answer(self, type_name, data):
        """(line, verdict or None, defect or None)."""
        verdict = self.reference.judge(type_name, data)
        if verdict.accepted:
            return verdict.answer(type_name), verdict, None
        find = defects.envelope_defect if type_name == "AgentEnvelope" else defects.first_defect
        defect = find(self.messages[type_name], data)
        if defect is None:
            raise SystemExit(f"tests/support/defects.py finds nothing wrong with {type_name} "
                             f"{data.hex()}, which the reference refuses: it has a bug")
        return defect.answer(), None, defect


def features(type_name, data, verdict, defect):
    """What an input shows, as short texts."""
    if defect is not None:
        yield f"{type_name} {defect.reason} {INDEX.sub('[]', defect.field)}"
        return
    yield f"{type_name} {verdict.variant} canonical={verdict.deterministic == data}"
    stack = [(type_name, verdict.value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict):
            stack += [(f"{path}.{'*' if path.endswith('.attributes') else key}", inner)
                      for key, inner in value.items()]
            yield f"{path} {{{min(len(value), 3)}}}"
        elif isinstance(value, list):
            stack += [(path + "[]", inner) for inner in value]
        elif isinstance(value, str):
            escapes = any(c < " " or c in '"\\' for c in value)
            widest = max((len(c.encode()) for c in value), default=0)
            yield f"{path} text escapes={escapes} widest={widest} negative={value[:1] == '-'}"
        else:
            yield f"{path} {type(value).__name__} negative={value < 0}"


def chunk_inputs(oracle, seeds, seed, index, count):
    mutator = mutate.Mutator(oracle.messages, seeds, random.Random(f"{seed}:{index}"))
    return [mutator.next() for _ in range(count)]


def compare(oracle, batch, inputs, result):
    """Adds what one chunk showed to the result."""
    batch.send(inputs)
    expected = [oracle.answer(*item) for item in inputs]
    for (type_name, data), (line, verdict, defect) in zip(inputs, expected):
        result["inputs"] += 1
        result["counts"][defect.reason if defect else "accepted"] += 1
        new = set(features(type_name, data, verdict, defect)) - result["features"]
        if new and len(data) <= KEPT_BYTES_MAX:
            result["features"] |= new
            result["kept"].append((type_name, data.hex()))
        try:
            got = batch.receive()
        except BatchDied as error:
            result["differences"].append((type_name, data.hex(), line, str(error)))
            return False
        if got != line:
            result["differences"].append((type_name, data.hex(), line, got))
    return True


def work(job, jobs, seed, count):
    """One process: every jobs-th chunk."""
    result = {"inputs": 0, "counts": collections.Counter(), "features": set(), "kept": [],
              "differences": []}
    try:
        oracle = Oracle()
        seeds = [(type_name, data) for _, type_name, data in golden.inputs()] + list(golden.corpus())
        batch = Batch(reference.agent_bridge())
        for index in range(job, (count + CHUNK - 1) // CHUNK, jobs):
            size = min(CHUNK, count - index * CHUNK)
            if not compare(oracle, batch, chunk_inputs(oracle, seeds, seed, index, size), result):
                batch = Batch(reference.agent_bridge())
            if len(result["differences"]) >= SHOWN_MAX:
                break
        batch.close()
    except (Exception, SystemExit) as error:  # what was found until then counts
        result["failed"] = f"{type(error).__name__}: {error}"
    return result


def merge(results):
    """One result of many; only inputs that still show something new are kept."""
    total = {"inputs": 0, "counts": collections.Counter(), "kept": [], "differences": [],
             "failed": []}
    for result in results:
        total["inputs"] += result["inputs"]
        total["counts"] += result["counts"]
        total["kept"] += result["kept"]
        total["differences"] += result["differences"]
        total["failed"] += [result["failed"]] if "failed" in result else []
    return total


def write_kept(path, kept):
    """Shortest first, and of those only what adds a feature."""
    oracle, seen, lines = Oracle(), set(), []
    for type_name, text in sorted(set(kept), key=lambda item: (len(item[1]), item)):
        _, verdict, defect = oracle.answer(type_name, bytes.fromhex(text))
        new = set(features(type_name, bytes.fromhex(text), verdict, defect)) - seen
        if new and len(lines) < KEPT_MAX:
            seen |= new
            lines.append(json.dumps({"type": type_name, "hex": text}) + "\n")
    path.write_text("".join(sorted(lines)), encoding="utf-8")
    return len(lines)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args()
    if arguments.count < 1 or arguments.jobs < 1:
        parser.error("COUNT and --jobs are 1 or more")
    return arguments


def main():
    arguments = parse_arguments()
    reference.agent_bridge()
    started = time.monotonic()
    jobs = min(arguments.jobs, (arguments.count + CHUNK - 1) // CHUNK)
    total = merge(shared_out(work, jobs, arguments.seed, arguments.count))
    for type_name, text, wanted, got in total["differences"][:SHOWN_MAX]:
        print(f"DIFFERENCE {type_name} {text}\n  wanted {wanted}\n  got    {got}")
    for failure in total["failed"]:
        print(f"FAILED {failure}")
    if arguments.keep:
        print(f"{write_kept(arguments.keep, total['kept'])} inputs written to {arguments.keep}")
    seconds = time.monotonic() - started
    print(f"seed {arguments.seed}: {total['inputs']} inputs in {seconds:.0f} s, "
          f"{len(total['differences'])} differences; "
          + ", ".join(f"{name} {count}" for name, count in sorted(total["counts"].items())))
    complete = total["inputs"] == arguments.count and not total["failed"]
    return 0 if complete and not total["differences"] else 1


if __name__ == "__main__":
    sys.exit(main())
