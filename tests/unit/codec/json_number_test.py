#!/usr/bin/env python3
"""The three layouts of a double against Python's repr, whose digits are David Gay's.

    json_number_test.py PROBE
"""

import random
import struct
import subprocess
import sys

COUNT = 60000


def digits_of(value):
    """(digits, p) of repr: value = 0.digits * 10^p."""
    text, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = text.partition(".")
    digits = whole + ("" if fraction == "0" else fraction)
    point = len(whole) + int(exponent or 0)
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    return stripped.rstrip("0"), point


def tea(value):
    sign = "-" if str(value).startswith("-") else ""
    if value == 0:
        return sign + "0.0"
    digits, point = digits_of(value)
    if len(digits) <= point <= 16:
        return sign + digits + "0" * (point - len(digits)) + ".0"
    if 0 < point <= 16:
        return sign + digits[:point] + "." + digits[point:]
    if -5 < point <= 0:
        return sign + "0." + "0" * -point + digits
    return sign + digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + f"e{point - 1}"


def ecmascript(value):
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    digits, point = digits_of(value)
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    return sign + digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + f"e{point - 1:+}"


def values():
    draw = random.Random(20261201)
    for exponent in range(2047):
        for mantissa in (0, 1, 2, (1 << 52) - 1):
            yield struct.unpack("<d", struct.pack("<Q", exponent << 52 | mantissa))[0]
    for power in range(-324, 309):
        for factor in (1, 2, 5, 9, 12345, 9007199254740993):
            value = float(f"{factor}e{power}")
            if value not in (float("inf"),):
                yield value
    while True:
        value = struct.unpack("<d", struct.pack("<Q", draw.getrandbits(64)))[0]
        if value == value and abs(value) != float("inf"):
            yield value
        yield draw.uniform(-1e6, 1e6)
        yield round(draw.uniform(-1000, 1000), draw.randrange(12))


def main():
    chosen = []
    for value in values():
        chosen.append(value)
        if len(chosen) == COUNT:
            break
    lines = "".join(f"{struct.unpack('<Q', struct.pack('<d', value))[0]:x}\n" for value in chosen)
    printed = subprocess.run([sys.argv[1]], input=lines, check=True, text=True,
                             stdout=subprocess.PIPE).stdout.splitlines()
    if len(printed) != COUNT:
        sys.exit(f"{len(printed)} answers to {COUNT} doubles")
    wrong = 0
    for value, line in zip(chosen, printed):
        expected = f"{tea(value)} {ecmascript(value)} {value!r}"
        if line != expected:
            wrong += 1
            if wrong <= 10:
                print(f"{value.hex()}: {line}, not {expected}")
    print(f"{COUNT} doubles, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
