#!/usr/bin/env bash
# Brings what the project needs onto a Debian 12 or newer, as root or through sudo. Safe to run again.
#
#   scripts/setup.sh                 everything: building, testing, the Kafka of the broker tests
#   scripts/setup.sh build           only what building and the demo need
#   scripts/setup.sh --check [build] installs nothing: exit 0 when all is there, else 1 and what is missing
#
# There is no stamp file: each run looks at the tools themselves, since a stamp outlives a machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build_packages=(gcc libc6-dev make cmake ninja-build pkg-config ca-certificates
  librdkafka-dev libprotobuf-c-dev libssl-dev libjansson-dev libyaml-dev libmicrohttpd-dev
  liblmdb-dev)
test_packages=(git binutils g++ clang llvm libclang-rt-dev clang-tidy clang-format cppcheck valgrind
  libcmocka-dev protobuf-compiler protobuf-c-compiler libprotobuf-dev python3 python3-venv maven
  default-jre-headless)

build_tools=(gcc cmake ninja pkg-config)
test_tools=(git nm g++ clang llvm-symbolizer clang-tidy clang-format cppcheck valgrind protoc protoc-c
  python3 java mvn)

build_modules=("rdkafka >= 2.0.2" "libprotobuf-c >= 1.4.1" "libcrypto >= 3.0" "jansson >= 2.14"
  "yaml-0.1 >= 0.2.5" "libmicrohttpd >= 0.9.75" "lmdb >= 0.9.24")
test_modules=("cmocka >= 1.1.5")

usage() {
  sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 64
}

say() { printf 'setup: %s\n' "$*" >&2; }

die() {
  say "$@"
  exit 1
}

# ---- what is missing: one line each ------------------------------------------------------------

missing_tools() {
  local tool module
  local tools=("${build_tools[@]}") modules=("${build_modules[@]}")
  if [ "$scope" = all ]; then
    tools+=("${test_tools[@]}")
    modules+=("${test_modules[@]}")
  fi
  for tool in "${tools[@]}"; do
    command -v "$tool" >/dev/null || echo "$tool"
  done
  command -v pkg-config >/dev/null || return 0
  # One call for all says yes; only a no is worth a call each.
  if ! pkg-config --exists "${modules[@]}" 2>/dev/null; then
    for module in "${modules[@]}"; do
      pkg-config --exists "$module" 2>/dev/null || echo "library $module"
    done
  fi
  [ "$scope" = all ] || return 0
  if command -v clang >/dev/null &&
    ! [ -e "$(clang --rtlib=compiler-rt -print-libgcc-file-name)" ]; then
    echo "clang's sanitizer runtime"
  fi
  # protobuf-c's own options import it, which gen_proto.sh needs.
  [ -e /usr/include/google/protobuf/descriptor.proto ] || echo "google/protobuf/descriptor.proto"
  find_python >/dev/null || echo "Python 3.11 or newer with venv and pip"
}

# A Python that can make the environment; the first on PATH may be somebody's own build without pip.
find_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
      2>/dev/null; then
      echo "$python"
      return 0
    fi
  done
  return 1
}

missing_python() {
  .venv/bin/python - scripts/requirements.txt 2>/dev/null <<'PYTHON' || echo ".venv (Python packages of the tests)"
import importlib.metadata
import sys

import confluent_kafka
import google.protobuf

for line in open(sys.argv[1], encoding="utf-8"):
    name, _, version = line.split("#")[0].strip().partition("==")
    if name and importlib.metadata.version(name) != version:
        sys.exit(1)
PYTHON
}

missing_kafka() {
  local version
  version=$(sed -n 's:.*<kafka\.version>\(.*\)</kafka\.version>.*:\1:p' tests/broker/pom.xml)
  [ -d "build/kafka/$version/libs" ] || echo "Apache Kafka $version (jars of the broker tests)"
}

missing_promtool() {
  [ -x build/promtool/promtool ] || command -v promtool >/dev/null ||
    echo "promtool (checks the metrics)"
}

missing() {
  missing_tools
  if [ "$scope" = all ]; then
    missing_python
    missing_kafka
    missing_promtool
  fi
}

# ---- installing --------------------------------------------------------------------------------

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    say "installing packages needs root, and there is no sudo. Run 'make setup' as root, or let an" \
      "administrator run: apt-get install ${packages[*]}"
    return 1
  fi
}

install_packages() {
  local packages=("${build_packages[@]}")
  [ "$scope" = all ] && packages+=("${test_packages[@]}")
  command -v apt-get >/dev/null ||
    die "this is no Debian: install by hand what --check names (Debian's packages: ${packages[*]})"
  mkdir -p build/logs
  say "installing Debian packages (what apt-get says is in build/logs/setup.log)"
  # The lists may be missing, as in a fresh container, or too old to name what the mirror still has.
  if ! { as_root apt-get -q -o DPkg::Lock::Timeout=300 update &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
      --no-install-recommends install "${packages[@]}"; } >build/logs/setup.log 2>&1; then
    tail -n 20 build/logs/setup.log >&2
    die "the packages could not be installed; all that was said is in build/logs/setup.log"
  fi
}

make_venv() {
  say "installing Python packages into .venv"
  "$(find_python)" -m venv --clear .venv
  .venv/bin/python -m pip --disable-pip-version-check -q install -r scripts/requirements.txt
}

# Prometheus' own checker alone: Debian's package would also start a server on this machine.
fetch_promtool() {
  local folder=build/promtool packages=(prometheus)
  say "fetching promtool"
  rm -rf "$folder.new"
  mkdir -p "$folder.new" build/logs
  if ! (cd "$folder.new" && apt-get -q download prometheus) >build/logs/promtool.log 2>&1; then
    # The lists may be missing or too old.
    { as_root apt-get -q -o DPkg::Lock::Timeout=300 update &&
      (cd "$folder.new" && apt-get -q download prometheus); } >>build/logs/promtool.log 2>&1 || {
      tail -n 20 build/logs/promtool.log >&2
      die "promtool could not be fetched; put one on PATH, or see build/logs/promtool.log"
    }
  fi
  dpkg-deb --fsys-tarfile "$folder.new"/*.deb | tar -x -C "$folder.new" --strip-components=3 ./usr/bin/promtool
  rm -rf "$folder.new"/*.deb "$folder"
  mv "$folder.new" "$folder"
}

scope=all
check=no
for argument in "$@"; do
  case $argument in
    --check) check=yes ;;
    build) scope=build ;;
    *) usage ;;
  esac
done

if [ "$check" = yes ]; then
  found=$(missing)
  [ -z "$found" ] && exit 0
  printf 'setup: missing: %s\n' "$(printf '%s' "$found" | sed -z 's/\n/, /g')" >&2
  exit 1
fi

[ -z "$(missing_tools)" ] || install_packages
found=$(missing_tools)
[ -z "$found" ] ||
  die "still missing after the installation: $(printf '%s' "$found" | sed -z 's/\n/, /g')"
if [ "$scope" = all ]; then
  [ -z "$(missing_python)" ] || make_venv
  [ -z "$(missing_kafka)" ] || tests/broker/kafka fetch
  [ -z "$(missing_promtool)" ] || fetch_promtool
fi
found=$(missing)
[ -z "$found" ] ||
  die "still missing after the installation: $(printf '%s' "$found" | sed -z 's/\n/, /g')"
say "everything is here"
