#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# without_library.sh ROOT CXX LIBRARY: where this library is not found (SQLite3, PostgreSQL, Nats, JPEG), all that can be without it
# is configured, and what is left out is said. An address of a PostgreSQL server is refused then. Else nothing is compiled.
set -euo pipefail
root=$1 cxx=$2 library=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
  cat said
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# `needy`: sources and definitions that need it. `named`: its name in files of pkg-config. `stays`: sources that do not need it.
case $library in
  SQLite3)
    sentence="the component 'lease' is not built: SQLite 3.40 is not here; install libsqlite3-dev"
    needy='PENSTOCK_WITH_LEASE|/src/lease/|/tests/lease/' named=sqlite stays=/src/programs/hash/
    ;;
  PostgreSQL)
    sentence='there are no ledgers in PostgreSQL: its library is not here; install libpq-dev'
    needy='PENSTOCK_WITH_POSTGRES|/src/lease/postgres/' named=libpq stays=/src/lease/ledgers/
    ;;
  Nats)
    sentence='no work comes from NATS: its library is not here; install libnats-dev'
    needy='/src/lease/nats/|/tests/lease/nats_' named=libnats stays=/src/lease/ledgers/
    ;;
  JPEG)
    sentence='images are not decoded, as libjpeg is not here; install libjpeg-dev'
    needy='PENSTOCK_WITH_JPEG|/src/images/jpeg/|/examples/jobs/images/|/tests/images/' named=libjpeg stays=/kernels/images/
    ;;
  *) echo "no such library: $library" >&2 && exit 2 ;;
esac

cmake -S "$root" -B build -G Ninja -D CMAKE_CXX_COMPILER="$cxx" -D PENSTOCK_CUDA=OFF -D "CMAKE_DISABLE_FIND_PACKAGE_$library=ON" \
  -D CMAKE_EXPORT_COMPILE_COMMANDS=ON >said 2>&1 || fail 'it is not configured'
if [[ $library != @(SQLite3|JPEG) ]] && grep -qF "the component 'lease' is not built" said; then
  echo 'there is no SQLite either'
  exit 77
fi
grep -qF "$sentence" said || fail 'it does not say so'
if grep -E "$needy" build/compile_commands.json >said; then fail "these sources need $library"; fi
if grep -F "$named" build/*.pc >said; then fail "this needs $library"; fi
grep -qF "$stays" build/compile_commands.json || fail "$stays is left out, too"
if [[ $library == SQLite3 ]]; then
  grep -qF 'build penstock again' build/penstockConfig.cmake || fail 'it does not tell users what to do'
fi
if [[ $library == JPEG ]]; then
  # What is there in its place can be compiled, and says what to do.
  "$cxx" -std=c++20 -DPENSTOCK_PER_THREAD=1 -DCUDA_API_PER_THREAD_DEFAULT_STREAM=1 -I "$root/include" -I "$root/src" -c "$root/src/c/image_runs.cpp" -o image_runs.o >said 2>&1 ||
    fail 'it is not compiled'
  grep -qF 'install libjpeg-dev, and build penstock again' image_runs.o || fail 'it does not say what to do'
fi
[[ $library == PostgreSQL ]] || exit 0

# What is compiled then refuses such an address; a ledger in a file is a stand-in.
cat >main.cpp <<'END'
#include <cstdio>

#include "penstock/error.hpp"
#include "penstock/lease/open_ledger.hpp"
#include "penstock/lease/sqlite_ledger.hpp"

namespace penstock {
class LedgerStore {};
SqliteLedger::SqliteLedger(std::string const&, LedgerOptions) {}
SqliteLedger::~SqliteLedger() = default;
bool SqliteLedger::enqueue(std::span<LeaseWork const>, bool) { return false; }
std::unique_ptr<LeaseOwner> SqliteLedger::join(OwnerOptions) { return nullptr; }
LedgerProgress SqliteLedger::progress() { return {}; }
std::vector<ParkedLease> SqliteLedger::parked(std::uint64_t, std::size_t) { return {}; }
bool SqliteLedger::unpark(std::uint64_t) { return false; }
std::vector<LeaseAnswer> SqliteLedger::answers(std::uint64_t, std::size_t) { return {}; }
}  // namespace penstock

int main() {
  penstock::open_ledger("file");
  try {
    penstock::open_ledger("postgresql://host/database");
  } catch (penstock::Error const& refusal) {
    std::puts(refusal.what());
  }
}
END
"$cxx" -std=c++20 -I "$root/include" -I "$root/src" main.cpp "$root/src/lease/ledgers/open_ledger.cpp" -o main >said 2>&1 || fail 'it is not compiled'
./main >said 2>&1 || fail 'it ends'
grep -qF 'This build has no ledgers in PostgreSQL' said || fail 'it does not say so'
grep -qF 'install libpq-dev' said || fail 'it does not say what to do'
