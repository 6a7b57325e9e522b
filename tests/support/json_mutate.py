"""JSON texts that try a reader of proto3 JSON: those of real messages, changed where it hurts."""

import copy
import json
import random

import json_oracle

NUMBERS = ("0", "-0", "1", "-1", "1.0", "1.5", "1e3", "1E+2", "10e-1", "1e-1", "-0.0", "0e999999",
           "4294967295", "4294967296", "9223372036854775807", "9223372036854775808",
           "-9223372036854775808", "-9223372036854775809", "9007199254740993", "9007199254740993.0",
           "1.8446744073709551615e19", "2147483647", "2147483648", "-2147483648", "-2147483649",
           "1e19", "1e400", "-1e-400", "100000000000000000000", "0.1e1", "12345678901234567.0e1",
           "7", "3", "1" + "0" * 30 + "e-30", "0." + "0" * 20 + "1e21")
STRINGS = ("", "a", "0", "-0", "1", "+1", "01", "1.0", "1e3", "1.50e2", "5_0", " 5", "5 ", "1.", ".5",
           "-", "0x10", "NaN", "Infinity", "null", "true", "\u0665", "TOOL", "APPROVAL", "tool", "OK",
           "ERROR", "LLM_CACHE", "HMAC_SHA256", "YQ==", "YQ", "YQ=", "YR==", "Y Q=", "YQ==\n", "-_8=",
           "+/8=", "+_8", "====", "Y", "YWJj", "YWJjZ", "Y=Q=", "\u0000", "é", "\U0001f9ea", "\ud800",
           "\udc00\ud800", "9223372036854775807", "18446744073709551615", "99999999999999999999999")
OTHERS = (None, True, False, [], [None], [[]], ["a"], json_oracle.Pairs(),
          json_oracle.Pairs([("a", "b")]))
BYTES = '{}[]",:\\ \t\n\r0159.-+eEutfn\u0000\u0001\u00e9/bxyz'


def write(value, rng):
    """The text of a tree, equal keys included, with escapes where the dice want them."""
    if isinstance(value, json_oracle.Number):
        return value.token
    if isinstance(value, json_oracle.Pairs):
        return "{" + ",".join(_string(key, rng) + ":" + write(inner, rng) for key, inner in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(write(inner, rng) for inner in value) + "]"
    return _string(value, rng) if isinstance(value, str) else json.dumps(value)


def _string(text, rng):
    return json.dumps(text, ensure_ascii=rng.random() < 0.2)


def _slots(value, found):
    """Every (container, index) below a tree."""
    for index in range(len(value)):
        found.append((value, index))
        inner = value[index][1] if isinstance(value, json_oracle.Pairs) else value[index]
        if isinstance(inner, list):
            _slots(inner, found)
    return found


class JsonMutator:
    """messages: name -> descriptor; seeds: (type, JSON text)."""

    def __init__(self, descriptors, seeds, rng):
        self._descriptors = descriptors
        self._seeds = seeds
        self._rng = rng

    def _scalar(self):
        dice = self._rng.random()
        if dice < 0.4:
            return json_oracle.Number(self._rng.choice(NUMBERS))
        if dice < 0.85:
            return self._rng.choice(STRINGS)
        return copy.deepcopy(self._rng.choice(OTHERS))  # changed further, perhaps

    def _name(self, descriptor):
        field = self._rng.choice(list(descriptor.fields))
        return self._rng.choice((field.name, field.json_name))

    def _change(self, tree, descriptor):
        slots = _slots(tree, [])
        if not slots or self._rng.random() < 0.2:
            tree.append((self._name(descriptor), self._scalar()))
            return
        container, index = self._rng.choice(slots)
        if not isinstance(container, json_oracle.Pairs):
            container[index] = self._scalar()
            return
        key, inner = container[index]
        dice = self._rng.randrange(8)
        if dice == 0:
            container.append((key, self._scalar()))
        elif dice == 1:
            container[index] = (self._name(descriptor), inner)
        elif dice == 2:
            snake = "".join("_" + c.lower() if c.isupper() else c for c in key)
            container[index] = (snake, inner)
        elif dice == 3:
            container[index] = (key, None)
        elif dice == 4:
            container[index] = (key, [inner])
        else:
            container[index] = (key, self._scalar())

    def _spoil(self, text):
        at = self._rng.randrange(len(text) + 1)
        dice = self._rng.randrange(4)
        if dice == 0:
            return text[:at]
        if dice == 1:
            return text[:at] + self._rng.choice(BYTES) + text[at:]
        if dice == 2:
            return text[:at] + text[at + 1:]
        return text[:at] + self._rng.choice(BYTES) + text[at + 1:]

    def next(self):
        """(type, text)."""
        type_name, text = self._rng.choice(self._seeds)
        tree = json_oracle.read(text)
        for _ in range(self._rng.randrange(4)):
            self._change(tree, self._descriptors[type_name])
        if self._rng.random() < 0.02:
            tree = self._scalar()
        text = write(tree, self._rng)
        if self._rng.random() < 0.15:
            text = self._spoil(text)
        if self._rng.random() < 0.05:
            type_name = self._rng.choice(list(self._descriptors))
        return type_name, text


def seeds(reference, inputs):
    """(type, JSON) of the inputs that the reference takes."""
    found = []
    for type_name, data in inputs:
        verdict = reference.judge(type_name, data)
        if verdict.accepted:
            found.append((type_name, json.dumps(verdict.value)))
    return found


def rng_of(seed, index):
    return random.Random(f"json:{seed}:{index}")
