#!/bin/sh
# Makes the committed sources under codec/message/gen from protos/beam_agents.proto:
#
#   scripts/gen_proto.sh            writes them in place
#   scripts/gen_proto.sh --check    writes nothing; fails with a diff when they are something else
#
# Needs protoc-c 1.4.1 (Debian 12: protobuf-c-compiler, libprotobuf-c-dev and libprotobuf-dev);
# another version writes other sources.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
target=$root/codec/message/gen

usage() {
  echo "usage: scripts/gen_proto.sh [--check]" >&2
  exit 64
}

check=no
case $# in
  0) ;;
  1) [ "$1" = --check ] || usage; check=yes ;;
  *) usage ;;
esac

if ! command -v protoc-c >/dev/null; then
  echo "gen_proto: protoc-c is not installed; 'make setup' installs it" >&2
  exit 69
fi
version=$(protoc-c --version | sed -n 's/^protobuf-c //p')
if [ "$version" != 1.4.1 ]; then
  echo "gen_proto: protoc-c is '$version', the committed sources come from 1.4.1; use that one" >&2
  exit 69
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -f "$root/scripts/derive_proto.awk" "$root/protos/beam_agents.proto" > "$work/beam_agents.proto"
(cd "$work" && protoc-c --c_out=. beam_agents.proto)

if [ $check = yes ]; then
  if ! diff -ru "$target" "$work"; then
    echo "gen_proto: codec/message/gen is not what protos/beam_agents.proto gives;" \
      "run scripts/gen_proto.sh" >&2
    exit 1
  fi
  exit 0
fi
mkdir -p "$target"
cp "$work/beam_agents.proto" "$work/beam_agents.pb-c.h" "$work/beam_agents.pb-c.c" "$target/"
