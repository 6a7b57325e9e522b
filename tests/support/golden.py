"""The frozen inputs of golden/wire/v1 and what the reference runtime said about them; and the messages of
the agents' own project, which are read where they lie and never copied."""

import json
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "golden" / "wire" / "v1"
CASES = FOLDER / "cases.jsonl"
UPSTREAM = pathlib.Path(os.environ.get("AW_UPSTREAM_GOLDEN", ROOT.parent / "shared/upstream-golden/v1"))
EXPECTED = FOLDER / "expected.jsonl"
CORPUS = "corpus*.jsonl"

# The upstream project names its files after the message: agent_envelope_export.bin.
UPSTREAM_TYPES = {
    "agent_envelope": "AgentEnvelope", "continuation": "Continuation",
    "llm_cache_blob": "LlmCacheBlob", "memory_blob": "MemoryBlob",
    "state_snapshot": "StateSnapshot", "tool_intent": "ToolIntent", "tool_result": "ToolResult",
    "trace_event": "TraceEvent",
}
_UPSTREAM_NAME = re.compile(f"({'|'.join(UPSTREAM_TYPES)})(_.*)?$")


def lines(path):
    """The objects of a .jsonl file."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def inputs():
    """(name, type, bytes) of the hand-made cases."""
    for case in lines(CASES):
        yield case["name"], case["type"], bytes.fromhex(case["hex"])


def upstream():
    """(name, type, bytes) of the upstream project's messages; nothing where they are absent."""
    for path in sorted(UPSTREAM.glob("*.bin")):
        stem = _UPSTREAM_NAME.match(path.stem).group(1)
        yield path.stem, UPSTREAM_TYPES[stem], path.read_bytes()


def expected():
    """What the reference said: name, type, hex, accepted; and where accepted json, deterministic_hex,
    for an AgentEnvelope variant."""
    return lines(EXPECTED)


def corpus():
    """(type, bytes) of what the differential runs found worth keeping."""
    for path in sorted(FOLDER.glob(CORPUS)):
        for line in lines(path):
            yield line["type"], bytes.fromhex(line["hex"])
