#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tune_program.sh PENSTOCK CASE
# Holds `penstock tune` to what a user sees: output, standard error, exit code, the profile.
# Each case is a test of its own.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"
quick=(--device cpu --within 2 --tile '4KiB,64KiB' --lanes 1 --signal 'callback,event_poll' --shape split)

case $2 in
  ShowsWhatItTriedAndSavesTheBest)
    run tune "${quick[@]}" --save profile.json
    expect_code 0
    [[ ! -s err ]] || fail "$(cat err)"
    for words in "$(flavour) default streams" 'tried as' 'defaults' 'where it began' 'best  ' 'gain  ' 'combinations' 'verdict on the best' 'bound: ' 'A tile takes ' \
      'saved as profile.json'; do
      expect_out "$words"
    done
    grep -q '"kind": "profile"' profile.json || fail "$(cat profile.json)"
    [[ -z $(find . -name '*penstock-*') ]] || fail 'something was left behind'
    ;;
  PrintsJson)
    run tune "${quick[@]}" --json --work copy --direction in --trace trace.json
    expect_code 0
    expect_err 'trace.json shows every tile. To record it took'
    grep -qF '"penstock tune"' trace.json || fail "$(head -c 300 trace.json)"
    for words in '"kind": "tune"' '"tried"' '"found_by": "defaults"' '"combinations"' '"kind": "profile"' '"saved": null' \
      '"work": "copy"' '"bound": ' '"device_times": {'; do
      expect_out "$words"
    done
    ;;
  StartsWhereAProfileSays)
    run tune --device cpu --within 0 --producers 3 --lanes 2 --tile 32KiB --slots 7 --signal event_poll --work copy --direction in --save profile
    expect_code 0
    run tune --device cpu --within 0 --profile profile --save profile --json
    expect_code 0
    for words in '"found_by": "defaults"' '"found_by": "profile"' '"work": "copy"' '"direction": "in"'; do
      expect_out "$words"
    done
    # Among what was tried is what it says, though 7 slots are not among what is worth trying.
    tr -d ' \n' < out | grep -qE '"producers":3,"lanes":2,[^}]*"tile":32768,"slots":7,[^}]*"signal":"event_poll"' || fail "$(cat out)"
    run tune --device cpu --within 0 --profile profile --trace profile
    expect_code 2
    expect_err '--trace profile would overwrite what is to be read'
    ;;
  AnswersHoweverLittleTimeThereIs)
    run tune --device cpu --within 0 --save profile.json
    expect_code 0
    expect_out 'tried     1 of the'
    [[ -s profile.json ]] || fail 'no profile'
    run tune --device cpu --within 0 --graphs free --transport free --json
    expect_code 0
    expect_out '"graphs": "automatic"'
    ;;
  ShowsWhatItFoundThoughItCannotBeSaved)
    run tune --device cpu --within 0 --save /dev/full
    expect_code 4
    expect_out 'best  '
    ! grep -qF 'saved as' out || fail "$(cat out)"
    expect_err '/dev/full took less than all of the profile'
    run tune --device cpu --within 0 --save /dev/full --json
    expect_code 4
    expect_out '"saved": null'
    ;;
  IsDoneInTime)
    # It cannot know that the machine will stand still: a search that took long is made again.
    for try in {1..3}; do
      start=$SECONDS
      run tune "${quick[@]}"
      expect_code 0
      ((SECONDS - start >= 30)) || break
      ((try < 3)) || fail 'it was given two seconds'
    done
    ;;
  LooksForLatencyIfAskedTo)
    run tune --device cpu --for latency --load 0.2 --tile 4KiB --within 2 --lanes 1 --signal callback --save profile
    expect_code 0
    for words in 'latency with' 'tiles a second' 'p99 us' 'aim latency' 'best  ' 'saved as profile'; do expect_out "$words"; done
    ! grep -q 'verdict on the best' out || fail 'a verdict on throughput'
    for words in '"aim": ' '"latency_us": {' '"load_tiles_per_s": ' '"gb_per_s": null' '"producers": 1,'; do
      grep -qF -- "$words" profile || fail "no $words in $(cat profile)"
    done
    # The tile is a part of the job, and so the profile's.
    run tune --device cpu --for latency --within 0 --profile profile --json
    expect_code 0
    expect_out '"for": "latency"'
    expect_out '"tile": 4096'
    some_bytes 100000 some
    run hash --device cpu --profile profile some
    expect_code 0
    run tune --device cpu --for latency --tile 4KiB,8KiB
    expect_code 2
    expect_err '--tile 4KiB,8KiB: that is the job'
    run tune --device cpu --load 0.5
    expect_code 2
    expect_err '--load is for latency'
    ;;
  SaysWhyNothingWorks)
    some_bytes 100 short
    run tune "${quick[@]}" --fill file --file short --direction in --save profile.json
    expect_code 2
    expect_err 'short'
    run tune --device cpu --within 1 --tile 64KiB --fill file --file nowhere --direction in
    expect_code 2
    expect_err '--file nowhere: No such file or directory.'
    [[ ! -s out ]] || fail 'measured before it looked'
    some_bytes 3000000 long
    run tune "${quick[@]}" --fill file --file long --direction in --save ./long
    expect_code 2
    expect_err '--save ./long would overwrite what is to be read'
    run tune "${quick[@]}" --save both --trace both
    expect_code 2
    expect_err '--save and --trace both name both'
    [[ $(wc -c < long) == 3000000 && ! -e both ]] || fail 'a file was touched'
    ;;
  RefusesBadOptionsInOneLine)
    expect_bad_options tune << 'LINES'
--producers some
--tile 3
--signal smoke
--work copy,hash
--fill free
--streams free
--tiles free
--direction out --fill memcpy
--work hash --tile 3000
--within -1
--for speed
--for latency --load 0
--for latency --load 2
--for latency --tile free
--within soon
--within nan
--memory lots
--save nowhere/profile.json
--device nonsense
--colour red
LINES
    run tune --within 86400
    expect_err "--within: '86400' is not a number of seconds from 0 to 3600 ("
    ;;
  LeavesNoFileWhereItSavedNothing)
    run tune --device nonsense --save profile.json
    expect_code 2
    [[ ! -e profile.json ]] || fail 'an empty profile'
    run tune --device cpu --within 0 --memory 1KiB --save profile.json
    expect_code 1
    expect_err 'All that could be tried pins more than --memory 1KiB'
    [[ ! -e profile.json ]] || fail 'a profile that pins more than it may'
    # The one that fits is saved.
    run tune --device cpu --within 0 --tile 4KiB --slots 1 --memory 1MiB --save profile.json
    expect_code 0
    [[ -s profile.json ]] || fail 'no profile'
    ;;
  EndsWhenItIsInterrupted)
    listening tune --device cpu --within 600 --save profile.json > out 2> err &
    interrupt_once_it_fills $!
    expect_code 130
    expect_err 'Interrupted'
    [[ ! -e profile.json ]] || fail 'half a search was saved'
    ;;
  *)
    fail "there is no case $2"
    ;;
esac
