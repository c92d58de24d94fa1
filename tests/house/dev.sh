#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dev.sh SOURCE: what ./dev says of its commands, none of which is run, and what it makes no release of.
set -euo pipefail
cd "$1"
failed=0
# expect CODE PATTERN WORD...: what it ends with, and a line that it prints.
expect() {
  local code=0 told
  told=$(timeout 20 ./dev "${@:3}" 2>&1) || code=$?
  if [[ $code != "$1" ]] || ! grep -qE -- "$2" <<<"$told"; then
    printf 'dev %s: code %s instead of %s, or no line like: %s\n%s\n' "${*:3}" "$code" "$1" "$2" "$told"
    failed=1
  fi
}
expect 0 '^  build  ' help
expect 0 '^  demo +hash real files' demo --help
expect 0 '^  check --changed' help check
expect 2 '^dev: no such command: biuld; did you mean build\? ' biuld
expect 2 '^dev: no such command: nonsense; \./dev help' nonsense
expect 2 '^dev: no such command: nonsense; ' help nonsense
[[ $(./dev clean -h) != *bundle* ]] || { echo 'the help of one command has another' && failed=1; }
# A repository of two files, of which version 0.2.0, say, has its tag.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp dev CMakeLists.txt "$scratch"
cd "$scratch"
git=(git -c user.name=test -c user.email=test@localhost -c commit.gpgsign=false -c tag.gpgsign=false)
"${git[@]}" init --quiet
"${git[@]}" add .
expect 1 'changes that are not committed: a release is of a commit' release build/release-of-it
"${git[@]}" commit --quiet --message=released
"${git[@]}" tag "v$(sed -nE 's/^project\(penstock VERSION ([0-9.]+) .*/\1/p' CMakeLists.txt)"
"${git[@]}" commit --quiet --allow-empty --message=more
expect 1 '^dev: v[0-9.]+ is the tag of another commit: ' release build/release-of-it
exit $failed
