#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# symbols.sh BUILD NM [RUNTIME]: holds the symbol tables of every object, library and program that ninja makes in BUILD to
# the flavours. Which of CUDA's calls have two variants is read from RUNTIME, so that a new toolkit needs no new list.
# Prints one line per broken rule and exits 1 if there is one.
#
# - No object is of two flavours: of what there is twice, in CUDA or in penstock, it has one variant only.
# - A program and all that it is linked from are of one flavour; a library is of that which its name says, and one that is
#   built once is of none.
# - A library launches nothing by <<<>>>, which may mean stream 0, and calls nothing that always means it, as cudaMemcpy.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
build=$1 nm=$2 runtime=${3:-}
[[ -f $build/build.ninja ]] || {
  echo 'no build of ninja: nothing is looked at'
  exit 77
}
cd "$build"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
touch "$scratch/variants"
if [[ -n $runtime ]]; then
  "$nm" -P --defined-only "$runtime" 2>/dev/null | awk '$1 ~ /^_*cuda.*_pt[sd][sz]$/ { print $1 }' | sort -u >"$scratch/variants"
  [[ -s $scratch/variants ]] || { echo "$runtime: has no per-thread calls: is it the CUDA runtime?" && exit 1; }
fi

# What ninja makes, without what other builds inside of this one make.
ninja -t targets all | sed -nE 's/^(.*): .*_(COMPILER|LINKER)_.*/\1/p' >"$scratch/made"
while read -r file; do
  if [[ ! -e $file ]]; then continue; fi
  case $file in
    *.o) echo "$file" >>"$scratch/objects" ;;
    *.a) echo "$file" >>"$scratch/libraries" ;;
    *) echo "$file" >>"$scratch/programs" ;;
  esac
done <"$scratch/made"
touch "$scratch/objects" "$scratch/libraries" "$scratch/programs"

# links: a line for each program and library, and all that it is made of.
cat "$scratch/programs" "$scratch/libraries" | tr '\n' '\0' | xargs -0r ninja -t query | awk '
  /^[^ ].*:$/ { file = substr($0, 1, length($0) - 1); over = 0 }
  /^  outputs:/ { over = 1 }
  !over && (/^    [^|]*\.[oa]$/ || /^    \| .*\.[oa]$/) { print file, $NF }' >"$scratch/links"

# symbols: FILE NAME TYPE for each object, FILE being as ninja has it; names of penstock's are readable.
tr '\n' '\0' <"$scratch/objects" | xargs -0 "$nm" -APC 2>/dev/null | sed -E 's/ [a-f0-9]+( [a-f0-9]+)?$//' >"$scratch/symbols"

awk -v scratch="$scratch" -f "$here/symbols.awk" "$scratch/variants" "$scratch/libraries" "$scratch/programs" "$scratch/symbols" "$scratch/links" >"$scratch/complaints" || broken=1
sort -u "$scratch/complaints"
printf '%s objects, %s libraries, %s programs\n' "$(wc -l <"$scratch/objects")" "$(wc -l <"$scratch/libraries")" \
  "$(wc -l <"$scratch/programs")" >&2
exit "${broken:-0}"
