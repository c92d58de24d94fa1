#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: work_program.sh PENSTOCK CASE
# Holds `penstock work` and the workers of `penstock hash` to what they promise. Each case is a test of its own.
# shellcheck disable=SC2016  # What is awaited is expanded each time.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"

mkdir -p tree/small tree/large
for ((k = 0; k < 300; ++k)); do echo "file $k" >"tree/small/$k"; done
for k in 1 2 3; do some_bytes 3000000 "tree/large/$k"; done
hashes() { "$penstock" hash --device cpu "$@" 2>err; }
a_gate() { mkfifo gate && exec 3<>gate; }
# children PROCESS
children() { cat "/proc/$1/task/$1/children" 2>/dev/null || true; }
needs_children() { [[ -e /proc/$$/task/$$/children ]] || { echo 'the system does not name children in /proc'; exit 77; }; }
# await WORDS...: until the command succeeds, which is tried each 10 ms.
exec {never}<> <(:)
await() { until "$@"; do read -rt 0.01 -u "$never" || true; done; }
says() { grep -qF -- "$1" "$2"; }

case $2 in
  HashesInWorkersWithTheSameLines)
    hashes tree >expected
    run hash --device cpu --ledger ledger --workers 3 tree
    expect_code 0
    expect_same_as expected
    [[ ! -s err ]] || fail "it says: $(cat err)"
    # All is done, so no worker ends with code 2 for want of that device.
    run hash --device nowhere --ledger ledger --workers 3 tree
    expect_code 0
    expect_same_as expected
    for format in --json --csv --no-names; do
      hashes "$format" tree | grep -v '"summary"' >lines
      hashes "$format" --ledger "ledger$format" --workers 2 tree | grep -v '"summary"' | cmp - lines || fail "$format: other lines"
    done
    run hash --device cpu --ledger other --workers 2 tree/large nowhere
    expect_code 1
    expect_err 'nowhere: No such file or directory'
    # A result that is a problem is one, too.
    run hash --device nowhere --ledger other --workers 2 tree/large nowhere
    expect_code 1
    expect_err 'nowhere: No such file or directory'
    hashes tree/large >expected
    expect_same_as expected
    ;;
  HashesWithTheSameLinesHoweverOftenWorkersAreKilled)
    needs_children
    # Large enough for some kills.
    for k in 1 2 3 4 5 6; do truncate -s 100M "tree/large/sparse$k"; done
    hashes tree >expected
    "$penstock" hash --device cpu --ledger ledger --workers 2 tree >out 2>err &
    process=$!
    # Each kill is of another process. More of them would bring long pauses.
    declare -A killed
    kills=0
    is_over() { [[ ! -e /proc/$process ]]; }
    # One that reads tiles has leases.
    finds_another() {
      for child in $(children "$process"); do
        [[ -n ${killed[$child]:-} ]] || ! fills "$child" || return 0
      done
      is_over
    }
    while ((kills < 4)); do
      await finds_another
      ! is_over || break
      killed[$child]=1
      kill -9 "$child" 2>/dev/null || true
      kills=$((kills + 1))
    done
    echo "$kills workers were killed"
    code=0
    wait $process || code=$?
    expect_code 0
    expect_same_as expected
    ;;
  WorkersThatAreInterruptedChargeNothingAndGoOn)
    needs_children
    for k in 1 2 3 4 5 6 7 8; do truncate -s 2G "tree/large/sparse$k"; done
    listening hash --device cpu --ledger ledger --workers 2 tree >out 2>err &
    process=$!
    await fills $process
    kill -INT $process
    code=0
    wait $process || code=$?
    expect_code 130
    [[ ! -s out ]] || fail "lines of a part: $(head -3 out)"
    expect_err 'the same command goes on'
    run work --ledger ledger --status --json
    expect_code 0
    expect_out '"out":0,'
    expect_out '"suspects":0,'
    rm tree/large/sparse*
    ;;
  ShowsWhatALedgerHas)
    hashes --ledger ledger tree >lines
    run work --ledger ledger --status
    expect_code 0
    expect_out '3 of 3 leases done, 0 out, 0 ready, 0 parked; 0 owners'
    expect_out 'finished'
    run work --ledger ledger --status --json
    expect_code 0
    [[ $(wc -l <out) == 1 && $(<out) == '{"schema":1,"kind":"ledger",'*'}' ]] || fail "$(cat out)"
    expect_out '"leases":3,"ready":0,"out":0,"done":3,"parked":0,"suspects":0,"lost":0,"retries":0,"owners":0,'
    expect_out '"finished":true,"leases_per_s":0.0,"oldest_out_s":null,"oldest_ready_s":null,"dead_rows":null,"oldest_transaction_s":null,"oldest_transaction":null,"parked_leases":[]'
    run work --ledger ledger --status --csv --html page.html
    expect_code 0
    [[ $(wc -l <out) == 2 && $(<out) == 'date,ledger,leases,ready,out,done,parked,'* ]] || fail "$(cat out)"
    for part in '"kind":"ledger"' '"sentences":["3 of 3 leases done, '; do grep -qF "$part" page.html || fail "the page has no $part"; done
    for name in ledger ledger-wal ledger-shm ledger-locks; do
      : >>"$name"
      run work --ledger ledger --status --html "$name"
      expect_code 2
      expect_err "--html $name would overwrite what is to be read"
    done
    run work --ledger nothing --status
    expect_code 2
    expect_err 'nothing: there is no such ledger'
    ;;
  PassesOnWhatWorkersPrint)
    hashes --ledger ledger tree >lines
    # shellcheck disable=SC2016  # The worker's shell is meant.
    run work --ledger ledger --workers 2 -- sh -c 'echo "$PENSTOCK_WORKER"; echo so >&2'
    expect_code 0
    [[ $(sort out | xargs) == '1/2 2/2' ]] || fail "$(cat out)"
    expect_err 'worker 1: so'
    expect_err 'worker 2: so'
    expect_err 'penstock: 3 of 3 leases done'
    ;;
  GivesEachWorkerAGpuOfItsOwn)
    hashes --ledger ledger tree >lines
    export CUDA_VISIBLE_DEVICES=3,5
    # shellcheck disable=SC2016  # The worker's shell is meant.
    shows='echo "$PENSTOCK_WORKER:$CUDA_VISIBLE_DEVICES"'
    run work --ledger ledger -- sh -c "$shows"
    expect_code 0
    [[ $(sort out | xargs) == '1/2:3 2/2:5' ]] || fail "$(cat out)"
    run work --ledger ledger --workers 3 -- sh -c "$shows"
    [[ $(sort out | xargs) == '1/3:3 2/3:5 3/3:3' ]] || fail "$(cat out)"
    export CUDA_VISIBLE_DEVICES=
    run work --ledger ledger -- sh -c "$shows"
    [[ $(cat out) == '1/1:' ]] || fail "$(cat out)"
    ;;
  EndsOnceIfTheOptionsOfWorkersAreBad)
    hashes --ledger ledger tree >lines
    run work --ledger ledger --workers 3 -- sh -c '[ "$PENSTOCK_WORKER" = 2/3 ] || exec sleep 600; echo why >&2; exit 2'
    expect_code 2
    [[ $(cat err) == $'worker 2: why\npenstock: Worker 2 ended with code 2'* && $(wc -l <err) == 2 ]] ||
      [[ $(cat err) == *'Worker 2 ended with code 2'*$'\nworker 2: why' ]] || fail "$(cat err)"
    expect_bad_options work <<'END'
--ledger ledger
--status
--ledger ledger --workers 0 -- true
--ledger ledger --patience 0 -- true
--ledger ledger --json -- true
--ledger ledger --html page -- true
--ledger ledger --status -- true
--ledger ledger -- ./no-such-program
--ledger nothing -- true
END
    ;;
  WatchesItsWorkersWhileNothingReadsWhatTheyPrint)
    hashes --ledger ledger tree >lines
    a_gate
    mkfifo pipe && exec 4<>pipe
    dd if=/dev/zero of=pipe bs=4096 oflag=nonblock 2>/dev/null || true
    "$penstock" work --ledger ledger --workers 2 -- sh -c '[ "$PENSTOCK_WORKER" = 2/2 ] || { echo $$ >it; mv it prints; exec yes; }
      read -r word <gate; kill -9 $$' >pipe 2>err 3>&- 4>&- &
    process=$!
    await test -e prints
    # It sleeps once nothing takes its lines.
    await grep -qs '(yes) S' "/proc/$(<prints)/stat"
    echo go >&3
    await says 'was ended by signal 9' err
    kill -9 $process
    wait $process || true
    ;;
  ServesMetricsAndEndsWithItsWorkers)
    needs_children
    command -v curl >/dev/null || { echo 'curl is not installed'; exit 77; }
    hashes --ledger ledger tree >lines
    a_gate
    listening work --ledger ledger --workers 2 --metrics 127.0.0.1:0 --stats-every 0.1 -- sh -c 'read -r word <gate' 2>err 3>&- &
    process=$!
    await says 'leases done' err
    address=$(grep -o 'http://[^ ]*' err)
    # The first look at the ledger may come before the workers are started.
    await eval 'curl -s "$address" >metrics && says "penstock_leases{state=\"done\"} 3" metrics &&
      says "penstock_workers{state=\"running\"} 2" metrics'
    for line in 'penstock_leases{state="ready"} 0' 'penstock_leases{state="out"} 0' 'penstock_leases{state="parked"} 0' \
      'penstock_leases_lost 0' 'penstock_leases_oldest_out_seconds 0' 'penstock_lease_retries_total 0' \
      'penstock_workers{state="running"} 2' 'penstock_workers_replaced_total 0' 'penstock_workers_hung_total 0'; do
      says "$line" metrics || fail "no $line in: $(cat metrics)"
    done
    [[ $(curl -s "${address%metrics}health") == ok ]] || fail 'it is not well'
    # shellcheck disable=SC2034  # It is for eval.
    worker=$(children $process | cut -d ' ' -f 1)
    kill -9 $process
    wait $process || true
    await eval '[[ ! -e /proc/$worker || $(cut -d " " -f 3 /proc/$worker/stat) == Z ]]'
    ;;
  *) fail "no such case: $2" ;;
esac
