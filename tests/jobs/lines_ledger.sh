#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lines_ledger.sh PROGRAM CASE: what `lines run --ledger` prints is what `lines run` prints, however often it is stopped.
# shellcheck source=tests/jobs/job_world.sh
source "$(dirname "$0")/job_world.sh"
# shellcheck source=tests/jobs/ledger_world.sh
source "$here/ledger_world.sh"
# shellcheck source=tests/support/a_postgres.sh
source "$here/../support/a_postgres.sh"

# some_table SEED LINES: keys, times and numbers, some of which cannot be used. The last line of an odd one has no end.
some_table() {
  awk -v seed="$1" -v lines="$2" 'BEGIN {
    srand(seed)
    for (k = 1; k <= lines; ++k) {
      key = rand() < 0.05 ? "none" : int(rand() * 1200)
      number = rand() < 0.1 ? "" : rand() < 0.1 ? "x" : rand() < 0.3 ? "-" int(rand() * 1e9) ".5" : int(rand() * 1e15) "999"
      long = rand() < 0.002 ? sprintf("%*s", int(rand() * 7000), "") : ""
      printf "%s,%s,2015-05-%02dT10:%02d:03Z%s%s", key, number, 1 + int(rand() * 20), int(rand() * 60), long,
        k == lines && seed % 2 ? "" : "\n"
    }
  }'
}

case $case in
  SumsWithALedgerWhatItSumsInOneGo)
    for seed in 1 2 3 4 5 6; do
      some_table "$seed" $((seed * 700)) >"table$seed"
    done
    : >empty
    some_table 7 3000 | gzip >packed.gz
    printf '\xef\xbb\xbf' | cat - table4 >marked
    inputs=(table1 empty packed.gz table2 marked table3)
    number=0
    while IFS='|' read -r options lease; do
      # Of a lease for each line there are enough in one table.
      [[ $lease != 1B ]] || inputs=(table1 empty packed.gz)
      for format in '' --json; do
        # shellcheck disable=SC2086 # Several words.
        in_one_go run $format --format csv $options --input "${inputs[@]}"
        # shellcheck disable=SC2086
        with_ledger "ledger$((++number))" run $format --format csv $options --input "${inputs[@]}" --lease "$lease"
        [[ $format == --json ]] || same_results
        [[ $format != --json ]] || same_members options item items digest results left_out remarks bytes_in failed
      done
    done <<'END'
|1KiB
--numbers decimal --places 1|5000B
--numbers decimal --tile 4KiB|4KiB
--key 3 --by day --groups 8|10KB
--key 3 --by hour --from 2015-05-03|1GiB
--key 3 --by minute --groups 9|1B
END
    # A damaged file is left out of both alike, with exit code 1.
    head -c 2000 packed.gz >cut.gz
    in_one_go run --format csv --input table1 cut.gz table2
    with_ledger damaged run --format csv --input table1 cut.gz table2 --lease 1KiB
    [[ $code == 1 ]] || fail "the exit code of damaged input is $code"
    same_results
    grep -qF 'cut.gz' err || fail "it does not name the file: $(cat err)"
    # A record that is too long for a tile.
    { some_table 8 100; printf '7,%9000s,2015\n' 1; some_table 9 200; } >long
    in_one_go run --format csv --tile 4KiB --input long
    with_ledger long-ledger run --format csv --tile 4KiB --input long --lease 2KiB
    [[ $code == 1 ]] || fail "the exit code of a long record is $code"
    same_results
    # Patterns choose the same lines.
    printf '%s\n' 99 -1 T10:3 >patterns
    in_one_go run --format csv --patterns patterns --input table5 table6
    with_ledger chosen run --format csv --patterns patterns --input table5 table6 --lease 1KiB
    same_results
    ;;
  GoesOnAfterItWasStoppedOrKilled)
    some_table 3 60000 >table
    in_one_go run --format csv --numbers decimal --input table
    run_and_stop run --format csv --numbers decimal --input table --lease 20KiB
    same_results
    ;;
  WorkersSumTheSame)
    some_table 4 40000 >table
    some_table 5 4000 >other
    in_one_go run --format csv --input table other
    with_ledger ledger run --format csv --input table other --lease 64KiB --workers 2
    same_results
    with_ledger ledger run --json --format csv --input table other
    [[ $code == 0 ]] || fail "the finished ledger of workers: $(cat err)"
    # It needs no worker any more: one would end with code 2, as there is no such device.
    code=0
    "$program" run --device nowhere --ledger ledger --format csv --input table other --workers 2 >out 2>err || code=$?
    same_results
    # Bad options end them all, and damaged input is the result of all.
    printf '\x1f\x8b\x08' >bad.gz
    with_ledger other-ledger run --format csv --input table bad.gz --workers 2
    [[ $code == 1 ]] || fail "the exit code of damaged input is $code: $(cat err)"
    with_ledger third run --format csv --input table --workers 2 --trace trace.json
    [[ $code == 2 ]] || fail "the exit code of a trace is $code"
    grep -qF -- '--ledger has no trace' err || fail "of a trace it says: $(cat err)"
    ;;
  RefusesWhatALedgerCannotHave)
    some_table 1 300 >table
    with_ledger ledger run --format csv --input table
    [[ $code == 0 ]] || fail "$(cat err)"
    while IFS='|' read -r options said; do
      # shellcheck disable=SC2086 # Several words.
      with_ledger ledger run $options
      [[ $code == 2 ]] || fail "$options: exit code $code"
      [[ ! -s out ]] || fail "$options: it prints"
      grep -qF -- "$said" err || fail "$options: it says $(cat err)"
    done <<'END'
--format csv --input table --key 2|is the ledger of other work
--format csv --input table table|is the ledger of other work
--format csv --input table --tile 4KiB|is the ledger of other work
--format csv --input table --follow yes|leave out --follow, or --ledger
--format csv --input -|'-' is no regular file: name files, or leave out --ledger
--format csv --input ledger|is a file of the ledger
--format csv --input table --html ledger|--html ledger would overwrite what is to be read
END
    with_ledger other run --format csv --input table --patterns <(echo 1)
    [[ $code == 2 ]] || fail "patterns from a pipe: exit code $code"
    grep -qF 'is no regular file: name one with --patterns, or leave out --ledger' err || fail "of patterns it says: $(cat err)"
    mkfifo pipe
    with_ledger ledger run --format csv --input pipe
    [[ $code == 2 ]] || fail "a pipe: exit code $code"
    grep -qF "'pipe' is no regular file" err || fail "of a pipe it says: $(cat err)"
    code=0
    "$program" run --device cpu --format csv --input table --workers 2 >out 2>err || code=$?
    [[ $code == 2 ]] || fail "--workers without --ledger: exit code $code"
    ;;
  TwoProcessesShareALedgerInPostgres)
    some_table 6 20000 >table
    in_one_go run --format csv --input table
    start_postgres "$scratch"
    ledger="postgresql:///postgres?host=$server&user=penstock&ledger=run"
    "$program" run --device cpu --ledger "$ledger" --format csv --input table --lease 64KiB >other 2>other.err &
    with_ledger "$ledger" run --format csv --input table --lease 64KiB
    wait $! || fail "the other process: $(cat other.err)"
    same_results
    cmp -s other expected || fail 'the other process prints other results'
    with_ledger "$ledger" run --format csv --input table --workers 2
    same_results
    with_ledger "$ledger" run --format csv --input table --key 2
    [[ $code == 2 ]] || fail "the ledger of other work: exit code $code"
    ;;
  *) fail "no such case: $case" ;;
esac
