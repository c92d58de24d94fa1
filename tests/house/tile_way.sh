#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tile_way.sh ROOT [--update]: each row of "The tile's way" in docs/architecture.md names a function and the line at which it
# begins, and in its last column functions that lead to the next row. Prints a line for each row that is wrong, for each
# function that no class has, and if their number is not that of the page. Exits 1 then, or if there are no rows. --update
# writes the lines as they are.
set -euo pipefail
export LC_ALL=C
root=$1 update=${2:-}
page=$root/docs/architecture.md
tick='`'
row="^\| [0-9]+ \| $tick([A-Za-z_:]+)$tick \| \[([a-z_]+\.cpp):([0-9]+)\]\(\.\./(src/[a-z_/]+\.cpp)#L([0-9]+)\)"
mapfile -t lines <"$page"
rows=0 wrong=0 functions=0
for i in "${!lines[@]}"; do
  [[ ${lines[i]} =~ $row ]] || continue
  function=${BASH_REMATCH[1]} name=${BASH_REMATCH[2]} path=${BASH_REMATCH[4]}
  said="[$name:${BASH_REMATCH[3]}](../$path#L${BASH_REMATCH[5]})"
  rows=$((rows + 1)) functions=$((functions + 1))
  # What leads to the next row may be defined in its class.
  while read -r via; do
    functions=$((functions + 1))
    grep -rlE "\b(class|struct) ${via%%::*}\b" --include="*.[ch]pp" "$root/src/engine" "$root/include" |
      xargs -r grep -qE "^ +[a-zA-Z].*[ &*]${via##*::}\(" ||
      { echo "docs/architecture.md: $via is not defined in src/engine" && wrong=1; }
  done < <(grep -oE "[A-Za-z]+::[a-z_]+" <<<"${lines[i]##* | }")
  # Its definition is the first line that begins in the first column and has its name before a parenthesis.
  begins=$(grep -nE "^[A-Za-z].*[ &*]$function\(" "$root/$path" | head -n1 | cut -d: -f1 || true)
  right="[$name:$begins](../$path#L$begins)"
  if [[ -z $begins ]]; then
    echo "docs/architecture.md: $function is not defined in $path"
    wrong=1
  elif [[ $said != "$right" ]]; then
    if [[ $update == --update ]]; then
      lines[i]=${lines[i]/"$said"/"$right"}
    else
      echo "docs/architecture.md: $function begins at $path:$begins; tests/house/tile_way.sh . --update writes that"
      wrong=1
    fi
  fi
done
if ((rows == 0)); then
  echo "docs/architecture.md: the tile's way has no rows"
  exit 1
fi
if ! grep -q "these are $functions functions" "$page"; then
  echo "docs/architecture.md: the tile's way goes through $functions functions"
  wrong=1
fi
if [[ $update == --update ]]; then printf '%s\n' "${lines[@]}" >"$page"; fi
exit $wrong
