#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: hash_ledger.sh PENSTOCK CASE
# Holds what `penstock hash --ledger` prints to what `penstock hash` prints, however often it is stopped.
# Each case is a test of its own.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"

# Leases of many small files, and of few large ones.
mkdir -p tree/small tree/large
for ((k = 0; k < 400; ++k)); do echo "file $k" >"tree/small/$k"; done
for k in 1 2 3; do some_bytes 3000000 "tree/large/$k"; done
hashes() { "$penstock" hash --device cpu "$@" 2>err; }
hashes tree >expected

case $2 in
  SameLinesAsWithoutALedger)
    run hash --device cpu --ledger ledger tree
    expect_code 0
    expect_same_as expected
    # It is all there: nothing is read any more.
    mv tree gone
    run hash --device cpu --ledger ledger tree
    expect_code 0
    expect_same_as expected
    mv gone tree
    for format in --json --csv --no-names; do
      hashes "$format" tree | grep -v '"summary"' >lines
      hashes "$format" --ledger "ledger$format" tree | grep -v '"summary"' | cmp - lines || fail "$format: other lines"
    done
    ;;
  FilesThatCannotBeHashedAreNamed)
    mkfifo tree/small/pipe
    run hash --device cpu --ledger ledger tree nowhere
    expect_code 1
    expect_same_as expected
    expect_err 'nowhere: No such file or directory'
    expect_err 'tree/small/pipe: is a pipe'
    run hash --device cpu --ledger other tree/small/pipe
    expect_code 1
    expect_err 'hash it without --ledger'
    ;;
  SeveralProcessesPrintTheSameLines)
    for k in 1 2 3; do hashes --ledger ledger tree >"out$k" & done
    wait
    for k in 1 2 3; do cmp "out$k" expected || fail "process $k printed other lines"; done
    ;;
  TheLedgerOfOtherWorkIsRefused)
    hashes --ledger ledger tree >out
    run hash --device cpu --ledger ledger tree/small
    expect_code 2
    expect_err 'is the ledger of other work'
    run hash --device cpu --ledger expected tree
    expect_code 2
    expect_err 'expected is no ledger. Name another file.'
    run hash --device cpu --ledger new -
    expect_code 2
    expect_err "--ledger is for files that can be read again, and '-' is not"
    ;;
  *) fail "no such case: $2" ;;
esac
