#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: flavour_program.sh PENSTOCK CASE
# Holds `penstock` and `penstock-legacy` to what a user sees of their flavour. Each case is a test of its own.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"

name=$(basename "$penstock")
[[ $(flavour) == legacy ]] && words='legacy default stream' || words='per-thread default streams'

case $2 in
  HelpsInLinesThatFitAndSaysItsExitCodes)
    for command in '' $("$penstock" --help | sed -nE 's/^  ([a-z]+)  +[A-Z].*/\1/p'); do
      run ${command:+"$command"} --help
      expect_code 0
      awk 'length($0) > 100' out | grep -q . && fail "$command: lines of more than 100 characters: $(awk 'length($0) > 100' out)"
      grep -qx 'Exit codes:' out || fail "$command: without exit codes"
      cp out by_option
      run help ${command:+"$command"}
      expect_code 0
      cmp -s out by_option || fail "help $command is another text"
    done
    run --version
    cp out by_option
    run -V
    cmp -s out by_option || fail '-V is another text'
    ;;
  KnowsWhatATypingErrorMeant)
    run bnech
    expect_code 2
    expect_err 'did you mean bench?'
    run help bnech
    expect_code 2
    expect_err 'did you mean bench?'
    run bench --prodcers 2
    expect_code 2
    expect_err 'did you mean --producers?'
    run bench --colour red
    expect_code 2
    ! grep -q 'did you mean' err || fail "it guesses: $(cat err)"
    ;;
  SaysItsName)
    run --help
    expect_code 0
    expect_out "Usage: $name "
    run no-such-command
    expect_code 2
    expect_err "($name --help shows"
    ;;
  SaysWhichDefaultStreamItMeans)
    run --version
    expect_code 0
    expect_out ", $words"
    run doctor --no-probe
    expect_code 0
    grep -q "^penstock .*, $words" out || fail "no line with it: $(cat out)"
    run doctor --no-probe --json
    expect_code 0
    expect_out "\"flavour\": \"$(flavour)\""
    run lab --device cpu --json legacy-beside
    expect_code 0
    expect_out "\"flavour\":\"$(flavour)\""
    ;;
  *) fail "no case $2" ;;
esac
