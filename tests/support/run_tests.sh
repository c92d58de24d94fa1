#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-tests [GOOGLETEST OPTION...]             runs every test program and example of this bundle, one after the other
# run-tests --memcheck [GOOGLETEST OPTION...]  runs those that use a GPU under compute-sanitizer, which lets no kernel run
#                                              beside another; tests that need that, or make faults, are skipped
# run-tests --racecheck [GOOGLETEST OPTION...] runs those of the kernels under its check for races in shared memory
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

under=(timeout 600)
programs=(bin/*_tests bin/[0-9]*)
if [[ ${1:-} == --memcheck ]]; then
  shift
  # What tests provoke from the runtime, such as an allocation that is too large, is no error of ours.
  under=(timeout 900 compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 9)
  programs=(bin/*gpu_tests)
  export PENSTOCK_ONE_KERNEL_AT_A_TIME=1
  # 65,534 tiles at a time are not for its pace.
  set -- '--gtest_filter=-*LaneOfManyTiles*' "$@"
fi

if [[ ${1:-} == --racecheck ]]; then
  shift
  under=(timeout 900 compute-sanitizer --tool racecheck --error-exitcode 9)
  programs=(bin/*kernels*gpu_tests)
  export PENSTOCK_ONE_KERNEL_AT_A_TIME=1
fi

failed=()
for program in "${programs[@]}"; do
  printf '\n== %s\n' "$program"
  options=()
  if [[ $program == *_tests ]]; then options=(--gtest_brief=1 "$@"); fi
  "${under[@]}" "$program" "${options[@]}" || failed+=("$program")
done
printf '\n== summary\n%d of %d programs passed\n' $((${#programs[@]} - ${#failed[@]})) ${#programs[@]}
((${#failed[@]} == 0)) || {
  printf 'FAILED %s\n' "${failed[@]}"
  exit 1
}
