#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# record.sh BIN: records on a GPU what `penstock watch` says of programs of the course, as NAME.json beside this script. BIN has
# penstock and the programs, as build/release/bin does. `penstock watch --read NAME.json` shows a record on any machine.
#
# A record is kept only if its claim holds. tests/programs/watched_program.sh reads the same list.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
trap 'rm -f "$here"/*.json.new' EXIT
# Each line: a program with its arguments, and what must hold of it.
grep -v '^#' "$here/claims.txt" | while IFS=: read -r program claim; do
  read -ra words <<< "$program"
  name=${words[0]}
  ./penstock watch --json --expect "${claim# }" -- "./$name" "${words[@]:1}" < /dev/null > "$here/$name.json.new"
  mv "$here/$name.json.new" "$here/$name.json"
  echo "recorded $name"
done
