#!/usr/bin/env python3
"""Holds `agent-bridge encode --batch` against the reference runtime's json_format on changed texts.

    AGENT_BRIDGE=build/dev/bridge/cli/agent-bridge .venv/bin/python scripts/differential_json.py SEED COUNT

Compared are the verdict, the reason of a refusal and the bytes. What json_format takes by accident is refused
(tests/support/json_oracle.py says what that is). A difference is printed with its text; exit 1 when there was
one. The same SEED gives the same texts on every machine.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import golden  # noqa: E402
import json_mutate  # noqa: E402
import json_oracle  # noqa: E402
import reference  # noqa: E402
from batch import shared_out  # noqa: E402

CHUNK = 2000
SHOWN_MAX = 20


def got_of(line):
    """(reason or "ok", bytes or None) out of an answer."""
    answer = json.loads(line)
    if answer["ok"]:
        return "ok", bytes.fromhex(answer["hex"])
    return answer["reason"], None


def answers(program, texts):
    """The answer to each text, from one run of the program."""
    process = subprocess.Popen([program, "encode", "--batch"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    block = "".join(json.dumps({"type": type_name, "json": text}) + "\n" for type_name, text in texts)

    def feed():
        process.stdin.write(block.encode())
        process.stdin.close()

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    lines = process.stdout.read().splitlines()
    feeder.join()
    if process.wait() != 0 or len(lines) != len(texts):
        raise SystemExit(f"agent-bridge ended with {process.returncode} and {len(lines)} answers "
                         f"to {len(texts)} requests")
    return lines


def plain(text):
    """A text that a request can carry: its string must hold no half surrogate pair."""
    return text.encode("utf-8", "replace").decode()


def work(job, jobs, seed, count):
    """One process: every jobs-th chunk."""
    result = {"counts": collections.Counter(), "inputs": 0, "differences": [], "accidents": 0}
    try:
        judge = reference.Reference()
        oracle = json_oracle.JsonOracle(judge)
        descriptors = {name: judge.descriptor(name) for name in reference.TYPES}
        inputs = [(type_name, data) for _, type_name, data in golden.inputs()] + list(golden.corpus())
        seeds = json_mutate.seeds(judge, inputs)
        for index in range(job, (count + CHUNK - 1) // CHUNK, jobs):
            mutator = json_mutate.JsonMutator(descriptors, seeds, json_mutate.rng_of(seed, index))
            texts = [mutator.next() for _ in range(min(CHUNK, count - index * CHUNK))]
            texts = [(type_name, plain(text)) for type_name, text in texts]
            for (type_name, text), line in zip(texts, answers(reference.agent_bridge(), texts)):
                wanted, got = oracle.answer(type_name, text), got_of(line)
                result["inputs"] += 1
                result["counts"][wanted[0]] += 1
                if wanted != got:
                    result["differences"].append((type_name, text, wanted, got))
            if len(result["differences"]) >= SHOWN_MAX:
                break
        result["accidents"] = oracle.accidents
    except (Exception, SystemExit) as error:  # what was found until then counts
        result["failed"] = f"{type(error).__name__}: {error}"
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    started = time.monotonic()
    jobs = min(arguments.jobs, (arguments.count + CHUNK - 1) // CHUNK)
    results = shared_out(work, jobs, arguments.seed, arguments.count)
    differences = [item for result in results for item in result["differences"]]
    failures = [result["failed"] for result in results if "failed" in result]
    for type_name, text, wanted, got in differences[:SHOWN_MAX]:
        print(f"DIFFERENCE {type_name} {text!r}\n  wanted {wanted}\n  got    {got}")
    for failure in failures:
        print(f"FAILED {failure}")
    counts = sum((result["counts"] for result in results), collections.Counter())
    inputs = sum(result["inputs"] for result in results)
    print(f"seed {arguments.seed}: {inputs} texts in {time.monotonic() - started:.0f} s, "
          f"{len(differences)} differences; "
          + ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
          + f"; {sum(result['accidents'] for result in results)} taken by json_format by accident")
    return 0 if inputs == arguments.count and not differences and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
