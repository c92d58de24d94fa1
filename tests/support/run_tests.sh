#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-tests [GOOGLETEST OPTION...]: runs every test program and example of this bundle, one after the other, and sums up.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

failed=()
programs=(bin/*_tests bin/[0-9]*)
for program in "${programs[@]}"; do
  printf '\n== %s\n' "$program"
  options=()
  if [[ $program == *_tests ]]; then options=(--gtest_brief=1 "$@"); fi
  timeout 600 "$program" "${options[@]}" || failed+=("$program")
done
printf '\n== summary\n%d of %d programs passed\n' $((${#programs[@]} - ${#failed[@]})) ${#programs[@]}
((${#failed[@]} == 0)) || {
  printf 'FAILED %s\n' "${failed[@]}"
  exit 1
}
