"""What has to be said about a JSON text that is to become a message of beam_agents.v1.

The reference is json_format of the reference runtime. It takes some things by accident, since it works on what
Python's json and int() give it: an array or a string for an object, `5_0`, blanks in base64, a number rounded
to a double on its way. Those are refused, or read exactly, here and in the codec; whatever is refused here for
any other reason has to be refused by json_format too, or this module is wrong.
"""

import json
import re
from dataclasses import dataclass
from fractions import Fraction

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
BASE64 = re.compile(r"[A-Za-z0-9+/_-]*")
SURROGATE = re.compile("[\ud800-\udfff]")
LIMITS = {"int64": (-(1 << 63), (1 << 63) - 1), "uint32": (0, (1 << 32) - 1),
          "enum": (-(1 << 31), (1 << 31) - 1)}
EXPONENT_MAX = 400  # beyond it nothing but zero is a whole number of 64 bits, with texts this short


class Refused(Exception):
    """reason is the codec's; accident: json_format may take it all the same."""

    def __init__(self, reason, accident=False):
        super().__init__(reason)
        self.reason = reason
        self.accident = accident


class Pairs(list):
    """The members of an object, equal keys included."""


@dataclass(frozen=True)
class Number:
    token: str


def _no_constant(name):
    raise ValueError(name)


def _strings(value):
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Pairs):
            for key, inner in item:
                yield key
                stack.append(inner)
        elif isinstance(item, list):
            stack += item


def _check_duplicates(value):
    if isinstance(value, Pairs):
        keys = [key for key, _ in value]
        if len(set(keys)) != len(keys):
            raise Refused("duplicate_key")
        for _, inner in value:
            _check_duplicates(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_duplicates(inner)


def read(text):
    """The tree of a text, or Refused."""
    try:
        value = json.loads(text, object_pairs_hook=Pairs, parse_int=Number, parse_float=Number,
                           parse_constant=_no_constant)
    except ValueError as error:
        raise Refused("malformed_json", accident="N" in text or "Infinity" in text) from error
    if any(SURROGATE.search(item) for item in _strings(value)):
        raise Refused("malformed_json")
    _check_duplicates(value)
    return value


def whole(token, kind):
    """The whole number that a token stands for, exactly."""
    if not NUMBER.fullmatch(token):
        raise Refused("json_mismatch", accident=True)  # int() has its own ideas
    digits, _, exponent = token.lower().partition("e")
    if re.fullmatch(r"-?0(\.0+)?", digits):
        return 0
    if len(exponent.lstrip("+-").lstrip("0")) > 4 or abs(int(exponent or "0")) > EXPONENT_MAX:
        raise Refused("json_mismatch", accident=True)
    exact = Fraction(digits) * Fraction(10) ** int(exponent or "0")
    if exact.denominator != 1:
        raise Refused("json_mismatch", accident=True)  # may round to a whole double
    low, high = LIMITS[kind]
    if not low <= exact <= high:
        # An enum is cut to 32 bits, which makes another value of it; doubles may round into range.
        raise Refused("json_mismatch", accident=kind == "enum" or not token.lstrip("-").isdigit())
    return int(exact)


def _enum(value, field):
    if isinstance(value, str) and value in field.enum_type.values_by_name:
        return field.enum_type.values_by_name[value].number
    if isinstance(value, bool):
        raise Refused("json_mismatch", accident=True)
    token = value.token if isinstance(value, Number) else value
    if not isinstance(token, str):
        raise Refused("json_mismatch")
    return whole(token, "enum")


def _bytes(value):
    if not isinstance(value, str):
        raise Refused("json_mismatch")
    digits = value.rstrip("=")
    padding = len(value) - len(digits)
    good = BASE64.fullmatch(digits) and len(digits) % 4 != 1 and padding <= 2
    if not good or (padding and (len(value) % 4 != 0)):
        raise Refused("json_mismatch", accident=True)
    return value


def _scalar(value, field):
    """The value as json_format reads it the same way."""
    if field.type in (field.TYPE_INT64, field.TYPE_UINT32):
        token = value.token if isinstance(value, Number) else value
        if not isinstance(token, str):
            raise Refused("json_mismatch")
        return whole(token, "int64" if field.type == field.TYPE_INT64 else "uint32")
    if field.type == field.TYPE_ENUM:
        return _enum(value, field)
    if field.type == field.TYPE_BOOL:
        if not isinstance(value, bool):
            raise Refused("json_mismatch")
        return value
    if field.type == field.TYPE_BYTES:
        return _bytes(value)
    if not isinstance(value, str):
        raise Refused("json_mismatch")
    return value


def _is_map(field):
    return field.type == field.TYPE_MESSAGE and field.message_type.GetOptions().map_entry


def _field(value, field):
    if _is_map(field):
        if not isinstance(value, Pairs):
            raise Refused("json_mismatch", accident=value == [])
        for _, inner in value:
            if not isinstance(inner, str):
                raise Refused("json_mismatch")
        return dict(value)
    if field.is_repeated:
        if not isinstance(value, list) or isinstance(value, Pairs):
            raise Refused("json_mismatch", accident=value == Pairs())
        return [message(item, field.message_type) if field.type == field.TYPE_MESSAGE
                else _scalar(item, field) for item in value]
    return message(value, field.message_type) if field.type == field.TYPE_MESSAGE \
        else _scalar(value, field)


def message(value, descriptor):
    """A plain dict by JSON names that json_format reads without any of its accidents."""
    if not isinstance(value, Pairs):
        raise Refused("json_mismatch", accident=value in ([], ""))
    names = {item.json_name: item for item in descriptor.fields}
    names.update({item.name: item for item in descriptor.fields})
    made, seen, variant = {}, set(), False
    for key, inner in value:
        field = names.get(key)
        if field is None:
            raise Refused("json_mismatch")
        if field.number in seen:
            raise Refused("json_mismatch", accident=True)  # one field under both names
        seen.add(field.number)
        if field.containing_oneof is not None and inner is not None:
            if variant:
                raise Refused("json_mismatch")
            variant = True
        if inner is not None:
            made[field.json_name] = _field(inner, field)
    return made


class JsonOracle:
    """reference is a tests/support/reference.Reference."""

    def __init__(self, reference):
        from google.protobuf import json_format  # the pinned runtime: reference has seen to it

        self._reference = reference
        self._format = json_format
        self.accidents = 0

    def _parse(self, type_name, text):
        try:
            return self._format.Parse(text, self._reference.classes[type_name]())
        except self._format.ParseError:
            return None

    def answer(self, type_name, text):
        """(reason or "ok", bytes or None)."""
        taken = self._parse(type_name, text)
        try:
            value = message(read(text), self._reference.descriptor(type_name))
        except Refused as refused:
            if taken is not None:
                self.accidents += 1
                if not refused.accident:
                    raise AssertionError(f"json_format takes {type_name} {text!r}, which is refused "
                                         "here for no accident of its own") from refused
            return refused.reason, None
        exact = self._format.ParseDict(value, self._reference.classes[type_name]())
        data = exact.SerializeToString(deterministic=True)
        rounded = re.search(r"[0-9][.eE]", text) is not None
        if not rounded and (taken is None or taken.SerializeToString(deterministic=True) != data):
            raise AssertionError(f"json_format does not agree on {type_name} {text!r}")
        return "ok", data
