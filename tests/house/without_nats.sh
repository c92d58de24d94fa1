#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# without_nats.sh ROOT CXX: where libnats is not found, all but messages of NATS is configured, and that is said. Nothing is compiled.
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
cmake -S "$root" -B build -G Ninja -D CMAKE_CXX_COMPILER="$cxx" -D PENSTOCK_CUDA=OFF -D CMAKE_DISABLE_FIND_PACKAGE_Nats=ON \
  -D CMAKE_EXPORT_COMPILE_COMMANDS=ON >said 2>&1 || fail 'it is not configured'
if grep -qF "the component 'lease' is not built" said; then
  echo 'there is no SQLite either'
  exit 77
fi
grep -qF 'no work comes from NATS: its library is not here; install libnats-dev' said || fail 'it does not say so'
if grep -E '/src/lease/nats/|/tests/lease/nats_' build/compile_commands.json >said; then fail 'these sources need libnats'; fi
if grep -F libnats build/*.pc >said; then fail 'this needs libnats'; fi
grep -qF '/src/lease/ledgers/' build/compile_commands.json || fail 'ledgers are left out, too'
