#!/usr/bin/env python3
"""Writes golden/intent-signature/v1/cases.jsonl: ToolIntents and their signatures.

    .venv/bin/python scripts/make_intent_golden.py [--check]

The bytes come from the reference runtime and the signatures from Python's hmac; the codec has no part in
it. --check writes nothing and fails when the file is not what they say.
"""

import argparse
import base64
import hashlib
import hmac
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import reference  # noqa: E402

CASES = ROOT / "golden" / "intent-signature" / "v1" / "cases.jsonl"
SCHEME = 1
KEYS = {"ops-1": bytes(range(32)), "ops-2": b"k", "schlüssel": b"x" * 100, "long": bytes(200)}
KEYRING = "# keys of these cases\n" + "".join(
    f"{key_id}={base64.b64encode(key).decode()}\n" for key_id, key in KEYS.items())


def inputs(judge):
    """(name, bytes, key id) of intents to sign."""
    intent = judge.classes["ToolIntent"]
    plain = intent(intent_id="i-1", entity_key=b"acct-7", seq=4, step_index=2, tool_name="refund",
                   args_json='{"b":1,"a":"é"}', created_at_ms=1700000000000,
                   expires_at_ms=1700000060000, attempt=1, kind=1, trace_id=bytes(range(16)))
    data = plain.SerializeToString(deterministic=True)
    signed = intent()
    signed.CopyFrom(plain)
    signed.signature_scheme, signed.signing_key_id, signed.signature = 1, "old", b"\x01" * 32
    yield "plain", data, "ops-1"
    yield "one_byte_key", data, "ops-2"
    yield "key_longer_than_a_block", data, "schlüssel"
    yield "key_of_zeros", data, "long"
    yield "empty_intent", b"", "ops-1"
    yield "approval", intent(intent_id="i-2", kind=2).SerializeToString(), "ops-1"
    yield "unknown_kind", intent(intent_id="i-2", kind=-7).SerializeToString(), "ops-1"
    yield "signed_before_with_another_key", signed.SerializeToString(deterministic=True), "ops-1"
    yield "future_fields", data + bytes.fromhex("7801 8a0103 616263 9303 0802 9403"), "ops-1"
    yield "future_fields_before_known", bytes.fromhex("9806 05") + data, "ops-1"
    yield "signature_fields_of_another_wire_type", data + bytes.fromhex("6201 61 6805 7001"), "ops-1"
    yield "overlong_spelling", bytes.fromhex("8a808000 83808000 692d31 18 84808000"), "ops-1"
    yield "fields_out_of_order", bytes.fromhex("1804 1202 6b6b 0a03 692d31"), "ops-1"


def case(judge, name, data, key_id):
    """One line: the intent, what is signed, the signature, and the signed intent."""
    intent = judge.parse("ToolIntent", data)
    intent.ClearField("signature_scheme")
    intent.ClearField("signing_key_id")
    intent.ClearField("signature")
    covered = intent.SerializeToString(deterministic=True)
    signature = hmac.new(KEYS[key_id], covered, hashlib.sha256).digest()
    intent.signature_scheme, intent.signing_key_id, intent.signature = SCHEME, key_id, signature
    return {"name": name, "hex": data.hex(), "key_id": key_id, "keyring": KEYRING,
            "signed_bytes_hex": covered.hex(), "signature_hex": signature.hex(),
            "signed_hex": intent.SerializeToString(deterministic=True).hex()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    judge = reference.Reference()
    text = "".join(
        json.dumps(case(judge, *item), ensure_ascii=False, sort_keys=True) + "\n"
        for item in inputs(judge))
    if not check:
        CASES.parent.mkdir(parents=True, exist_ok=True)
        CASES.write_text(text, encoding="utf-8")
    elif CASES.read_text(encoding="utf-8") != text:
        print(f"{CASES}: not what protobuf {reference.REQUIRED_VERSION} and hmac say", file=sys.stderr)
        return 1
    print(f"{text.count(chr(10))} cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
