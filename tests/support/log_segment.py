"""Damages what a stopped broker has on disk, as a bad disk would."""

import struct

HEAD = struct.Struct(">qi")  # base offset, bytes behind this head
LAST_OFFSET_DELTA_AT = 23  # in a batch of magic 2
RECORDS_AT = 61


def damage(folder, offset):
    """Flips a byte of a record in the batch that holds offset; returns the first and the last offset of it."""
    for file in sorted(folder.glob("*.log")):
        data = bytearray(file.read_bytes())
        at = 0
        while at + RECORDS_AT < len(data):
            base, size = HEAD.unpack_from(data, at)
            last = base + struct.unpack_from(">i", data, at + LAST_OFFSET_DELTA_AT)[0]
            if base <= offset <= last:
                data[at + (RECORDS_AT + HEAD.size + size) // 2] ^= 0x40
                file.write_bytes(data)
                return base, last
            at += HEAD.size + size
    raise AssertionError(f"{folder} has no offset {offset}")
