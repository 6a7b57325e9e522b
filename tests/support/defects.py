"""Which defect of refused bytes comes first, where, and in which field: DESIGN section 3, check 3, written
down a second time and in the plainest way, so that the codec's answers can be held against it.

The reference runtime says only that it refuses. This module never decides that: it is asked about bytes
that the reference has refused, and an answer of None there is a bug of this module.
"""

from dataclasses import dataclass

from mutate import END_GROUP, FIXED32, FIXED64, LEN, START_GROUP, VARINT, Message

NESTING_MAX = 100
LENGTH_MAX = (1 << 31) - 2


@dataclass(frozen=True)
class Defect:
    reason: str
    offset: int
    field: str

    def answer(self) -> str:
        """The line that `inspect --batch` answers."""
        field = f',"field":"{self.field}"' if self.field else ""
        return f'{{"ok":false,"reason":"{self.reason}","offset":{self.offset}{field}}}'


class _Found(Exception):
    def __init__(self, reason, offset, field):
        super().__init__()
        self.defect = Defect(reason, offset, field)


def first_defect(message: Message, data: bytes) -> Defect | None:
    try:
        _read_message(message, data, 0, len(data), "", 0)
    except _Found as found:
        return found.defect
    return None


def envelope_defect(message: Message, data: bytes) -> Defect | None:
    """The same for an AgentEnvelope, which may also stand behind a schema-registry header."""
    defect = first_defect(message, data)
    if defect is not None and any(first_defect(message, data[at:]) is None for at in _frames(data)):
        return Defect("framed_payload", 0, "")
    return defect


def _frames(data):
    """Where a message may begin behind a registry header: 0x00, a four-byte id, perhaps indexes."""
    if len(data) < 5 or data[0] != 0:
        return
    yield 5
    if len(data) > 5 and data[5] == 0:
        yield 6
    try:
        count, at = _read_varint(data, 5, len(data), "")
        count = count >> 1 ^ -(count & 1)
        if 1 <= count <= 8:
            for _ in range(count):
                _, at = _read_varint(data, at, len(data), "")
            yield at
    except _Found:
        return


def _join(path, name):
    return f"{path}.{name}" if path else name


def _read_varint(data, at, end, field, item=None):
    """(value, the offset behind it)."""
    start, value = at, 0
    item = start if item is None else item
    while True:
        if at - start == 10:
            raise _Found("decode_varint", item, field)
        if at == end:
            raise _Found("decode_truncated", item, field)
        byte = data[at]
        value |= (byte & 0x7F) << 7 * (at - start)
        at += 1
        if byte < 0x80:
            return value & (1 << 64) - 1, at


def _read_tag(data, at, end, path):
    """(number, wire type, the offset behind it)."""
    start, tag = at, 0
    while True:
        if at == end and at - start < 5:
            raise _Found("decode_truncated", start, path)
        if at - start == 5:
            raise _Found("decode_bad_tag", start, path)
        byte = data[at]
        tag |= (byte & 0x7F) << 7 * (at - start)
        at += 1
        if byte < 0x80:
            break
    if tag >= 1 << 32 or tag >> 3 == 0:
        raise _Found("decode_bad_tag", start, path)
    return tag >> 3, tag & 7, at


def _read_length(data, at, end, field):
    length, behind = _read_varint(data, at, end, field)
    if length > LENGTH_MAX or length > end - behind:
        raise _Found("decode_truncated", at, field)
    return length, behind


def _skip_value(data, start, at, end, number, wire, field, depth):
    """The offset behind the value of a field that is not looked into."""
    if wire == VARINT:
        return _read_varint(data, at, end, field)[1]
    if wire in (FIXED32, FIXED64):
        size = 4 if wire == FIXED32 else 8
        if end - at < size:
            raise _Found("decode_truncated", at, field)
        return at + size
    if wire == LEN:
        length, at = _read_length(data, at, end, field)
        return at + length
    if wire == START_GROUP:
        return _skip_group(data, start, at, end, number, field, depth + 1)
    raise _Found("decode_group" if wire == END_GROUP else "decode_wire_type", start, field)


def _skip_group(data, start, at, end, number, field, depth):
    if depth > NESTING_MAX:
        raise _Found("decode_group", start, field)
    while True:
        if at == end:
            raise _Found("decode_group", start, field)
        item = at
        inner, wire, at = _read_tag(data, at, end, field)
        if wire == END_GROUP:
            if inner != number:
                raise _Found("decode_group", item, field)
            return at
        at = _skip_value(data, item, at, end, inner, wire, field, depth)


def _check_utf8(data, at, end, field):
    try:
        data[at:end].decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Found("invalid_utf8", at + error.start, field) from None


def _read_message(message, data, at, end, path, depth):
    seen = {}
    while at < end:
        start = at
        number, wire, at = _read_tag(data, at, end, path)
        known = message.fields.get(number)
        field = _join(path, known.name if known is not None else f"#{number}")
        if known is None or known.kind == "varint" or wire != LEN:
            at = _skip_value(data, start, at, end, number, wire, field, depth)
            continue
        if known.repeated:
            field += f"[{seen.get(number, 0)}]"
            seen[number] = seen.get(number, 0) + 1
        length, at = _read_length(data, at, end, field)
        if known.kind == "string":
            _check_utf8(data, at, at + length, field)
        elif known.kind == "message":
            _read_message(known.message, data, at, at + length, field, depth + 1)
        at += length
