#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: trace_program.sh PENSTOCK CASE STAND_IN
# Holds `--trace-with cupti` to what the traces of `penstock hash` and `penstock bench` show. STAND_IN is tests/observe/cupti/stand_in.cpp as a library, which
# logs three activities for each tile whatever the device.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/../../programs/program_world.sh"
some_bytes 1000000 a
traced() { run hash --device cpu --tile 64KiB --trace trace.json --trace-with cupti a; }

case $2 in
  ShowsWhatCuptiLogged)
    mkdir found
    ln -s "$3" found/libcupti.so.13
    export LD_LIBRARY_PATH=$world/found
    traced
    expect_code 0
    [[ $(grep -c '^penstock: ' err) == 2 ]] || fail "not the trace and the verdict: $(cat err)"
    for words in "GPU 0 upload, CUPTI's stream 7" 'GPU 0 stage, as CUPTI logged it, by any stream' 'lane 0 stage'; do
      grep -qF -- "$words" trace.json || fail "no $words in the trace"
    done
    run bench --device cpu --window 10 --repeats 1 --tile 64KiB --load 0 --no-ceilings --no-trace-cost --trace of_bench.json \
      --trace-with cupti
    expect_code 0
    grep -qF "GPU 0 upload, CUPTI's stream 7" of_bench.json || fail 'no row of CUPTI in the trace of bench'
    ;;
  HasTheTimesOfEventsIfCuptiRefuses)
    mkdir found
    ln -s "$3" found/libcupti.so.13
    export LD_LIBRARY_PATH=$world/found STAND_IN_CUPTI_REFUSES=35
    traced
    expect_code 0
    [[ $(grep -c '^penstock: ' err) == 3 ]] || fail "not the refusal, the trace and the verdict: $(cat err)"
    expect_err 'only administrators may profile here'
    expect_err 'The trace has the times of events only.'
    expect_err 'take --trace-with events.'
    grep -qF 'lane 0 stage' trace.json || fail 'no trace'
    ! grep -qF CUPTI trace.json || fail 'rows of CUPTI'
    run hash --device cpu --nvtx --trace trace.json --trace-with cupti a
    expect_code 2
    expect_err 'do not go together'
    ;;
  *) fail "no case $2" ;;
esac
