#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# without_sqlite.sh ROOT CXX: where SQLite is not found, all but the component `lease` is configured, and that is said. Nothing is
# compiled.
set -euo pipefail
root=$1 cxx=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
  cat said
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
cmake -S "$root" -B build -G Ninja -D CMAKE_CXX_COMPILER="$cxx" -D PENSTOCK_CUDA=OFF -D CMAKE_DISABLE_FIND_PACKAGE_SQLite3=ON \
  -D CMAKE_EXPORT_COMPILE_COMMANDS=ON >said 2>&1 || fail 'it is not configured'
grep -qF "the component 'lease' is not built: SQLite 3.40 is not here; install libsqlite3-dev" said || fail 'it does not say so'
if grep -E 'PENSTOCK_WITH_LEASE|/src/lease/|/tests/lease/' build/compile_commands.json >said; then fail 'these sources need SQLite'; fi
if grep -F sqlite build/*.pc >said; then fail 'this needs SQLite'; fi
grep -qF '/src/programs/hash/' build/compile_commands.json || fail 'the command is left out, too'
grep -qF 'build penstock again' build/penstockConfig.cmake || fail 'it does not tell users what to do'
