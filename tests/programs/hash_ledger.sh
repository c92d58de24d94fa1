#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: hash_ledger.sh PENSTOCK CASE
# Holds what `penstock hash --ledger` prints to what `penstock hash` prints, however often it is stopped.
# Each case is a test of its own.
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/programs/program_world.sh
source "$here/program_world.sh"
# shellcheck source=tests/support/a_postgres.sh
source "$here/../support/a_postgres.sh"

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
  ItsOwnFilesAreNeitherHashedNorWritten)
    for k in 1 2 3; do hashes --ledger tree/ledger tree >"out$k" & done
    wait
    for k in 1 2 3; do cmp "out$k" expected || fail "process $k printed other lines"; done
    run hash --device cpu --ledger tree/ledger tree
    expect_code 0
    expect_same_as expected
    ln -s tree/other link
    run hash --device cpu --ledger tree/other link tree/large
    expect_code 1
    expect_err 'link: is a file of the ledger, which is not hashed'
    for file in link tree/other tree/other-wal tree/other-shm tree/other-locks; do
      for option in --html --trace; do
        run hash --device cpu --ledger link "$option" "$file" tree/large
        expect_code 2
        expect_err "$option $file would overwrite what is to be read"
      done
    done
    ;;
  ShardsHashEachFileOnce)
    sort expected >sorted
    for k in 1 2 3; do
      hashes --shard "$k/3" tree >"shard$k"
      hashes --ledger ledger --shard "$k/3" tree | cmp - "shard$k" || fail "shard $k: other lines with a ledger"
      [[ -s ledger-$k-of-3 ]] || fail "shard $k has no ledger of its own"
    done
    sort shard? | cmp - sorted || fail 'the shards have other lines than the whole'
    # A job that is begun again goes on with its own ledger, and with no other.
    mv tree gone
    hashes --ledger ledger --shard 2/3 tree | cmp - shard2 || fail 'it did not go on'
    mv gone tree
    cp ledger-2-of-3 ledger-1-of-2
    run hash --device cpu --ledger ledger --shard 1/2 tree
    expect_code 2
    expect_err 'is the ledger of other work'
    SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=4 SLURM_ARRAY_TASK_COUNT=3 hashes --shard auto tree | cmp - shard2 || fail 'not the task of the array'
    run hash --device cpu --shard auto tree
    expect_code 2
    expect_err '--shard auto: neither Slurm (an array job, or srun) nor MPI says which.'
    run hash --device cpu --ledger postgresql://nowhere/db --shard 1/2 tree
    expect_code 2
    expect_err 'leave --shard out'
    ;;
  MpiSaysWhichShard)
    command -v mpirun >/dev/null || exit 77
    sort expected >sorted
    # mpirun passes output on in pieces, and not by the line.
    # shellcheck disable=SC2016  # The rank is that of each process.
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 3 \
      sh -c '"$0" hash --device cpu --shard auto tree >"rank$OMPI_COMM_WORLD_RANK"' "$penstock" 2>err || fail "mpirun: $(cat err)"
    sort rank? | cmp - sorted || fail 'other lines'
    ;;
  SeveralProcessesPrintTheSameLines)
    for k in 1 2 3; do hashes --ledger ledger tree >"out$k" & done
    wait
    for k in 1 2 3; do cmp "out$k" expected || fail "process $k printed other lines"; done
    ;;
  AProcessThatIsShortOfDescriptorsSaysNothingOfFiles)
    stopped=0
    for ((most = 8; most < 48; ++most)); do
      code=0
      (ulimit -n "$most" && exec "$penstock" hash --device cpu --ledger "ledger$most" tree) >out 2>err || code=$?
      if [[ $code == 0 ]]; then
        expect_same_as expected
        continue
      fi
      ((++stopped))
      [[ $code != 1 ]] || fail "of $most descriptors it says that files cannot be hashed: $(cat err)"
      run hash --device cpu --ledger "ledger$most" tree
      expect_code 0
      expect_same_as expected
    done
    ((stopped > 0 && stopped < 40)) || fail "$stopped of 40 processes were short of descriptors"
    ;;
  TheLedgerOfOtherWorkIsRefused)
    hashes --ledger ledger tree >out
    run hash --device cpu --ledger ledger tree/small
    expect_code 2
    expect_err 'is the ledger of other work'
    hashes --ledger spaces 'tree/large b' >out || true
    run hash --device cpu --ledger spaces tree/large b
    expect_code 2
    expect_err 'is the ledger of other work'
    run hash --device cpu --ledger expected tree
    expect_code 2
    expect_err 'expected is no ledger. Name another file.'
    run hash --device cpu --ledger nats://127.0.0.1:4222 tree
    expect_code 2
    expect_err 'NATS keeps no ledger'
    run hash --device cpu --ledger new -
    expect_code 2
    expect_err "--ledger is for files that can be read again, and '-' is not"
    ;;
  ALedgerThatCannotBeUsedIsSaidWithTheRemedyAndLosesNothing)
    hashes --ledger ledger tree >/dev/null
    sqlite() { python3 -c 'import sqlite3, sys; print(*(row[0] for row in sqlite3.connect("ledger").execute(sys.argv[1])))' "$1"; }
    # As a user who may do no more than the modes of files say.
    as=()
    ((EUID != 0)) || as=(setpriv '--bounding-set=-dac_override,-dac_read_search')
    if ! "${as[@]}" true || ! python3 -c 'import sqlite3'; then
      echo 'setpriv or python3 with SQLite is not here'
      exit 77
    fi
    # refused CODE WORDS...
    refused() {
      code=0
      "${as[@]}" "$penstock" hash --device cpu --ledger ledger tree >out 2>err || code=$?
      expect_code "$1"
      for words in "${@:2}"; do expect_err "$words"; done
      [[ ! -s out ]] || fail 'it prints lines'
    }
    version=$(sqlite 'pragma user_version')
    sqlite 'pragma user_version = 7'
    refused 2 'ledger is a ledger of version 7' 'Use the penstock that made it'
    sqlite "pragma user_version = $version"
    chmod 444 ledger
    chmod 555 .
    refused 4 'ledger can be read but not written. Make the file and its folder writable'
    chmod 755 .
    chmod 644 ledger
    cp ledger whole
    dd if=/dev/zero of=ledger bs=4096 seek=1 count=$(($(stat -c %s ledger) / 4096 - 1)) conv=notrunc status=none
    refused 4 'ledger is damaged. Go on with a copy that was made before' '.recover'
    cp whole ledger
    # Nothing is read any more.
    mv tree gone
    mkdir tree
    run hash --device cpu --ledger ledger tree
    expect_code 0
    expect_same_as expected
    ;;
  AFullDiskIsWaitedForAndLosesNothing)
    command -v prlimit >/dev/null || { echo 'prlimit is not here' && exit 77; }
    # None can be made, and the file that was begun is no hindrance.
    code=0
    (trap '' XFSZ && ulimit -S -f 8 && exec "$penstock" hash --device cpu --ledger new tree) >out 2>err || code=$?
    expect_code 4
    expect_err 'new finds no room on its disk. Nothing was changed: free some space'
    run hash --device cpu --ledger new tree
    expect_code 0
    expect_same_as expected
    # With leases, and without a result.
    run hash --device nowhere --ledger ledger --workers 1 tree
    expect_code 2
    cp ledger before
    # limited KIB: room for so much in each file; the shell that asks for it is `process`.
    limited() {
      rm -f err
      (trap '' XFSZ && ulimit -S -f "$1" && exec env --default-signal=TERM "$penstock" hash --device cpu --ledger ledger tree) >out 2>err &
      process=$!
    }
    is_over() { [[ ! -e /proc/$process ]] || grep -qs '^State:.Z' "/proc/$process/status"; }
    waits() { grep -qsF 'finds no room on its disk. Nothing was changed: free some space, and go on. It is tried again' err; }
    await_wait() { until waits; do ! is_over || waits || fail "it does not wait: $(cat err)"; done; }
    limited 36
    await_wait
    prlimit --pid "$process" --fsize=unlimited:
    code=0
    wait "$process" || code=$?
    expect_code 0
    expect_same_as expected
    [[ $(wc -l <err) == 1 ]] || fail "it says: $(cat err)"
    cp before ledger
    limited 36
    await_wait
    kill -TERM "$process"
    code=0
    wait "$process" || code=$?
    expect_code 130
    run hash --device cpu --ledger ledger tree
    expect_code 0
    expect_same_as expected
    ;;
  TwoProcessesShareALedgerInPostgres)
    start_postgres "$world"
    ledger="postgresql:///postgres?host=$server&user=penstock&ledger=run"
    processes=()
    for k in 1 2; do
      hashes --ledger "$ledger" tree >"out$k" &
      processes+=($!)
    done
    wait "${processes[@]}"
    for k in 1 2; do cmp "out$k" expected || fail "process $k printed other lines"; done
    # It is all there: nothing is read any more.
    mv tree gone
    run hash --device cpu --ledger "$ledger" tree
    expect_code 0
    expect_same_as expected
    mv gone tree
    run hash --device cpu --ledger "$ledger" tree/small
    expect_code 2
    expect_err 'is the ledger of other work'
    run hash --device cpu --ledger "postgresql://penstock:secret@localhost/postgres" tree
    expect_code 2
    expect_err '.pgpass'
    ! grep -q secret err || fail 'it shows the password'
    run hash --device cpu --ledger "$ledger&user=nemo" tree
    expect_code 2
    expect_err 'refuses this user: role "nemo" does not exist'
    expect_err '.pgpass'
    ;;
  *) fail "no such case: $2" ;;
esac
