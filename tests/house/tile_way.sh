#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tile_way.sh ROOT [--update]: each row of "The tile's way" in docs/architecture.md names a function and the line at which it
# begins. Prints one line per row that is wrong, and exits 1 if there is one or if there are no rows. --update writes the lines
# as they are.
set -euo pipefail
export LC_ALL=C
root=$1 update=${2:-}
page=$root/docs/architecture.md
row='^\| [0-9]+ \| `([A-Za-z_:]+)` \| \[([a-z_]+\.cpp):([0-9]+)\]\(\.\./(src/[a-z_/]+\.cpp)#L([0-9]+)\)'
rows=0 wrong=0
while IFS= read -r line; do
  [[ $line =~ $row ]] || continue
  function=${BASH_REMATCH[1]} name=${BASH_REMATCH[2]} said=${BASH_REMATCH[3]} path=${BASH_REMATCH[4]} linked=${BASH_REMATCH[5]}
  rows=$((rows + 1))
  # Its definition is the line that begins in the first column and has its name before the parenthesis.
  begins=$(grep -nE "^[A-Za-z].* ?[&*]?$function\(" "$root/$path" | head -n1 | cut -d: -f1 || true)
  if [[ -z $begins ]]; then
    echo "docs/architecture.md: $function is not defined in $path"
    wrong=1
  elif [[ $update == --update ]]; then
    sed -i "s|\[$name:$said\](../$path#L$linked) \(.*\)|&|; /\`$function\`/s|\[$name:[0-9]*\](\.\./$path#L[0-9]*)|[$name:$begins](../$path#L$begins)|" "$page"
  elif [[ $begins != "$said" || $begins != "$linked" ]]; then
    echo "docs/architecture.md: $function begins at $path:$begins and not at line $said; tests/house/tile_way.sh . --update mends it"
    wrong=1
  fi
done <"$page"
if ((rows == 0)); then
  echo "docs/architecture.md: the tile's way has no rows"
  exit 1
fi
exit $wrong
