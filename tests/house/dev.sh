#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dev.sh SOURCE: what ./dev says of its commands, none of which is run.
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
exit $failed
