"""Inputs that try a protobuf reader: generated messages, and seeds changed where it hurts.

Works on a tree of wire fields that knows the schema, so that most inputs are nearly right: a random byte
string dies at its first tag and tries nothing. Everything comes from one random.Random, so that a seed
and a number name an input for good.
"""

import random
from dataclasses import dataclass, field

VARINT, FIXED64, LEN, START_GROUP, END_GROUP, FIXED32 = range(6)
WIRE_TYPES = (VARINT, FIXED64, LEN, START_GROUP, FIXED32)
MAX_NUMBER = (1 << 29) - 1
MAX_INPUT_BYTES = 40000  # larger mutants are cut
LENGTH_EDGES = (127, 128, 16383, 16384)  # where a length takes one byte more

TEXTS = (
    b"", b"a", b"aa", b"ab", b"b", b"key", b"\x00", b"a\x00b", b'"', b"\\", b"</script>", b"\x7f",
    b"\x01\x1f\b\f\n\r\t", "é".encode(), "漢字".encode(), "\u2028\u2029".encode(),
    "\ufffe\uffff\ufeff".encode(), "\U0001f9ea".encode(), "\U0010ffff".encode(), "a\u0301".encode(),
    b'{"a":1,"z":[true,null]}', b"11111111-2222-5333-8444-555555555555", b"x" * 127, b"x" * 128,
)
ILL_FORMED = (
    b"\x80", b"\xff", b"\xfe", b"\xc0\xaf", b"\xc1\xbf", b"\xc2", b"\xc3(", b"\xe0\x80\x80",
    b"\xe0\x9f\xbf", b"\xe2\x82", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x80\x80\x80",
    b"\xf0\x8f\xbf\xbf", b"\xf0\x9f\xa7", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"ok\xe9",
    b"\xf8\x88\x80\x80\x80",
)
NUMBERS = (
    0, 1, 2, 3, 4, 5, 7, 8, 9, 127, 128, 255, 300, 16383, 16384, (1 << 31) - 1, 1 << 31,
    (1 << 32) - 1, 1 << 32, (1 << 32) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1700000000000,
    (1 << 64) - (1 << 31), (1 << 64) - 3,
)
UNKNOWN_NUMBERS = (7, 11, 15, 16, 17, 20, 50, 99, 2047, 2048, 19000, 19999, 1 << 20, MAX_NUMBER)
BYTES = (0x00, 0x01, 0x07, 0x08, 0x0A, 0x12, 0x1A, 0x7F, 0x80, 0x81, 0xFF)


@dataclass
class Field:
    """One field of the schema."""

    number: int
    name: str
    kind: str  # string, bytes, varint, message
    repeated: bool
    message: "Message | None" = None


@dataclass
class Message:
    """One message of the schema, nested ones and the map entry included."""

    name: str
    fields: dict = field(default_factory=dict)

    @classmethod
    def of(cls, descriptor, seen=None) -> "Message":
        """From a descriptor of the runtime."""
        seen = {} if seen is None else seen
        if descriptor.full_name in seen:
            return seen[descriptor.full_name]
        made = seen[descriptor.full_name] = cls(descriptor.full_name)
        for item in descriptor.fields:
            kind = {item.TYPE_STRING: "string", item.TYPE_BYTES: "bytes",
                    item.TYPE_MESSAGE: "message"}.get(item.type, "varint")
            inner = cls.of(item.message_type, seen) if kind == "message" else None
            made.fields[item.number] = Field(item.number, item.name, kind, item.is_repeated, inner)
        return made


@dataclass
class Node:
    """One field on the wire: what it holds, and how its parts are spelled."""

    number: int
    wire: int
    value: object  # int for VARINT, bytes for the fixed ones, bytes or a list of Node for LEN, list for groups
    tag_pad: int = 0  # so many bytes more than the tag needs
    pad: int = 0  # the same for the varint or the length
    skew: int = 0  # added to the length
    end: int | None = 0  # groups: 0 for the fitting end, else its number; None for no end


def varint(value: int, pad: int = 0) -> bytes:
    """A varint, spelled with so many bytes more than it needs."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    for _ in range(pad):
        out[-1] |= 0x80
        out.append(0)
    return bytes(out)


def encode(nodes) -> bytes:
    out = bytearray()
    for node in nodes:
        out += varint(node.number << 3 | node.wire, node.tag_pad)
        if node.wire == VARINT:
            out += varint(node.value, node.pad)
        elif node.wire == LEN:
            body = node.value if isinstance(node.value, bytes) else encode(node.value)
            out += varint(max(0, len(body) + node.skew), node.pad) + body
        elif node.wire == START_GROUP:
            out += encode(node.value)
            if node.end is not None:
                out += varint((node.end or node.number) << 3 | END_GROUP)
        else:
            out += node.value
    return bytes(out)


def parse(data: bytes, message: Message):
    """The tree of well-formed bytes, or None. Groups are not entered: they are kept by the mutations
    that make them."""
    nodes, at = [], 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        if tag is None or tag >> 3 == 0:
            return None
        number, wire = tag >> 3, tag & 7
        if wire == VARINT:
            value, at = _read_varint(data, at)
            if value is None:
                return None
        elif wire == LEN:
            size, at = _read_varint(data, at)
            if size is None or at + size > len(data):
                return None
            value, at = data[at:at + size], at + size
            known = message.fields.get(number)
            if known is not None and known.message is not None:
                inner = parse(value, known.message)
                value = value if inner is None else inner
        elif wire in (FIXED32, FIXED64):
            size = 4 if wire == FIXED32 else 8
            value, at = data[at:at + size], at + size
            if at > len(data):
                return None
        else:
            return None
        nodes.append(Node(number, wire, value))
    return nodes


def _read_varint(data, at):
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return None, at


class Mutator:
    """An endless run of inputs.

    messages: type name -> Message. seeds: (type name, bytes) pairs that are known to be interesting.
    """

    def __init__(self, messages: dict, seeds: list, rng: random.Random):
        self.rng = rng
        self.messages = messages
        self.seeds = seeds
        self.names = sorted(messages)
        # Envelopes are what the relay reads, and every other message hangs below these three.
        self.weights = [{"AgentEnvelope": 6, "StateSnapshot": 4, "TraceEvent": 3}.get(name, 1)
                        for name in self.names]
        self.trees = {}
        for name, data in seeds:
            tree = parse(data, messages[name])
            if tree:
                self.trees.setdefault(name, []).append(tree)

    def next(self):
        """(type name, bytes)."""
        rng = self.rng
        pick = rng.random()
        if pick < 0.10 and self.seeds:
            name, data = rng.choice(self.seeds)
            return name, self._bytes(data)
        if pick < 0.12:
            return rng.choice(self.names), rng.randbytes(rng.randrange(1, 40))
        name = rng.choices(self.names, self.weights)[0]
        message = self.messages[name]
        if pick < 0.40 and name in self.trees:
            nodes = _copy(rng.choice(self.trees[name]))
        else:
            nodes = self._message(message, 0)
        for _ in range(_few(rng)):
            self._change(nodes, message)
        data = encode(nodes)
        if rng.random() < 0.25:
            data = self._bytes(data)
        if name == "AgentEnvelope" and rng.random() < 0.04:
            data = self._frame(data)
        return name, data[:MAX_INPUT_BYTES]

    # generated messages

    def _message(self, message: Message, depth: int) -> list:
        rng = self.rng
        numbers = list(message.fields)
        count = rng.choice((0, 1, 2, 3, len(numbers), len(numbers)))
        chosen = sorted(rng.sample(numbers, min(count, len(numbers))))
        if rng.random() < 0.2:
            chosen += rng.choices(numbers, k=rng.randrange(1, 4))
            rng.shuffle(chosen)
        nodes = [self._field(message.fields[number], depth) for number in chosen]
        if rng.random() < 0.15:
            nodes.insert(rng.randrange(len(nodes) + 1), self._unknown(depth))
        return nodes

    def _field(self, known: Field, depth: int) -> Node:
        if known.kind == "varint":
            return Node(known.number, VARINT, self._number())
        if known.kind == "message":
            return Node(known.number, LEN, self._message(known.message, depth + 1))
        if known.kind == "string":
            return Node(known.number, LEN, self._text())
        return Node(known.number, LEN, self._blob())

    def _number(self) -> int:
        rng = self.rng
        if rng.random() < 0.7:
            return rng.choice(NUMBERS)
        return rng.getrandbits(rng.randrange(1, 65))

    def _text(self) -> bytes:
        rng = self.rng
        pick = rng.random()
        if pick < 0.6:
            return rng.choice(TEXTS)
        if pick < 0.95:
            return b"".join(rng.choices(TEXTS, k=rng.randrange(1, 4)))
        if pick < 0.99:
            return b"".join(rng.choices(TEXTS[:-2], k=rng.randrange(4, 40)))
        return self._bad_text()

    def _bad_text(self) -> bytes:
        """Ill-formed at one place, which may be far behind the beginning or at the very end."""
        rng = self.rng
        before = rng.choices(TEXTS[:-2], k=rng.choice((0, 1, 1, 2, 20)))
        behind = rng.choices(TEXTS[:-2], k=rng.choice((0, 0, 1, 20)))
        return b"".join((*before, rng.choice(ILL_FORMED), *behind))

    def _blob(self) -> bytes:
        rng = self.rng
        pick = rng.random()
        if pick < 0.5:
            return rng.choice(TEXTS)
        if pick < 0.995:
            return rng.randbytes(rng.randrange(0, 24))
        return bytes(max(0, rng.choice(LENGTH_EDGES) - rng.randrange(0, 12)))

    def _unknown(self, depth: int) -> Node:
        rng = self.rng
        number = rng.choice(UNKNOWN_NUMBERS)
        wire = rng.choice(WIRE_TYPES)
        return self._any(number, wire, depth)

    def _any(self, number: int, wire: int, depth: int) -> Node:
        """A field of that number and wire type, whatever the schema says."""
        rng = self.rng
        if wire == VARINT:
            value = self._number()
        elif wire == FIXED32:
            value = rng.randbytes(4)
        elif wire == FIXED64:
            value = rng.randbytes(8)
        elif wire == LEN:
            value = self._blob()
        else:
            value = []
            if depth < 4:
                value = [self._unknown(depth + 1) for _ in range(rng.randrange(3))]
        return Node(number, wire, value)

    # changes of the tree

    def _change(self, nodes: list, message: Message):
        """One change somewhere in the tree, most often further down."""
        rng = self.rng
        while rng.random() < 0.5:
            deeper = [node for node in nodes if node.wire == LEN and isinstance(node.value, list)
                      and node.number in message.fields
                      and message.fields[node.number].message is not None]
            if not deeper:
                break
            node = rng.choice(deeper)
            nodes, message = node.value, message.fields[node.number].message
        rng.choice(_CHANGES)(self, nodes, message)

    def _at(self, nodes: list) -> int:
        return self.rng.randrange(len(nodes) + 1)

    def _insert_unknown(self, nodes, message):
        nodes.insert(self._at(nodes), self._unknown(0))

    def _insert_known(self, nodes, message):
        known = message.fields[self.rng.choice(list(message.fields))]
        nodes.insert(self._at(nodes), self._field(known, 2))

    def _insert_wrong_wire(self, nodes, message):
        number = self.rng.choice(list(message.fields))
        nodes.insert(self._at(nodes), self._any(number, self.rng.choice(WIRE_TYPES), 2))

    def _repeat(self, nodes, message):
        if nodes:
            nodes.insert(self._at(nodes), _copy([self.rng.choice(nodes)])[0])

    def _drop(self, nodes, message):
        if nodes:
            nodes.pop(self.rng.randrange(len(nodes)))

    def _shuffle(self, nodes, message):
        self.rng.shuffle(nodes)

    def _renumber(self, nodes, message):
        if nodes:
            node = self.rng.choice(nodes)
            node.number = self.rng.choice((*message.fields, *UNKNOWN_NUMBERS, 0, MAX_NUMBER + 1))

    def _rewire(self, nodes, message):
        if nodes:
            node = self.rng.choice(nodes)
            made = self._any(node.number, self.rng.choice(WIRE_TYPES), 2)
            node.wire, node.value = made.wire, made.value

    def _respell(self, nodes, message):
        """Overlong tags, varints and lengths, up to the limits and one past them."""
        if nodes:
            node = self.rng.choice(nodes)
            if self.rng.random() < 0.5:
                node.tag_pad = self.rng.choice((1, 2, 3, 4, 4, 5))
            else:
                node.pad = self.rng.choice((1, 2, 4, 5, 7, 8, 9, 9, 10))

    def _skew(self, nodes, message):
        lens = [node for node in nodes if node.wire == LEN]
        if lens:
            self.rng.choice(lens).skew = self.rng.choice(
                (-2, -1, 1, 2, 5, 127, 1 << 20, (1 << 31) - 2, (1 << 31) - 1, 1 << 32, 1 << 63,
                 1 << 64, 1 << 64, 3 << 68, 1 << 70))

    def _ill_formed(self, nodes, message):
        texts = [number for number, known in message.fields.items() if known.kind == "string"]
        if texts:
            nodes.insert(self._at(nodes), Node(self.rng.choice(texts), LEN, self._bad_text()))

    def _nest_groups(self, nodes, message):
        """Groups around the limit of 100 levels, or some way below it."""
        rng = self.rng
        depth = rng.choice((1, 2, 3, 97, 98, 99, 100, 101, 102, rng.randrange(1, 110)))
        number = rng.choice((*UNKNOWN_NUMBERS[:6], *message.fields))
        inner = [] if rng.random() < 0.5 else [self._unknown(9)]
        for _ in range(depth):
            inner = [Node(number, START_GROUP, inner)]
        nodes.insert(self._at(nodes), inner[0])

    def _break_group(self, nodes, message):
        rng = self.rng
        made = self._any(rng.choice(UNKNOWN_NUMBERS), START_GROUP, 2)
        made.end = rng.choice((None, 1, 3, 50, 99))
        nodes.insert(self._at(nodes), made)

    def _stray_end(self, nodes, message):
        number = self.rng.choice((*UNKNOWN_NUMBERS, *message.fields, 0))
        nodes.insert(self._at(nodes), Node(number, END_GROUP, b""))

    def _bad_wire(self, nodes, message):
        number = self.rng.choice((*UNKNOWN_NUMBERS, *message.fields))
        nodes.insert(self._at(nodes), Node(number, self.rng.choice((6, 7)), b""))

    def _wide_varint(self, nodes, message):
        """Ten bytes whose last one holds bits that fall off."""
        varints = [number for number, known in message.fields.items() if known.kind == "varint"]
        if varints:
            spare = self.rng.choice((2, 3, 64, 127))
            nodes.insert(self._at(nodes), Node(
                self.rng.choice(varints), VARINT, self.rng.choice(NUMBERS) | spare << 63))

    def _many(self, nodes, message):
        """A list or a map of some length."""
        lists = [known for known in message.fields.values() if known.repeated]
        if lists:
            known = self.rng.choice(lists)
            nodes += [self._field(known, 2) for _ in range(self.rng.randrange(2, 40))]

    def _graft(self, nodes, message):
        """A part of another message of any type, as it stands there."""
        donor = self.rng.choice(self.names)
        made = self._message(self.messages[donor], 1)
        if made:
            nodes.insert(self._at(nodes), self.rng.choice(made))

    # changes of the bytes

    def _bytes(self, data: bytes) -> bytes:
        rng = self.rng
        out = bytearray(data)
        for _ in range(_few(rng)):
            rng.choice(_BYTE_CHANGES)(self, out)
        return bytes(out)

    def _flip(self, out):
        if out:
            out[self.rng.randrange(len(out))] ^= 1 << self.rng.randrange(8)

    def _overwrite(self, out):
        if out:
            out[self.rng.randrange(len(out))] = self.rng.choice(BYTES)

    def _cut(self, out):
        if out:
            del out[self.rng.randrange(len(out)):]

    def _remove(self, out):
        if out:
            at = self.rng.randrange(len(out))
            del out[at:at + self.rng.randrange(1, 5)]

    def _put(self, out):
        at = self.rng.randrange(len(out) + 1)
        out[at:at] = bytes(self.rng.choices(BYTES, k=self.rng.randrange(1, 5)))

    def _double(self, out):
        at = self.rng.randrange(len(out) + 1)
        out[at:at] = out[at:at + self.rng.randrange(1, 32)]

    def _splice(self, out):
        if self.seeds:
            other = self.rng.choice(self.seeds)[1]
            out[self.rng.randrange(len(out) + 1):] = other[self.rng.randrange(len(other) + 1):]

    def _frame(self, data: bytes) -> bytes:
        """Schema-registry framing: 0x00, an id, perhaps a list of message indexes."""
        rng = self.rng
        indexes = rng.choice((b"", b"\x00", b"\x02\x08", b"\x02\x00", b"\x04\x02\x04",
                              b"\x12" + b"\x02" * 9, b"\x10" + b"\x80\x01" * 8, b"\x02"))
        return b"\x00" + rng.randbytes(4) + indexes + data


_CHANGES = (
    Mutator._insert_unknown, Mutator._insert_unknown, Mutator._insert_known, Mutator._insert_known,
    Mutator._insert_wrong_wire, Mutator._repeat, Mutator._repeat, Mutator._drop, Mutator._shuffle,
    Mutator._renumber, Mutator._rewire, Mutator._respell, Mutator._respell, Mutator._skew,
    Mutator._ill_formed, Mutator._nest_groups, Mutator._break_group, Mutator._stray_end,
    Mutator._bad_wire, Mutator._wide_varint, Mutator._many, Mutator._graft,
)
_BYTE_CHANGES = (
    Mutator._flip, Mutator._overwrite, Mutator._cut, Mutator._remove, Mutator._put,
    Mutator._double, Mutator._splice,
)


def _few(rng: random.Random) -> int:
    return rng.choice((0, 1, 1, 1, 2, 2, 3, 5))


def _copy(nodes: list) -> list:
    """A deep copy of a tree; copy.deepcopy takes twenty times as long."""
    return [Node(node.number, node.wire,
                 _copy(node.value) if isinstance(node.value, list) else node.value,
                 node.tag_pad, node.pad, node.skew, node.end) for node in nodes]
