#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# without_postgres.sh ROOT CXX: where libpq is not found, all but ledgers in PostgreSQL is configured, that is said, and an address of
# such a server is refused.
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
cmake -S "$root" -B build -G Ninja -D CMAKE_CXX_COMPILER="$cxx" -D PENSTOCK_CUDA=OFF -D CMAKE_DISABLE_FIND_PACKAGE_PostgreSQL=ON \
  -D CMAKE_EXPORT_COMPILE_COMMANDS=ON >said 2>&1 || fail 'it is not configured'
if grep -qF "the component 'lease' is not built" said; then
  echo 'there is no SQLite either'
  exit 77
fi
grep -qF 'there are no ledgers in PostgreSQL: its library is not here; install libpq-dev' said || fail 'it does not say so'
if grep -E 'PENSTOCK_WITH_POSTGRES|/src/lease/postgres/' build/compile_commands.json >said; then fail 'these sources need libpq'; fi
if grep -F libpq build/*.pc >said; then fail 'this needs libpq'; fi
grep -qF '/src/lease/ledgers/' build/compile_commands.json || fail 'ledgers in files are left out, too'
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
