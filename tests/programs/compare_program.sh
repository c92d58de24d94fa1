#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: compare_program.sh PENSTOCK CASE
# Holds `penstock compare` to what a user sees: output, standard error, exit code.
# Each case is a test of its own.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"
quick=(--device cpu --tile 4KiB --case bare)
once=("${quick[@]}" --window 20 --repeats 1)

# beside_another FROM TO: penstock beside a legacy program whose results have other words in them.
built=$penstock
beside_another() {
  [[ -e penstock ]] || cp "$built" penstock
  printf "#!/bin/sh\n'%s-legacy' \"\$@\" | sed 's/%s/%s/'\n" "$built" "$1" "$2" > penstock-legacy
  chmod +x penstock-legacy
  penstock=$PWD/penstock
}

case $2 in
  RunsBothAndSaysWhatItShows)
    run compare "${once[@]}" --producers 1,2
    expect_code 0
    expect_out 'legacy GB/s'
    expect_out 'With 2 threads, '
    run compare "${once[@]}" --producers 1,2 --csv
    expect_code 0
    grep -q '^producers,repeats,legacy_gb_per_s,.*,host,cpu,cpus,device_name,driver,version,commit,date$' out || fail "$(cat out)"
    [[ $(grep -c '^[12],1,.*,CPU device,,.*Z$' out) == 2 ]] || fail "$(cat out)"
    run compare "${once[@]}" --producers 1,2 --json
    expect_code 0
    for words in '"kind": "compare"' '"flavour": "legacy"' '"flavour": "per-thread"' '"speedups"' '"sentence"' '"graphs": "never"'; do
      expect_out "$words"
    done
    ;;
  MeasuresTheBareCaseAndTheFrameworkAsItIsUsed)
    run compare --device cpu --tile 4KiB --window 20 --repeats 1 --producers 1,2 --json --html page.html --trace trace.json
    expect_code 0
    python3 - << 'PYTHON'
import json
got = json.load(open("out"))
assert got['axes'][0] == {'name': 'case', 'values': ['bare', 'as used']}, got['axes']
cases = [(p['axes']['case'], p['axes']['producers'], p['axes']['flavour']) for p in got['points']]
assert cases == [(c, p, f) for c in ('bare', 'as used') for p in (1, 2) for f in ('legacy', 'per-thread')], cases
assert all(p['error'] is None and p['latency_us'] and p['verdict'] for p in got['points']), got['points']
assert 'signal' not in got['options'] and got['options']['tile'] == 4096, got['options']
assert 'With the framework as it is used, per-thread default streams came to ' in got['compare']['sentence'], got['compare']['sentence']
assert got['timeline']['point'] == got['compare']['baseline_timeline']['point'] + 1, 'not of one point'
json.load(open('trace.json'))
PYTHON
    # What is named is so in both.
    run compare --device cpu --tile 4KiB --window 20 --repeats 1 --producers 1 --signal callback --json
    expect_code 0
    expect_out '"signal": "callback"'
    run compare --device cpu --tile 4KiB --window 20 --repeats 1 --producers 1 --case used --json
    expect_code 0
    ! grep -q '"case"' out || fail 'one case is no axis'
    ;;
  HasAllOnItsPageThatBenchHas)
    run compare "${once[@]}" --producers 1,2 --html page.html --json
    expect_code 0
    for words in '"p999": ' '"upload_gb_per_s": ' '"bound": "' '"judged_part": ' '"baseline_timeline": {' '"name": "lane 0 upload"'; do
      expect_out "$words"
      grep -qF -- "${words/: /:}" page.html || fail "no $words on the page"
    done
    # Of each point by each build; a timeline of each build.
    [[ $(grep -c '"evidence": ' out) == 4 ]] || fail "$(grep -c '"evidence": ' out) verdicts"
    [[ $(grep -c '"p50": ' out) == 4 ]] || fail "$(grep -c '"p50": ' out) latencies"
    [[ $(grep -c '"passages": ' out) == 2 ]] || fail 'not two timelines'
    # At one point, of which each build has one.
    mapfile -t shown < <(grep -o '"point": [0-9]*' out | grep -o '[0-9]*$' | sort -n)
    ((shown[0] % 2 == 0 && shown[1] == shown[0] + 1)) || fail "timelines of the points ${shown[*]}"
    [[ $(grep -c '"repeats": 1,' out) == 4 ]] || fail 'more runs than rounds count'
    grep -qF -- 'penstock compare' page.html || fail 'not the page of a comparison'
    ;;
  # Whose results are whole without it.
  KeepsItsRoundsIfTheRunForThePageFails)
    built=$penstock
    cp "$built" penstock
    # shellcheck disable=SC2016  # It is the script that knows its words.
    printf '#!/bin/sh\ncase "$*" in *--only*) echo "penstock: It is gone." >&2; exit 4 ;; esac\nexec "%s-legacy" "$@"\n' \
      "$built" > penstock-legacy
    chmod +x penstock-legacy
    penstock=$PWD/penstock
    run compare "${once[@]}" --producers 1 --json
    expect_code 4
    expect_err 'penstock: penstock-legacy bench: It is gone.'
    expect_out '"speedups": ['
    expect_out '"Its latency, ceilings and verdict could not be had: penstock-legacy bench: It is gone."'
    expect_out '"baseline_timeline": null'
    # The other one could.
    [[ $(grep -c '"evidence": ' out) == 1 ]] || fail "$(grep -c '"evidence": ' out) verdicts"
    ;;
  # As soon as the run for the page fills, which the rounds come before.
  KeepsItsRoundsIfTheRunForThePageIsInterrupted)
    built=$penstock
    cp "$built" penstock
    # shellcheck disable=SC2016  # Likewise.
    printf '#!/bin/sh\ncase "$*" in *--only*) : > judging ;; esac\nexec "%s-legacy" "$@"\n' "$built" > penstock-legacy
    chmod +x penstock-legacy
    penstock=$PWD/penstock
    listening compare --device cpu --tile 4KiB --case bare --window 1000 --repeats 1 --producers 1 --json > out 2> err &
    compare=$!
    until [[ -e judging ]] || ! kill -0 "$compare" 2> /dev/null; do :; done
    interrupt_once_it_fills "$compare"
    expect_code 130
    expect_err 'Interrupted: what was compared until then is above'
    expect_out '"speedups": ['
    ;;
  SaysThatStreamsOfItsOwnMakeNoDifference)
    run compare "${once[@]}" --producers 2 --streams own
    expect_code 0
    expect_out 'no difference is to be expected'
    ;;
  SaysThatSomeStreamsAreOfTheWorksOwn)
    run compare "${once[@]}" --producers 2 --streams default,own
    expect_code 0
    expect_out 'Points with streams own are left out of that'
    ;;
  # A terabyte of tiles, which is no bad option.
  FailsIfAPointFailed)
    for options in '' '--expect speed_up>=1e-12' '--csv'; do
      # shellcheck disable=SC2086  # Several words are meant.
      run compare --device cpu --case bare --window 20 --repeats 1 --producers 1 --tile 4KiB,1GiB --tiles 1024 $options
      expect_code 1
      expect_err 'penstock: 1 of 2 points was not measured: tile 1 GiB in both builds.'
    done
    run compare --device cpu --case bare --window 20 --repeats 1 --producers 1 --tile 1GiB --tiles 1024
    expect_code 1
    expect_out 'failed: There is no memory for a slab of 1 TiB'
    expect_err 'penstock: The only point was not measured in both builds.'
    ;;
  # Kernels that take their time and no CPU: as many at once as CPUs may be busy, or one after the other.
  SeesTheLegacyStreamSerialise)
    run doctor --no-probe
    ! grep -q 'Only 1 threads can be busy' out || { echo 'only one thread can be busy here'; exit 77; }
    # Whoever stands still for a while in the wrong window hides it. To be seen once is enough: kernels that always take
    # turns never show it.
    for try in {1..5}; do
      run compare "${quick[@]}" --repeats 3 --window 100 --producers 1,4 --work busy:3000us --expect 'speed_up >= 1.5'
      if ((code == 0)) && grep -qF 'takes turns in a single stream' out; then break; fi
      if ((code > 1)) || grep -q '^failed: ' out; then fail "exit code $code: $(cat out err)"; fi
      ((try < 5)) || fail "not seen in $try tries: $(cat out err)"
    done
    ;;
  WritesATraceOfARunOfEachBuild)
    run compare "${once[@]}" --producers 1,2 --trace trace.json
    expect_code 0
    for words in 'penstock: penstock-legacy: trace.json shows every tile' 'penstock: trace.json has a run of each at producers '; do
      expect_err "$words"
    done
    for words in '"penstock-legacy bench"' '"penstock bench"' '"ph":"X","pid":1' '"ph":"X","pid":2' '"lane 0 upload"'; do
      grep -qF -- "$words" trace.json || fail "no $words in the trace"
    done
    [[ $(tail -n 1 trace.json) == ']}' && $(grep -c traceEvents trace.json) == 1 ]] || fail 'not one trace'
    run compare "${once[@]}" --producers 1 --trace nowhere/trace.json
    expect_code 2
    [[ ! -s out ]] || fail 'measured before it looked'
    ;;
  FailsIfTheClaimDoesNotHold)
    # However long the legacy program stands still: no machine makes that of it.
    run compare "${once[@]}" --producers 1 --expect 'speed_up >= 1e12'
    expect_code 1
    expect_err "--expect 'speed_up >= 1e12' does not hold"
    ;;
  TakesWhatOlderVersionsTook)
    run compare "${quick[@]}" --producers 1 --rounds 1 --expect 1e12
    expect_code 1
    expect_err '--rounds is now --repeats; a later version takes only that.'
    expect_err "--expect 1e12 is now written --expect 'speed_up >= 1e12'"
    expect_err "--expect 'speed_up >= 1e12' does not hold"
    run compare --rounds 0
    expect_code 2
    expect_err "--repeats: '0' is not a whole number from 1 to 100"
    ;;
  RefusesALegacyProgramOfAnotherBuild)
    beside_another '"version": "' '"version": "9.'
    run compare "${once[@]}" --producers 1
    expect_code 4
    expect_err 'penstock-legacy is of version 9.'
    expect_err 'build both from one source'
    [[ ! -s out ]] || fail 'compared all the same'
    beside_another '"flavour": "legacy"' '"flavour": "per-thread"'
    run compare "${once[@]}" --producers 1
    expect_code 4
    expect_err 'put penstock and penstock-legacy of one build into one folder'
    ;;
  DoubtsALegacyProgramOfAnUnknownBuild)
    run compare "${once[@]}" --producers 1 --csv
    [[ ! -s err ]] || fail "$(cat err)"
    run bench --device cpu --no-points --json
    ! grep -q '"commit": null' out || exit 77
    beside_another '"commit": ".*"' '"commit": null'
    run compare "${once[@]}" --producers 1
    expect_code 0
    expect_err 'penstock-legacy does not say of which commit it is'
    ;;
  RefusesBadOptionsInOneLine)
    expect_bad_options compare << 'LINES'
--producers some
--repeats 0
--expect nan
--device nonsense
LINES
    run compare --repeats 0
    expect_err 'is not a whole number from 1 to 100'
    for claim in inf nan -1 'overlap > 1' 'speed_up = 1' 'speed_up > fast'; do
      run compare --expect "$claim"
      expect_code 2
      expect_err "--expect '$claim' is no expectation: write speed_up, then >, >=, < or <=, then a number, as in"
    done
    ;;
  *)
    fail "there is no case $2"
    ;;
esac
