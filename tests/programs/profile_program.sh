#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: profile_program.sh PENSTOCK CASE
# Holds --profile of every command to what a user sees. Each case is a test of its own.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"
quick=(--device cpu --window 10 --repeats 1 --load 0 --no-ceilings --no-verdict)

# made ARGUMENT...: a profile of these values, in the file profile.
made() { "$penstock" tune --device cpu --within 0 --save profile "$@" > made 2>&1 || fail "$(cat made)"; }
# changed FROM TO: the profile with other words in it, in the file changed.
changed() {
  sed "s/$1/$2/" profile > changed
  ! cmp -s profile changed || fail "there is no $1 in it"
}

# child_fills PROCESS: whether a process that it started has a thread that fills tiles.
child_fills() {
  local child
  local -a children=()
  read -ra children 2> /dev/null < "/proc/$1/task/$1/children" || true
  for child in "${children[@]}"; do
    ! grep -qs ps-fill "/proc/$child/task/"*/comm || return 0
  done
  return 1
}

case $2 in
  IsWhereBenchStarts)
    made --producers 2 --lanes 2 --tile 64KiB --slots 3 --aim latency --signal event_poll --shape single --work copy --direction in
    run bench "${quick[@]}" --profile profile
    expect_code 0
    expect_out 'producers 2, lanes 2, consumers 1, tile 64 KiB, slots 3, batch 1, tiles 9, spin default, aim latency, signal event_poll, streams default, shape single, transport automatic, graphs automatic, run-to-completion no, ordered no, bind node, work copy, fill none, direction in'
    [[ ! -s err ]] || fail "$(cat err)"
    ;;
  LosesToWhatIsNamed)
    made --producers 2 --lanes 2 --tile 64KiB --slots 3 --aim latency --work copy
    run bench "${quick[@]}" --profile profile --threads 1 --depth 4,5 --aim throughput --work transform
    expect_code 0
    expect_out 'producers 1, lanes 2, consumers 1, tile 64 KiB, spin default, aim throughput, signal callback, streams default, shape split, transport automatic, graphs automatic, run-to-completion no, ordered no, bind node, work transform'
    [[ $(grep -cE '^[45] ' out) == 2 ]] || fail "$(cat out)"
    ;;
  LeavesOpenWhatLanesThatAreTheProducersHave)
    made --producers 2 --lanes 2 --tile 64KiB --slots 3 --tiles 9 --work copy
    run bench "${quick[@]}" --profile profile --run-to-completion yes
    expect_code 0
    expect_out 'tile 64 KiB, spin default'
    expect_out 'run-to-completion yes'
    some_bytes 1000 some
    run hash --device cpu --profile profile --run-to-completion yes some
    expect_code 0
    [[ ! -s err ]] || fail "$(cat err)"
    # Older versions took it without a word, though names of files follow.
    run hash --device cpu --profile profile --run-to-completion some
    expect_code 0
    expect_err '--run-to-completion is now written --run-to-completion yes'
    made --lanes 1 --tile 64KiB --work copy --run-to-completion yes
    run bench "${quick[@]}" --profile profile
    expect_out 'run-to-completion yes'
    run bench "${quick[@]}" --profile profile --producers 1
    expect_code 0
    expect_out 'run-to-completion no'
    ;;
  IsTakenByHash)
    made --producers 2 --lanes 2 --tile 64KiB --slots 3 --signal event_poll
    some_bytes 3000000 some
    run hash --device cpu some
    cp out plain
    run hash --device cpu --profile profile some
    expect_code 0
    expect_same_as plain
    [[ ! -s err ]] || fail "$(cat err)"
    # Two lanes of three slots, two tiles for each of two producers, one for the consumer.
    run hash --device cpu --profile profile --json some
    expect_out '"pool":{"tiles":11,"tile_bytes":65536}'
    # One lane of three slots, and the rest as before; but the file is no more than three such tiles.
    run hash --device cpu --profile profile --tile 1MiB --lanes 1 --json some
    expect_code 0
    expect_out '"pool":{"tiles":3,"tile_bytes":1048576}'
    run hash --device cpu --profile profile --lanes 1 --json some
    expect_out '"pool":{"tiles":8,"tile_bytes":65536}'
    ;;
  OfATileThatHashCannotTakeIsRefused)
    made --tile 3000
    run hash --device cpu --profile profile /dev/null
    expect_code 2
    expect_err 'power of two'
    ;;
  IsTakenByCompare)
    made --producers 2 --lanes 2 --tile 64KiB --slots 3 --aim latency
    run compare --device cpu --case bare --window 10 --repeats 1 --profile profile --tile 4KiB --json
    expect_code 0
    for words in '"producers": 2' '"slots": 3' '"batch": 1' '"aim": "latency"' '"tile": 4096'; do expect_out "$words"; done
    [[ ! -s err ]] || fail "$(cat err)"
    ;;
  OfAnotherMachineIsUsedWithAWarning)
    made --producers 1 --tile 64KiB
    changed '"name": "CPU device"' '"name": "NVIDIA H200"'
    some_bytes 1000 some
    run hash --device cpu --profile changed some
    expect_code 0
    [[ $(wc -l < err) == 1 ]] || fail "not one line: $(cat err)"
    expect_err 'changed: The profile was made for the device NVIDIA H200, not CPU device'
    run bench "${quick[@]}" --profile changed
    expect_code 0
    expect_err 'for the device NVIDIA H200, not CPU device'
    ;;
  OfAnotherMachineIsComparedWithAWarning)
    made --producers 1 --tile 4KiB
    changed '"name": "CPU device"' '"name": "NVIDIA H200"'
    run compare --device cpu --window 10 --repeats 1 --profile changed
    expect_code 0
    [[ $(wc -l < err) == 1 ]] || fail "not one line: $(cat err)"
    expect_err 'for the device NVIDIA H200, not CPU device'
    ;;
  # Which are processes of their own: once it has said so, one of them fills.
  OfAnotherMachineIsSaidBeforeTheFirstRound)
    made --producers 1 --tile 64KiB
    changed '"name": "CPU device"' '"name": "NVIDIA H200"'
    listening bench --device cpu --window 2000 --repeats 3 --profile changed > out 2> err &
    bench=$!
    until grep -q 'for the device NVIDIA H200' err || ! kill -0 "$bench" 2> /dev/null; do :; done
    until child_fills "$bench" || ! kill -0 "$bench" 2> /dev/null; do :; done
    child_fills "$bench" || fail 'no process of its own ran after the warning'
    interrupt_once_it_fills "$bench"
    expect_code 130
    [[ $(grep -c 'for the device NVIDIA H200' err) == 1 ]] || fail "not said once: $(cat err)"
    ;;
  # The program that runs first cannot.
  OfAnotherMachineIsSaidBeforeCompareRunsAnything)
    made --producers 1 --tile 4KiB
    changed '"name": "CPU device"' '"name": "NVIDIA H200"'
    cp "$penstock" penstock
    printf '#!/bin/sh\nexit 4\n' > penstock-legacy
    chmod +x penstock-legacy
    penstock=$PWD/penstock
    run compare --device cpu --window 10 --repeats 1 --profile changed
    expect_code 4
    head -n 1 err | grep -qF 'for the device NVIDIA H200, not CPU device' || fail "$(cat err)"
    ;;
  ThatIsNoneIsRefusedInOneLine)
    made --producers 1
    mkdir folder
    head -c 200 profile > truncated
    changed '"producers": 1' '"producers": "one"' && mv changed mistyped
    changed '"producers": 1' '"producers": 99999999999999999999' && mv changed huge
    changed '"schema": 1' '"schema": 7' && mv changed newer
    : > empty
    echo 'producers = 4' > foreign
    for command in bench compare hash; do
      for bad in nowhere folder truncated mistyped huge newer empty foreign; do
        run "$command" --profile "$bad"
        expect_code 2
        [[ $(wc -l < err) == 1 ]] || fail "$command $bad: not one line: $(cat err)"
        expect_err "penstock: $bad: "
        expect_err 'tune --save'
        [[ ! -s out ]] || fail "$command $bad: something on standard output"
      done
    done
    changed '"producers": 1' '"producers": 1, "colour": "red"'
    run bench "${quick[@]}" --tile 4KiB --profile changed
    expect_code 0
    ;;
  *)
    fail "there is no case $2"
    ;;
esac
