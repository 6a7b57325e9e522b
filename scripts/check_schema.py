#!/usr/bin/env python3
"""Holds protos/beam_agents.proto against the frozen descriptor sets in golden/schema/v1.

    .venv/bin/python scripts/check_schema.py [PROTO]

What was frozen stays: a field or an enum value keeps its number, name and type, or is gone and both its number
and its name are reserved. A new number is above every number that the message ever had. A finding a line; exit
1 when there are any.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import reference  # noqa: E402

FROZEN = ROOT / "golden" / "schema" / "v1"


def described(proto):
    """(kind of item, path) -> its descriptor, messages and enums of a file, nested ones too."""
    found = {}
    stack = [(proto.package, proto)]
    while stack:
        path, holder = stack.pop()
        messages = holder.message_type if hasattr(holder, "message_type") else holder.nested_type
        for message in messages:
            found["message", f"{path}.{message.name}"] = message
            stack.append((f"{path}.{message.name}", message))
        for enum in holder.enum_type:
            found["enum", f"{path}.{enum.name}"] = enum
    return found


def items(kind, descriptor):
    """number -> (name, everything that must stay as it is)."""
    if kind == "enum":
        return {value.number: (value.name,) for value in descriptor.value}
    oneofs = [oneof.name for oneof in descriptor.oneof_decl]
    return {field.number: (field.name, field.json_name, field.type, field.label, field.type_name,
                           oneofs[field.oneof_index] if field.HasField("oneof_index") else "")
            for field in descriptor.field}


def reserved(kind, descriptor):
    """The reserved numbers, as ranges, and names. An enum's ranges include their end."""
    last = 0 if kind == "enum" else 1
    ranges = [range(item.start, item.end + 1 - last) for item in descriptor.reserved_range]
    return ranges, set(descriptor.reserved_name)


def check_item(kind, path, frozen, today):
    """Findings about one message or enum that is in both."""
    then, now = items(kind, frozen), items(kind, today)
    ranges, names = reserved(kind, today)
    old_ranges, old_names = reserved(kind, frozen)
    for number, item in sorted(then.items()):
        where = f"{path}: {number} ({item[0]})"
        if number in now:
            if now[number] != item:
                yield f"{where}: was {item}, is {now[number]}"
        elif not any(number in span for span in ranges) or item[0] not in names:
            yield f"{where}: is gone; reserve its number and its name"
    for span in old_ranges:
        for number in span:
            if not any(number in other for other in ranges):
                yield f"{path}: {number} is reserved no longer"
    for name in sorted(old_names - names):
        yield f"{path}: the name {name} is reserved no longer"
    highest = max([*then, *(span[-1] for span in old_ranges)], default=0)
    for number in sorted(set(now) - set(then)):
        if number <= highest:
            yield f"{path}: {number} ({now[number][0]}) is new, and not above {highest}"


def check(proto_file, frozen_files):
    """All findings."""
    today = described(proto_file)
    for name, frozen in frozen_files:
        for (kind, path), descriptor in sorted(described(frozen).items(), key=lambda item: item[0]):
            if (kind, path) not in today:
                yield f"{name}: {kind} {path} is gone"
            else:
                for finding in check_item(kind, path, descriptor, today[kind, path]):
                    yield f"{name}: {finding}"
        if (frozen.package, frozen.syntax) != (proto_file.package, proto_file.syntax):
            yield f"{name}: package or syntax has changed"


def load(data):
    from google.protobuf import descriptor_pb2

    return descriptor_pb2.FileDescriptorSet.FromString(data).file[0]


def frozen_sets():
    return [(path.name, load(path.read_bytes())) for path in sorted(FROZEN.glob("*.pb"))]


def main():
    proto = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else reference.PROTO
    frozen = frozen_sets()
    findings = list(check(load(reference.descriptor_set(proto)), frozen))
    if not frozen:
        findings.append(f"{FROZEN} holds no descriptor set")
    print("\n".join(findings + [f"{proto.name}: {len(findings)} findings, "
                                f"{len(frozen)} frozen descriptor sets"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
