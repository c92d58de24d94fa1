#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: doctor_program.sh PENSTOCK CASE
# Holds `penstock doctor` to what a user sees: output, standard error, exit code.
# Each case is a test of its own.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"

case $2 in
  DescribesTheMachine)
    run doctor --no-probe
    expect_code 0
    for label in penstock host machine memory GPU remarks; do
      grep -q "^$label" out || fail "no line with $label: $(cat out)"
    done
    run doctor --no-probe --json
    expect_code 0
    expect_out '"probe": null'
    ;;
  DescribesTheMachineEvenIfTheDeviceCannotBeHad)
    run doctor --device cuda:99
    expect_code 4
    expect_out 'machine '
    expect_out '- The probe failed: '
    run doctor --device cuda:99 --json
    expect_code 4
    expect_out '"cpus"'
    expect_out '"probe_problem": "'
    ;;
  SaysThatATinyFileMeansNothing)
    printf hello > tiny
    run doctor --device cpu --read tiny
    skip_if_short_of_memory
    expect_code 0
    expect_out 'only 5 B: too small'
    ;;
  BadOptionsAreOneLineAndExitCodeTwo)
    expect_bad_options doctor << 'WORDS'
--device gpu
--device cuda:x
--producers 5000
--read nowhere
--read /dev/null
--read /proc/version --no-probe
--device cpu --no-probe
--no-such-option
WORDS
    run doctor --device cpu --read ''
    expect_code 2
    expect_err "--read: '' names no file"
    run doctor --device all
    expect_code 2
    expect_err "'all' may be several devices, and here it is one: say auto, cpu, cuda, cuda:N or model:NAME."
    run doctor --producers many
    grep -qF "'many' is not a whole number from 0 to 1024 (penstock doctor --help" err || fail "$(cat err)"
    ;;
  StopsCleanlyWhenInterrupted)
    # A file that it reads for minutes, so that it is at it however late the signal comes.
    truncate -s 1T large
    listening doctor --device cpu --read large > out 2> err &
    probing=$!
    # From here on it listens. Where memory is short it is soon done.
    until grep -qsx ps-signals "/proc/$probing"/task/*/comm || ! kill -0 "$probing" 2> /dev/null; do :; done
    kill -INT "$probing" 2> /dev/null || true
    code=0
    wait "$probing" || code=$?
    skip_if_short_of_memory
    expect_code 130
    grep -qF Interrupted err || fail "$(cat err)"
    [[ $(wc -l < err) == 1 && ! -s out ]] || fail "more than one line: $(cat out err)"
    ;;
  *) fail "no case $2" ;;
esac
