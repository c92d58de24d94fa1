# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the tests of jobs begin with: `JOB.sh PROGRAM CASE` sources it. It leaves them in a folder of their own.
set -euo pipefail
export LC_ALL=C
# shellcheck disable=SC2034 # Those that source it use them.
program=$1 case=$2
# shellcheck disable=SC2034
here=$(dirname "$(realpath "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
  echo "$*" >&2
  exit 1
}
# `out` and `expected` have the same lines, in whatever order.
same_lines() {
  sort <out >out.sorted
  sort <expected >expected.sorted
  cmp -s out.sorted expected.sorted || fail "$(diff out.sorted expected.sorted | head -20)"
}
