#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shards_program.sh 049_SHARDS MPIRUN: two ranks come to the figure of one process, also once the job is started again.
set -euo pipefail
program=$(realpath "$1") mpirun=$2
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
cd "$world"
fail() {
  echo "FAILED: $1" >&2
  exit 1
}
# Open MPI refuses these without being asked. With one CPU there is room for one rank.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none # It wants to read the memory of another process, which a container refuses.

files=()
for ((k = 1; k <= 20; ++k)); do
  seq "$k" >"file$k"
  files+=("file$k")
done
# 2 MiB and more: several tiles on several lanes.
seq 400000 >large
files+=(large)
lines=$(cat "${files[@]}" | wc -l)

[[ $("$program" alone "${files[@]}") == "$lines lines" ]] || fail 'one process counts other lines'
[[ $("$mpirun" -n 2 "$program" ledger "${files[@]}") == "$lines lines" ]] || fail 'two ranks count other lines'
[[ -e ledger-1-of-2 && -e ledger-2-of-2 && ! -e ledger ]] || fail 'not each rank has a ledger'
# A job that is started again reads nothing that was counted: only the ledgers are left.
rm "${files[@]}"
[[ $("$mpirun" -n 2 "$program" ledger "${files[@]}") == "$lines lines" ]] || fail 'the job that was started again counts other lines'

# Ledgers of some files are not those of others, be it of one rank only.
code=0
"$mpirun" -n 2 "$program" ledger "${files[@]}" other >out 2>err || code=$?
[[ $code != 0 && ! -s out ]] || fail "the ledgers count other files: $(cat out)"
grep -q 'is the ledger of other work (counting bytes of .*/file[0-9].*), not of this (.*/other)' err || fail "of other files it says: $(cat err)"
