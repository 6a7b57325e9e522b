#!/usr/bin/env python3
"""The JSON reader against Python's json, on texts made at random and then damaged.

    json_reader_test.py PROBE

Where Python takes more than RFC 8259 and UTF-8 allow (NaN, halves of surrogate pairs, doubles out of
range) this file says so itself; which key is repeated it finds by the pairs that Python hands over.
"""

import json
import random
import subprocess
import sys

COUNT = 10000
LAST_OF_EQUALS = 1
DEPTH_MAX = 60
PIECES = ['"', "\\", "{", "}", "[", "]", ",", ":", "e", "E", ".", "-", "+", "0", "1", "\\u", "\\ud83c",
          "\\udf75", "\\u00e9", "true", "null", "1e400", "1e-400", "-0", '"a":1', ' ', "\n", "\ufeff", "é",
          "🍵", "\x00", "\x1f", "/", "NaN", "Infinity", "{}", "[]", '""']
BYTES = [b"\x80", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xe2\x82", b"\xf4\x90\x80\x80"]


def number(draw):
    return draw.choice([
        lambda: str(draw.randint(-10, 10)),
        lambda: str(draw.getrandbits(draw.randint(1, 80))),
        lambda: "-0",
        lambda: f"{draw.uniform(-1e3, 1e3)!r}",
        lambda: f"{draw.randint(0, 99)}.{draw.randint(0, 999):03}{draw.choice('eE')}"
                f"{draw.choice(['', '+', '-'])}{draw.randint(0, 330)}",
        lambda: "9" * draw.randint(300, 312),
    ])()


def string(draw):
    text = "".join(draw.choice("ab/\"\\\n\x01é\u0800🍵\x7f") for _ in range(draw.randint(0, 4)))
    return json.dumps(text, ensure_ascii=draw.random() < 0.5)


def document(draw, depth=0):
    kind = draw.random()
    blank = draw.choice(["", "", "", " ", "\n\t"])
    if depth > 6 or kind < 0.35:
        return draw.choice([number, string, lambda _: draw.choice(["true", "false", "null"])])(draw)
    children = range(draw.choice([0, 1, 2, 3, 12]) if depth < 2 else draw.randint(0, 2))
    if kind < 0.6:
        return "[" + blank + ",".join(document(draw, depth + 1) + blank for _ in children) + "]"
    keys = (draw.choice(['"a"', '"\\u0061"', '"b"', '""', string(draw), string(draw), string(draw)])
            for _ in children)
    return "{" + blank + ",".join(f"{key}{blank}:{document(draw, depth + 1)}" for key in keys) + "}"


def damage(draw, text):
    data = text.encode()
    for _ in range(draw.randint(1, 3)):
        at = draw.randint(0, len(data))
        data = draw.choice([
            lambda: data[:at] + draw.choice(PIECES).encode() + data[at:],
            lambda: data[:at] + draw.choice(BYTES) + data[at:],
            lambda: data[:at],
            lambda: data[:at] + data[at + draw.randint(1, 3):],
            lambda: data[:at] + bytes([draw.randrange(256)]) + data[at + 1:],
        ])()
    return data


class Token(str):
    pass


def spell(value):
    """Python's value in the probe's words. Numbers are Tokens, objects are ("object", pairs)."""
    if isinstance(value, Token):
        return ["number", str(value)]
    if isinstance(value, str):
        value.encode()          # half a surrogate pair is no UTF-8
        return ["string", value]
    if isinstance(value, list):
        return ["array"] + [spell(child) for child in value]
    if isinstance(value, tuple):
        spelled = ["object"]
        for key, child in value[1]:
            key.encode()
            spelled += [key, spell(child)]
        return spelled
    return [{None: "null", True: "true", False: "false"}[value]]


def depth_of(value):
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    if isinstance(value, tuple):
        return 1 + max((depth_of(child) for _, child in value[1]), default=0)
    return 0


def expected(data, options):
    repeats = []

    def token(text):
        if abs(float(text)) == float("inf"):
            raise ValueError("out of range")
        return Token(text)

    def constant(word):
        raise ValueError(word)

    def pairs(found):
        last = {key: at for at, (key, _) in enumerate(found)}
        for key, child in found:
            spell(child)        # judged in members that are dropped too
            key.encode()
        if len(last) < len(found):
            repeats.append(True)
        return ("object", [pair for at, pair in enumerate(found) if last[pair[0]] == at])

    try:
        value = json.loads(data.decode(), parse_int=token, parse_float=token, parse_constant=constant,
                           object_pairs_hook=pairs)
        spelled = spell(value)
    except (ValueError, UnicodeError):
        return "malformed_json"
    if depth_of(value) > DEPTH_MAX:
        return "limit_depth"
    if repeats and not options & LAST_OF_EQUALS:
        return "duplicate_key"
    return spelled


def texts():
    draw = random.Random(20261202)
    for number_of_text in range(COUNT):
        text = document(draw)
        options = draw.choice([0, LAST_OF_EQUALS])
        yield (text.encode() if number_of_text % 3 == 0 else damage(draw, text)), options
    for depth in (DEPTH_MAX - 1, DEPTH_MAX, DEPTH_MAX + 1):
        yield b"[" * depth + b"]" * depth, 0


def main():
    cases = list(texts())
    fed = b"".join(b"%d %d " % (options, len(data)) + data for data, options in cases)
    ran = subprocess.run([sys.argv[1]], input=fed, stdout=subprocess.PIPE, check=True)
    lines = ran.stdout.decode().split("\n")[:-1]
    assert len(lines) == len(cases), (len(lines), len(cases))
    seen = {}
    for (data, options), line in zip(cases, lines):
        wanted = expected(data, options)
        got = json.loads(line) if line.startswith("[") else line
        if got != wanted:
            print(f"{data!r} with options {options}:\n  Python {wanted}\n  reader {got}")
            return 1
        outcome = wanted if isinstance(wanted, str) else "ok"
        seen[outcome] = seen.get(outcome, 0) + 1
    print(f"{len(cases)} texts agree: {seen}")
    assert min(seen.get("ok", 0), seen.get("malformed_json", 0), seen.get("duplicate_key", 0)) > 200
    return 0


if __name__ == "__main__":
    sys.exit(main())
