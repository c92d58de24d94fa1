#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: ranges_program.sh PROGRAM CASE [TOOL]
# Holds `--nvtx` of `penstock hash` and `penstock bench` to what a tool sees that NVTX loads: TOOL is tests/observe/nvtx/counting_injection.cpp.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/../../programs/program_world.sh"

case $2 in
  ShowsAToolEachTilesRangesInADomainOfOurOwn)
    export NVTX_INJECTION64_PATH=$3 COUNTED_RANGES=$world/counted
    some_bytes 1048576 a
    cp a b
    run hash --device cpu --tile 64KiB --nvtx a b
    expect_code 0
    for words in 'penstock fill of tiles 32' 'penstock enqueue of tiles 32' 'penstock sink of tiles 32' \
      'thread ps-fill-0 1' 'thread ps-lane-0 1' 'open 0'; do
      grep -qx "$words" counted || fail "not $words: $(cat counted)"
    done
    # Also by those who then find that there is nothing left to claim.
    (($(sed -n 's/^penstock borrow //p' counted) >= 32)) || fail "$(cat counted)"
    rm counted
    run hash --device cpu --tile 64KiB a b
    expect_code 0
    [[ ! -e counted ]] || fail "ranges that nobody asked for: $(cat counted)"
    run bench --device cpu --window 10 --repeats 1 --tile 64KiB --load 0.5 --no-ceilings --no-verdict --nvtx
    expect_code 0
    grep -q '^penstock fill of tiles ' counted || fail "no ranges of bench: $(cat counted)"
    ;;
  ShowsAToolTheSpansOfAJob)
    export NVTX_INJECTION64_PATH=$3 COUNTED_RANGES=$world/counted
    some_bytes 190000 a
    run run --device cpu --tile 64KiB --input a --nvtx
    expect_code 0
    for words in 'penstock copies of tiles 3' 'penstock sink of tiles 3' 'open 0'; do
      grep -qx "$words" counted || fail "not $words: $(cat counted)"
    done
    ;;
  RefusesAToolThatTheCurrentDirectoryDecides)
    cp "$3" tool.so
    some_bytes 1000 a
    NVTX_INJECTION64_PATH=./tool.so COUNTED_RANGES=$world/counted run hash --device cpu --nvtx a
    expect_code 2
    expect_err 'NVTX_INJECTION64_PATH is '\''./tool.so'\'', which depends on the current directory: make it an absolute path.'
    [[ ! -e counted ]] || fail 'the tool was loaded'
    ;;
  SaysThatItsBuildHasNone)
    some_bytes 1000 a
    run hash --device cpu --nvtx a
    expect_code 2
    expect_err 'This build of penstock has no NVTX in it'
    [[ ! -s out ]] || fail 'hashed all the same'
    run bench --device cpu --nvtx
    expect_code 2
    ;;
  *) fail "no case $2" ;;
esac
