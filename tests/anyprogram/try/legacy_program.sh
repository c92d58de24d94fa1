#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# legacy_program.sh PENSTOCK CASE FOLDER: penstock try on a GPU, on programs that name no stream, which are in FOLDER.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/../../programs/program_world.sh"
folder=$(realpath "$3")
nvidia-smi > /dev/null 2>&1 || exit 77

# figure EXPRESSION: of the results in out, as Python has it.
figure() { python3 -c "import json; result = json.load(open('out')); print($1)"; }
expect_figure() { [[ $(figure "$1") == True ]] || fail "not so: $1: $(cat out)"; }

case $2 in
  Gains)
    for program in legacy legacy-shared; do
      run try --json --repeats 3 --no-watch -- "$folder/$program" threads
      expect_code 0
      expect_figure 'result["effect"] == "gains" and result["right"] is True'
    done
    ;;
  KnowsWhatIsBuiltPerThread)
    run try --json --repeats 3 --no-watch -- "$folder/legacy-per-thread" threads
    expect_code 0
    expect_figure 'result["effect"] == "no difference" and "built for per-thread" in result["calls"]["sentence"]'
    ;;
  KnowsWhatNamesItsStreams)
    run try --json --repeats 3 --no-watch -- "$folder/legacy" own
    expect_code 0
    expect_figure 'result["effect"] == "no difference" and "name a stream" in result["calls"]["sentence"]'
    ;;
  NamesThePairThatNeedsTheLegacyStream)
    run try --json --repeats 3 -- "$folder/legacy" fence
    expect_code 1
    expect_figure 'result["right"] is False and result["watched"]["hazards"] == 1'
    ;;
  AccusesNoneThatEventsOrder)
    run try --json --repeats 3 -- "$folder/legacy" event
    expect_code 0
    expect_figure 'result["right"] is True and result["watched"]["hazards"] == 0'
    ;;
  *) fail "no such case: $2" ;;
esac
