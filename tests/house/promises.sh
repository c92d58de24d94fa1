#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# promises.sh SOURCE: each test that docs/lease.md names by `Suite.Name` or `Name` is there. Its tables have the names in the last column
# or in a numbered list.
set -euo pipefail
cd "$1"
failed=0 count=0
# shellcheck disable=SC2016  # Backticks are Markdown's.
while read -r name; do
  count=$((count + 1))
  if [[ $name == *.* ]]; then
    grep -rqE "^TEST(_F|_P)?\(${name%.*}, ${name#*.}\)" tests && continue
  else
    grep -rqE "(^| )${name}\)|NAME [a-z.]+\.${name}( |$)" tests && continue
  fi
  echo "docs/lease.md: there is no test $name"
  failed=1
done < <(
  sed -nE '/^## What is promised/,/^In a file/{/^([0-9]+\.|   ) /p}' docs/lease.md | grep -oE '`[A-Za-z.]+`' | tr -d '`'
  sed -n '/^## What users of other systems met/,$p' docs/lease.md | grep -E '^\| ' | sed -E 's/ \|$//; s/.*\| //' |
    grep -oE '`[A-Za-z.]+`' | tr -d '`'
)
# A page that lost its tables would have none.
((count >= 30)) || { echo "docs/lease.md names $count tests" && failed=1; }
exit $failed
