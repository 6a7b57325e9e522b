#!/usr/bin/env bash
# Static analysis, three tools that see different things; any finding fails.
#   clang-tidy      every source and header (preset tidy, .clang-tidy)
#   gcc -fanalyzer  the library and the program (preset analyze); without its leaks, since gcc 12 loses
#                   sight of what lies in an array after realloc(): clang and LeakSanitizer find those
#   cppcheck        the same sources, whole program
# The whole output is in build/logs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p build/logs
failed=0

# step NAME COMMAND…: what the command prints is shown only where it fails.
step() {
  local name=$1 log=build/logs/tidy-$1.log
  shift
  if "$@" >"$log" 2>&1; then
    echo "tidy: $name is clean"
  else
    failed=1
    grep -E 'error:|warning:|note:' "$log" || tail -n 40 "$log"
    echo "tidy: $name has findings; all of it: $log"
  fi
}

compile() {
  cmake --preset "$1" && cmake --build --preset "$1" -- -k 0
}

run_cppcheck() {
  cmake --preset dev &&
    cppcheck --project=build/dev/compile_commands.json --cppcheck-build-dir="$1" -j "$(nproc)" \
      --enable=warning,performance,portability --inline-suppr --error-exitcode=1 --quiet \
      --suppressions-list=scripts/cppcheck-suppressions.txt \
      -i codec/message/gen
}

mkdir -p build/cppcheck
step clang-tidy compile tidy
step gcc-analyzer compile analyze
step cppcheck run_cppcheck build/cppcheck
exit "$failed"
