#!/usr/bin/env python3
"""Writes golden/wire/v1/expected.jsonl: what the reference runtime says about the inputs beside it.

    .venv/bin/python scripts/make_golden.py [--check]

The codec has no part in it, so that it cannot bless itself. --check writes nothing and fails when the
file is not what the reference says.
"""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import golden  # noqa: E402
import reference  # noqa: E402


def expectation(judge, name, type_name, data):
    """One line of the file."""
    verdict = judge.judge(type_name, data)
    line = {"name": name, "type": type_name, "hex": data.hex(), "accepted": verdict.accepted}
    if verdict.accepted:
        if type_name == "AgentEnvelope":
            line["variant"] = verdict.variant
        line["json"] = verdict.value
        line["deterministic_hex"] = verdict.deterministic.hex()
        printed = judge.indented_json(judge.parse(type_name, data))
        if printed != reference.indented_text(verdict.value):
            raise SystemExit(f"{name}: MessageToJson is not json.dumps of MessageToDict any more")
    return json.dumps(line, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    judge = reference.Reference()
    text = "".join(expectation(judge, *item) + "\n" for item in golden.inputs())
    if not check:
        golden.EXPECTED.write_text(text, encoding="utf-8")
    elif golden.EXPECTED.read_text(encoding="utf-8") != text:
        print(f"{golden.EXPECTED}: not what protobuf {reference.REQUIRED_VERSION} says",
              file=sys.stderr)
        return 1
    print(f"{text.count(chr(10))} inputs, {text.count(chr(34) + 'accepted' + chr(34) + ':true')} accepted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
