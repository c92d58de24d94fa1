#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# readme.sh ROOT: the C++ and C of the README and of the pages in docs/ is that of the examples (the README's that of one with a kernel
# of its own, the first block of first-pipeline.md a whole one, the others parts), the exit codes are the command's, the README is
# short, the files that pages link to are there, and the index of docs/ names every page.
# A decision is on one page of a topic, which the index names; the pages are short together, and only they are cited.
# One line for each that differs.
set -euo pipefail
export LC_ALL=C
cd "$1"
broken=0

complain() {
  echo "$*"
  broken=1
}

# cpp_block PAGE N: the N-th block of C++ or C of the page.
cpp_block() {
  awk -v wanted="$2" '/^```(cpp|c)$/ { inside = ++number == wanted; next } /^```$/ { inside = 0 } inside' "$1"
}

# Its first line is the licence.
whole=docs/first-pipeline.md
diff -u --label $whole --label examples/010_transform.cpp <(cpp_block $whole 1) <(tail -n +2 examples/010_transform.cpp) ||
  complain "$whole: the first example is not that of the file; copy it anew"

# The README begins with a kernel of the user's own; all of its blocks are of that program.
[[ $(cpp_block README.md 1) == __global__* ]] || complain 'README.md: the first block of C++ is no kernel'
own_kernel=$(<examples/030_own_kernel.cu)
for ((number = 1; number <= $(grep -c '^```cpp$' README.md); ++number)); do
  [[ $own_kernel == *"$(cpp_block README.md "$number")"* ]] ||
    complain "README.md: C++ block $number is not in examples/030_own_kernel.cu; copy it anew"
done

pages=(*.md docs/*.md docs/commands/*.md docs/components/*.md docs/course/*.md)
for page in docs/*.md docs/commands/README.md docs/components/*.md docs/course/README.md docs/decisions/README.md; do
  [[ $page == docs/README.md ]] || grep -qF "](${page#docs/})" docs/README.md || complain "docs/README.md: has no $page"
done
examples=()
for example in examples/*.c examples/*.cpp examples/*.cu examples/course/*.cpp examples/course/*.cu; do examples+=("$(<"$example")"); done
blocks=0
for page in "${pages[@]}"; do
  for ((number = 1; number <= $(grep -cE '^```(cpp|c)$' "$page"); ++number)); do
    block=$(cpp_block "$page" "$number")
    found=''
    for example in "${examples[@]}"; do
      if [[ $example == *"$block"* ]]; then
        found=1
        break
      fi
    done
    [[ -n $block && $found ]] || complain "$page: block $number of C++ or C is in no example; copy it anew"
    blocks=$((blocks + 1))
  done
done
((blocks >= 34)) || complain "there are $blocks blocks of C++ and C in all pages; there were more"

diff -u --label docs/commands/README.md --label exit_code.hpp <(sed -nE 's/^\| ([0-9]+) \|.*/\1/p' docs/commands/README.md) \
  <(sed -nE 's/^ *exit_[a-z_]+ = ([0-9]+).*/\1/p' src/programs/command/ending.hpp) ||
  complain 'docs/commands/README.md: its exit codes are not those of the command'

lines=$(wc -l <README.md)
((lines <= 160)) || complain "README.md: $lines lines; 160 are enough, and the pages in docs/ have room"

decisions=(docs/decisions/*.md)
tree=(--exclude-dir=.git --exclude-dir=build --exclude-dir=corpus --exclude-dir=decisions)
while IFS=$'\t' read -r page target; do
  folder=./$page
  [[ -e ${folder%/*}/$target ]] || complain "$page: there is no $target"
done < <(awk '
  FNR == 1 { inside = 0 }
  /^```/ { inside = !inside }
  !inside {
    for (rest = $0; match(rest, /\]\([^)#]+/); rest = substr(rest, RSTART + RLENGTH)) {
      target = substr(rest, RSTART + 2, RLENGTH - 2)
      if (target !~ /^https?:/) print FILENAME "\t" target
    }
  }' "${pages[@]}" "${decisions[@]}" docs/decisions/archive/*.md)

words=$(cat "${decisions[@]}" | wc -w)
((words <= 20000)) || complain "docs/decisions: $words words; 20,000 are enough, what decides nothing any more is for the archive"
for page in "${decisions[@]}"; do
  name=${page##*/}
  [[ $name == README.md ]] || grep -qF "]($name)" docs/decisions/README.md || complain "docs/decisions/README.md: has no $name"
done
# A number of an old page leads to the archive, or nowhere.
while IFS=: read -r path line cited; do
  [[ -e docs/decisions/${cited#*decisions/} ]] || complain "$path:$line: there is no $cited"
  if [[ $cited == *archive/* ]]; then complain "$path:$line: cites the archive, which is not kept true"; fi
done < <(grep -rInoE "${tree[@]}" '\<decisions/[a-z0-9/-]+\.md' .)
while IFS= read -r cited; do
  complain "$cited: cite the page of the topic"
done < <(grep -rInoE "${tree[@]}" '\<decisions?[/ ][0-9]{4}\>' .)
exit $broken
