#!/usr/bin/env bash
# Runs the broker tests against the program and the libraries of an image of deploy/Dockerfile, so that what is
# proven about librdkafka of this machine is proven about the image's as well.
#
#   scripts/test_image.sh [IMAGE [TEST...]]     IMAGE: agent-bridge; TEST: broker_golden_test and so on
#
# Without TEST all that stand at the left edge of tests/broker/CMakeLists.txt, as ctest runs them on this machine:
# all but the one whose inputs lie beside a checkout.
# The image's files are unpacked into a folder, and its program runs there through its own loader: as a process
# of this machine, which the tests can kill, freeze and watch. Needs docker, what `make setup` installs, and gcc.
# Exit codes: 0 all passed, 1 not, 64 usage.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

image=${1:-agent-bridge}
shift || true
# A line for each test: its name, its broker, its file and the file's words.
table=$(sed -n 's/^aw_add_broker_test(\([a-z]*\) \([a-z_]*\) [0-9]* \(.*\))$/\2 \1 \3/p' tests/broker/CMakeLists.txt)
tests=("$@")
[ $# -gt 0 ] || mapfile -t tests < <(cut -d ' ' -f 1 <<<"$table")
for test in "${tests[@]}"; do
  if ! grep -q "^$test " <<<"$table"; then
    echo "test_image.sh: tests/broker/CMakeLists.txt has no $test" >&2
    exit 64
  fi
done

if ! docker image inspect "$image" >/dev/null 2>&1; then
  echo "test_image.sh: there is no image $image; deploy/Dockerfile says how it is built" >&2
  exit 64
fi

folder=$(mktemp -d)
cleanup() {
  tests/broker/kafka stop --dir "$folder/kafka" >/dev/null || true
  tests/broker/kafka stop --dir "$folder/secure" >/dev/null || true
  rm -rf "$folder"
}
trap cleanup EXIT

container=$(docker create "$image")
mkdir "$folder/root"
docker export "$container" | tar -x -C "$folder/root" --exclude 'dev/*' --exclude 'proc/*'
docker rm "$container" >/dev/null
libraries=$(find "$folder/root/usr/lib" -maxdepth 1 -name '*-linux-gnu*' | head -n 1)
loader=$(find "$libraries" -maxdepth 1 -name 'ld-linux*' | head -n 1)
cat >"$folder/agent-bridge" <<WRAPPER
#!/bin/sh
exec "$loader" --argv0 agent-bridge --library-path "$libraries\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}" \
  "$folder/root/usr/local/bin/agent-bridge" "\$@"
WRAPPER
chmod +x "$folder/agent-bridge"
gcc -shared -fPIC -o "$folder/hostname.so" tests/broker/hostname.c

"$folder/agent-bridge" version
tests/broker/kafka start --fresh --dir "$folder/kafka"
export AGENT_BRIDGE=$folder/agent-bridge AW_HOSTNAME_SHIM=$folder/hostname.so
failed=()
for test in "${tests[@]}"; do
  echo "---- $test"
  read -r _ broker file words < <(grep "^$test " <<<"$table")
  export AW_BROKER_DIR=$folder/kafka
  if [ "$broker" = secure ]; then
    export AW_BROKER_DIR=$folder/secure
    tests/broker/kafka start --secure --fresh --dir "$AW_BROKER_DIR"
  fi
  # shellcheck disable=SC2086  # the words are several
  .venv/bin/python "tests/broker/$file" $words </dev/null || failed+=("$test")
done
echo
echo "$((${#tests[@]} - ${#failed[@]})) passed, ${#failed[@]} failed"
[ ${#failed[@]} -eq 0 ] || printf '  %s\n' "${failed[@]}"
[ ${#failed[@]} -eq 0 ]
