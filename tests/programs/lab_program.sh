#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: lab_program.sh PENSTOCK CASE
# Holds `penstock lab` to what a user sees: output, standard error, exit code.
# Each case is a test of its own.
root=$(realpath "$(dirname "$0")/../..")
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"

case $2 in
  RunsEveryExperimentThatItLists)
    run lab --list
    expect_code 0
    grep -v '^ ' out > listed
    [[ -s listed && $(sort listed | uniq -d) == '' ]] || fail "$(cat out)"
    run lab --device cpu
    while read -r name; do
      grep -qx "$name" out || fail "$name did not run: $(cat out)"
    done < listed
    expect_out "CPU device; stream 0 is $(flavour)"
    # Beside other processes that are busy some verdicts have no answer, and say so.
    if grep -q 'could not be told' out; then
      expect_code 1
      ! grep -q 'did NOT go as expected' out || fail "$(cat out)"
    else
      ! grep -q ' NOT as expected: ' out || fail "$(grep -B 24 -A 4 ' NOT as expected: ' out)"
      expect_code 0
      expect_out "$(wc -l < listed) of $(wc -l < listed) went as expected"
    fi
    run lab --help
    expect_code 0
    while read -r name; do
      grep -qw -- "$name" out || fail "the help does not name $name: $(cat out)"
    done < listed
    ;;
  HidesACollectiveOnAModel)
    run lab --device model:h200 collective
    expect_in_time 0
    expect_out 'As expected: all sums are right'
    expect_out 'each faster than'
    for way in 'one after the other' 'no multiprocessor free' 'a quarter free' 'layer by layer' 'possible'; do
      grep -qF -- "$way" out || fail "no $way: $(cat out)"
    done
    awk 'length > 80 { exit 1 }' out || fail "wider than 80 columns: $(cat out)"
    ;;
  DrawsAndJudgesTheOnesThatAreNamed)
    run lab --device cpu legacy-beside legacy-between
    expect_code 0
    # What is drawn beside a stream depends on how long each kernel took beside the others.
    grep -E '^(legacy|  stream .  |  As expected)' out | sed -E 's/^(  stream .).*/\1/; s/:.*//' > story
    diff - story << 'LINES' || fail "$(cat out)"
legacy-beside
  stream A
  stream 0
  stream B
  As expected
legacy-between
  stream A
  stream 0
  stream B
  As expected
LINES
    run lab --device cpu legacy-beside legacy-between --trace trace.json
    expect_code 0
    expect_err 'trace.json shows 6 pieces of work in 6 rows.'
    [[ $(grep -o '"ph":"X"' trace.json | wc -l) == 6 ]] || fail "not a bar for each piece: $(cat trace.json)"
    for words in '"legacy-beside"' '"legacy-between"' '"stream A"' '"cat":"lab"'; do
      grep -qF -- "$words" trace.json || fail "no $words in the trace"
    done
    awk 'length > 80 { exit 1 }' out || fail "wider than 80 columns: $(cat out)"
    ;;
  OneObjectALineAsJson)
    run lab --device cpu --json legacy-between legacy-beside
    expect_code 0
    [[ $(wc -l < out) == 2 ]] || fail "$(cat out)"
    for key in name device flavour expectation intervals figures as_expected fact why row label start_ns end_ns; do
      [[ $(grep -c "\"$key\":" out) == 2 ]] || fail "no $key in each line: $(cat out)"
    done
    ;;
  PrintsTheProgramsOfEachExperiment)
    run lab --list
    grep -v '^ ' out > listed
    while read -r name; do
      run lab --source "$name"
      expect_code 0
      [[ ! -s err && -s out ]] || fail "$name: $(cat out err)"
      # Each file is whole, behind its path; between two is an empty line.
      first=1
      while read -r path; do
        ((first)) || echo
        first=0
        printf '// %s\n' "$path"
        cat "$root/$path"
      done < <(sed -nE 's|^// (examples/.*)$|\1|p' out) > expected
      diff expected out || fail "$name does not have the programs as they are in the sources"
    done < listed
    # What two experiments share is printed once.
    run lab --source legacy-between legacy-beside
    [[ $(grep -c '^// examples/course/trio.cpp$' out) == 1 ]] || fail "$(cat out)"
    ;;
  BadOptionsAreOneLineAndExitCodeTwo)
    expect_bad_options lab << 'WORDS'
no-such-experiment
legacy-between no-such-experiment
--device gpu
--list --json
--list --trace trace.json
--source --list legacy-between
--source --json legacy-between
--trace nowhere/trace.json
--no-such-option
WORDS
    run lab --device all
    expect_code 2
    expect_err "'all' may be several devices, and here it is one: say auto, cpu, cuda, cuda:N or model:NAME."
    run lab no-such-experiment
    expect_err "penstock lab --list shows which there are"
    run lab no-hlep-link
    expect_err "There is no experiment 'no-hlep-link': did you mean no-help-link? (penstock lab --list"
    ;;
  SaysThatItsDeviceCannotBeHad)
    run lab --device cuda:99
    expect_code 4
    [[ ! -s out && $(wc -l < err) == 1 ]] || fail "$(cat out err)"
    ;;
  StopsCleanlyWhenInterrupted)
    # Two minutes of them, so that it is at it however late the signal comes.
    mapfile -t many < <(yes legacy-between | head -n 2000)
    listening lab --device cpu "${many[@]}" > out 2> err &
    trying=$!
    # From here on it listens.
    until grep -qsx ps-signals "/proc/$trying"/task/*/comm; do
      kill -0 "$trying" || fail 'it never listened'
    done
    kill -INT "$trying"
    code=0
    wait "$trying" || code=$?
    expect_code 130
    grep -qF Interrupted err || fail "$(cat err)"
    [[ $(wc -l < err) == 1 ]] || fail "more than one line: $(cat err)"
    ;;
  *) fail "no case $2" ;;
esac
