"""The answer to an export request, worked out anew: a published StateSnapshot with snapshot_at_ms (4) and
request_id (9) replaced, everything else as it is spelled.

Written from the description in docs/snapshots.md and sharing nothing with the codec; what it makes is
held against the reference runtime by expected(), so that neither can bless the other.
"""

import mutate

TIME, REQUEST = 4, 9
# Number -> wire type of the schema.
KNOWN = {1: 0, 2: 2, 3: 0, 4: 0, 5: 2, 6: 2, 7: 2, 8: 2, 9: 2}


def _read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value & (1 << 64) - 1, at


def _value_end(data, at, tag):
    """Where the value of a field ends whose tag was read; the bytes are known to be sound."""
    wire = tag & 7
    if wire == 0:
        return _read_varint(data, at)[1]
    if wire == 1:
        return at + 8
    if wire == 5:
        return at + 4
    if wire == 2:
        size, at = _read_varint(data, at)
        return at + size
    while True:  # a group: to the end tag of its own number
        inner, at = _read_varint(data, at)
        if inner & 7 == 4:
            return at
        at = _value_end(data, at, inner)


def pieces(data):
    """(number, bytes) of each field of the outermost message; the number is 0 for an unknown one."""
    at = 0
    while at < len(data):
        begin = at
        tag, at = _read_varint(data, at)
        at = _value_end(data, at, tag)
        yield tag >> 3 if KNOWN.get(tag >> 3) == tag & 7 else 0, data[begin:at]


def answer(published, time_ms, request_id):
    """The bytes of the answer; time_ms is signed, request_id text."""
    kept = {number: [] for number in range(10)}
    for number, piece in pieces(published):
        kept[number].append(piece)
    request = request_id.encode()
    kept[TIME] = [b"\x20" + mutate.varint(time_ms & (1 << 64) - 1)] if time_ms else []
    kept[REQUEST] = [b"\x4a" + mutate.varint(len(request)) + request] if request else []
    return b"".join(b"".join(kept[number]) for number in (*range(1, 10), 0))


def empty(entity_key, time_ms, request_id, judge):
    """The answer about a key without state, by the reference."""
    message = judge.classes["StateSnapshot"](state_schema_version=1, entity_key=entity_key,
                                             snapshot_at_ms=time_ms, request_id=request_id)
    return message.SerializeToString(deterministic=True)


def expected(published, time_ms, request_id, judge):
    """The answer, checked: the reference reads it as the published state with two fields set, field for
    field and unknown field for unknown field. Returns (bytes, the reference's deterministic encoding)."""
    message = judge.parse("StateSnapshot", published)
    message.snapshot_at_ms = time_ms
    message.request_id = request_id
    wanted = message.SerializeToString(deterministic=True)
    made = answer(published, time_ms, request_id)
    read = judge.parse("StateSnapshot", made)
    if read is None or read.SerializeToString(deterministic=True) != wanted:
        raise AssertionError(f"the reference reads {made.hex()} otherwise than {published.hex()}")
    if judge.parse("StateSnapshot", published).SerializeToString(deterministic=True) == published \
            and made != wanted:
        raise AssertionError(f"{published.hex()} is canonical and {made.hex()} is not")
    return made, wanted
