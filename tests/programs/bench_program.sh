#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: bench_program.sh PENSTOCK CASE
# Holds `penstock bench` to what a user sees: output, standard error, exit code.
# Each case is a test of its own.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"
quick=(--device cpu --window 10 --repeats 1)

case $2 in
  MeasuresEveryCombination)
    run bench "${quick[@]}" --producers 1,2 --tile 4KiB,64KiB --load 0.3
    expect_code 0
    expect_out "$(flavour) default streams"
    [[ $(grep -cE '^[12] +(4|64) KiB +[0-9.]+ ' out) == 4 ]] || fail "$(cat out)"
    [[ ! -s err ]] || fail "$(cat err)"
    expect_out 'bound by'
    expect_out 'bound: '
    run bench --device cpu --window 10 --repeats 2 --device auto --producers 1 --tile 4KiB --load 0.3
    expect_code 0
    [[ $(grep -cE '^(cpu|auto) +[0-9.]+ ' out) == 2 ]] || fail "$(cat out)"
    run bench "${quick[@]}" --tile 4KiB --bind none,node,cpu --load 0 --no-ceilings
    expect_code 0
    [[ $(grep -cE '^(none|node|cpu) +[0-9.]+ ' out) == 3 ]] || fail "$(cat out)"
    run bench "${quick[@]}" --device cpu
    expect_code 2
    expect_err '--device has cpu twice'
    run bench "${quick[@]}" --threads 2 --depth 3 --tile 4KiB --load 0 --no-ceilings
    expect_code 0
    expect_out 'producers 2, tile 4 KiB, slots 3'
    run bench --device cpu --window 10 --repeats 1 --tile 4kb,4KiB --load 0 --no-ceilings --no-verdict --csv
    expect_code 0
    [[ $(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "repeats") at = i } NR > 1 { print $at }' out) == $'1\n1' ]] \
      || fail "not as often as --repeats says: $(cat out)"
    [[ $(cat err) == 'penstock: --tile 4kb is 4000 bytes; 4KiB is 4096.' ]] || fail "not one remark: $(cat err)"
    run bench "${quick[@]}" --tile 4kB --load 0 --no-ceilings --no-verdict
    expect_out 'tile 4000 B'
    ;;
  LaunchesGraphsIfAsked)
    run bench "${quick[@]}" --tile 4KiB --transport copies --graphs never,always,automatic --load 0 --no-ceilings
    expect_code 0
    [[ $(grep -cE '^(never|always|automatic) +[0-9.]+ ' out) == 3 ]] || fail "$(cat out)"
    ! grep -q '^note: ' out || fail "$(cat out)"
    run bench "${quick[@]}" --tile 4KiB --work copy,hash --graphs always --load 0 --no-ceilings
    expect_code 0
    [[ $(grep -c '^note: .* - No tile was launched as a graph: --work' out) == 2 ]] || fail "$(cat out)"
    ;;
  WritesATraceOfTheFastest)
    run bench "${quick[@]}" --tile 4KiB --transport copies --producers 1,2 --load 0 --trace trace.json
    expect_code 0
    expect_err 'With every tile recorded it keeps'
    grep -q '"traceEvents"' trace.json || fail "$(head -c 300 trace.json)"
    grep -q 'lane 0 upload' trace.json || fail 'no row of the upload'
    expect_err 'trace.json shows every tile. To record it took'
    run bench "${quick[@]}" --tile 4KiB --load 0 --no-ceilings --no-verdict --trace every4.json --trace-every 4 --no-trace-cost
    expect_code 0
    expect_err 'every4.json shows one tile in 4'
    ! grep -q 'keeps' err || fail "$(cat err)"
    some_bytes 100000 some
    run bench "${quick[@]}" --tile 4KiB --fill file --file some --trace ./some
    expect_code 2
    expect_err 'would overwrite what is to be read'
    ;;
  WritesJsonAndCsv)
    run bench "${quick[@]}" --tile 4KiB --lanes 1,2 --load 0 --no-ceilings --json
    expect_code 0
    for words in '"schema": 1' '"kind": "bench"' '"lanes": 2' '"latency_us": null' '"ceilings": null' "\"$(flavour)\""; do
      expect_out "$words"
    done
    run bench "${quick[@]}" --tile 4KiB --lanes 1,2 --load 0 --no-ceilings --csv
    expect_code 0
    [[ $(wc -l < out) == 3 ]] || fail "$(cat out)"
    ;;
  WritesAPage)
    run bench "${quick[@]}" --tile 4KiB --load 0 --html page.html
    expect_code 0
    expect_out 'GB/s'
    grep -q '"kind":"bench"' page.html || fail "no results in the page"
    # With as long a timeline as it takes.
    run bench --device cpu --repeats 1 --tile 4KiB --load 0 --no-ceilings --html page.html
    expect_code 0
    (($(stat -c %s page.html) < 1000000)) || fail "the page has $(stat -c %s page.html) bytes"
    run bench "${quick[@]}" --tile 4KiB --load 0 --html nowhere/page.html
    expect_code 2
    expect_err 'nowhere/page.html: No such file or directory'
    [[ ! -s out ]] || fail 'measured before it looked'
    run bench "${quick[@]}" --tile 4KiB --load 0 --html both --trace ./both
    expect_code 2
    expect_err '--html and --trace both name both'
    some_bytes 100000 some
    run bench "${quick[@]}" --tile 4KiB --fill file --file some --html ./some
    expect_code 2
    expect_err '--html ./some would overwrite what is to be read'
    "$penstock" tune --device cpu --within 0 --tile 4KiB --save profile > made 2>&1 || fail "$(cat made)"
    cp profile as_made
    for option in --html --trace; do
      run bench "${quick[@]}" --profile profile "$option" profile
      expect_code 2
      expect_err "$option profile would overwrite what is to be read"
    done
    cmp -s profile as_made || fail 'the profile is overwritten'
    ;;
  ReadsAFileThatIsNamed)
    some_bytes 100000 some
    run bench "${quick[@]}" --tile 4KiB --fill file,memcpy --file some --load 0 --no-ceilings
    expect_code 0
    run bench "${quick[@]}" --tile 4KiB --fill file,none --file nowhere --load 0 --no-ceilings
    expect_code 2
    expect_err '--file nowhere: No such file or directory.'
    [[ ! -s out ]] || fail 'measured before it looked'
    ;;
  RefusesBadOptionsInOneLine)
    expect_bad_options bench << 'LINES'
--producers some
--producers 4..1
--tile 3
--signal smoke
--graphs perhaps
--bind core
--load nan
--work hash --tile 3000
--direction out --fill memcpy
--repeats 0
--load 2
--json --csv
--colour red
LINES
    run bench --producers 4..1
    expect_err 'a range begins with the smaller value, 1..4;'
    run bench --load 2
    expect_err "--load: '2' is not a part from 0 to 1 ("
    ;;
  EndsWhenItIsInterrupted)
    # Some minutes of it, so that it is at it however late the signal comes.
    for where in '' --one-process; do
      # shellcheck disable=SC2086  # Or no word.
      listening bench --device cpu --tile 4KiB --producers 1..8 --lanes 1..8 --load 0 --repeats 50 --trace never.json $where > out 2> err &
      interrupt_once_it_fills $!
      expect_code 130
      expect_err 'Interrupted'
      expect_out 'GB/s'
      [[ ! -e never.json ]] || fail 'an empty trace was left'
    done
    ;;
  RunsEachRepeatInAProcessOfItsOwn)
    few=(--device cpu --window 10 --tile '4KiB,64KiB' --load 0 --no-verdict --json)
    run bench "${few[@]}" --repeats 3
    expect_code 0
    # A point that varies too much has one repeat more.
    [[ $(grep -cE '"repeats": [34],' out) == 2 && $(grep -cE '"processes": [34],' out) == 2 ]] || fail "$(cat out)"
    expect_out '"both_gb_per_s"'
    run bench "${few[@]}" --repeats 3 --one-process
    expect_code 0
    [[ $(grep -cE '"repeats": [34],' out) == 2 && $(grep -c '"processes": 1,' out) == 2 ]] || fail "$(cat out)"
    run bench --device nonsense --repeats 3
    expect_code 2
    [[ $(wc -l < err) == 1 && ! -s out ]] || fail "$(cat err)"
    ;;
  MeasuresThePointsThatAreNamed)
    run bench "${quick[@]}" --tile 4KiB,64KiB,1MiB --load 0 --no-ceilings --no-verdict --csv --only 2,0 --order 7
    expect_code 0
    [[ $(cut -d , -f 4 out | paste -sd ' ') == 'tile 1048576 4096' ]] || fail "$(cat out)"
    run bench "${quick[@]}" --tile 4KiB --only 1
    expect_code 2
    expect_err 'There is no point 1.'
    ;;
  MeasuresSeveralDevicesAtOnce)
    two=(--device 'cpu,cpu' --window 10 --tile 4KiB --load 0 --repeats 2)
    run bench "${two[@]}" --json
    expect_code 0
    for words in '"name": "2 x CPU device"' '"cpu:0"' '"cpu:1"' '"both_gb_per_s"'; do
      expect_out "$words"
    done
    run bench "${two[@]}"
    expect_code 0
    expect_out '2 x CPU device, on '
    run bench --device cpu,nonsense
    expect_code 2
    expect_err "'nonsense' is not a device"
    ;;
  *)
    fail "there is no case $2"
    ;;
esac
