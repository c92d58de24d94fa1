#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# same_alone.sh PROGRAM: a seed has the same digest alone, in a process of its own, as behind others. Exits 1 if not.
set -euo pipefail
program=$1
together=$("$program" --count 60)
for seed in 2 17 38 60; do
  alone=$("$program" --seed "$seed")
  grep -qxF "$alone" <<<"$together" || {
    printf 'alone:  %s\nbehind: %s\n' "$alone" "$(grep "^seed $seed " <<<"$together")" >&2
    exit 1
  }
done
