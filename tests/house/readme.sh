#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# readme.sh ROOT: the README's C++ is that of the examples (the first block a whole one, the others parts), its exit codes
# are the command's, and the files that it and the pages in docs/ link to are there. One line for each that differs.
set -euo pipefail
export LC_ALL=C
cd "$1"
broken=0

complain() {
  echo "$*"
  broken=1
}

# cpp_block N: the N-th C++ block of the README.
cpp_block() {
  awk -v wanted="$1" '/^```cpp$/ { inside = ++number == wanted; next } /^```$/ { inside = 0 } inside' README.md
}

# Its first line is the licence.
diff -u --label README.md --label examples/010_transform.cpp <(cpp_block 1) <(tail -n +2 examples/010_transform.cpp) ||
  complain 'README.md: the example is not that of the file; copy it anew'

for ((number = 2; number <= $(grep -c '^```cpp$' README.md); ++number)); do
  block=$(cpp_block "$number")
  found=''
  for example in examples/*.cpp examples/*.cu; do
    if [[ $(<"$example") == *"$block"* ]]; then found=$example; fi
  done
  [[ -n $block && -n $found ]] || complain "README.md: C++ block $number is in no example; copy it anew"
done

diff -u --label README.md --label exit_code.hpp <(sed -nE 's/^\| ([0-9]+) \|.*/\1/p' README.md) \
  <(sed -nE 's/^ *exit_[a-z_]+ = ([0-9]+).*/\1/p' src/penstock/cli/exit_code.hpp) ||
  complain 'README.md: its exit codes are not those of the command'

for page in *.md docs/*.md docs/decisions/*.md; do
  while read -r target; do
    [[ -e $(dirname "$page")/$target ]] || complain "$page: there is no $target"
  done < <(awk '/^```/ { inside = !inside } !inside' "$page" | { grep -oE '\]\([^)#]+' || true; } | sed 's/^](//' |
    { grep -v '^https\?:' || true; })
done
exit $broken
