#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: hash_manners.sh PENSTOCK CASE
# Holds `penstock hash` to what a user sees beside its lines: standard error, exit code, progress, ctrl-C.
# Each case is a test of its own.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"
command -v b3sum > /dev/null || { echo 'b3sum is not installed'; exit 77; }
penstock_hash() { run hash --device cpu "$@"; }

case $2 in
  AFullDiskIsNoSuccess)
    some_bytes 1000 a
    code=0
    "$penstock" hash --device cpu a > /dev/full 2> err || code=$?
    expect_code 1
    expect_err 'Standard output'
    ;;
  AClosedStandardInputIsNotWhatIsOpenedNext)
    some_bytes 1000 a
    b3sum a > sums
    # hash_without_input ARGUMENT...
    hash_without_input() {
      code=0
      "$penstock" hash --device cpu "$@" <&- > out 2> err || code=$?
    }
    hash_without_input - a
    expect_code 1
    expect_err 'penstock: -: standard input is not open for reading'
    expect_same_as sums
    hash_without_input
    expect_code 1
    expect_err 'standard input is not open for reading'
    # The list is open while its lines are read.
    printf '%064d  -\n%s\n' 0 "$(cat sums)" > list
    hash_without_input --check list
    expect_code 1
    expect_out '-: FAILED (standard input is not open for reading'
    expect_out 'a: OK'
    "$penstock" hash --device cpu a >&- 2> err && fail 'nobody has the sums'
    expect_err 'Standard output'
    ;;
  OneObjectALineAndTheSummaryLast)
    some_bytes 1000 a
    penstock_hash --json a missing
    expect_code 1
    [[ $(wc -l < out) == 3 ]] || fail 'three lines'
    grep -qF "\"path\":\"a\",\"bytes\":1000,\"blake3\":\"$(b3sum --no-names a)\"" out || fail "$(cat out)"
    grep -qF '"path":"missing","problem":"No such file' out || fail "$(cat out)"
    tail -n 1 out | grep -qF '"summary":{"device":"CPU device","files":2,"problems":1' || fail "$(cat out)"
    [[ $(cat err) == 'penstock: missing: No such file or directory (os error 2)' ]] || fail "$(cat err)"
    b3sum a > sums
    printf x >> a
    printf '%064d  missing\n' 0 >> sums
    penstock_hash --json --check sums
    expect_code 1
    grep -qF '"matches":false' out || fail "$(cat out)"
    [[ $(cat err) == 'penstock: missing: No such file or directory (os error 2)' ]] || fail "$(cat err)"
    ;;
  BadOptionsAreOneLineAndExitCodeTwo)
    expect_bad_options hash << 'WORDS'
--tile 3MiB
--tile 512
--tile lots
--tile 2GiB
--tiles 70000
--producers -1
--producers many
--lanes 100000
--device gpu
--aim speed
--signal semaphore
--shape round
--streams some
--device cuda:x
--no-such-option
--quiet
--shard 4/3
--shard 3
--shard auto
--check --shard 1/2
--check --no-names
--json --no-names
--json --check --quiet
--trace-every 2
--trace trace.json --trace-every 0
--trace trace.json --trace-with smoke
--trace-with events
WORDS
    penstock_hash --producers -1
    expect_err "--producers: '-1' is not a whole number from 0 to 1024"
    expect_err 'penstock hash --help'
    penstock_hash --tile 4MB
    expect_err '--tile 4MB is 4000000 bytes: hash needs a power of two'
    penstock_hash --bogus
    expect_err 'penstock hash --help'
    # They are said before a device is opened, and this one there is not.
    for words in '--aim speed' '--signal semaphore' '--shape round' '--tile 3MiB' '--tiles 70000'; do
      # shellcheck disable=SC2086  # Two words are meant.
      run hash --device cuda:99 $words
      expect_code 2
      expect_err "${words#* }"
    done
    for command in bogus ''; do
      run ${command:+"$command"}
      expect_code 2
      expect_err "${command:-Name a command: hash, doctor}"
      expect_err '(penstock --help'
    done
    ;;
  WritesATraceOfWhereItsTilesWere)
    some_bytes 1000000 a
    b3sum a > expected
    penstock_hash --tile 64KiB --trace trace.json a
    expect_code 0
    expect_same_as expected
    expect_err 'penstock: trace.json shows every tile. To record it took'
    # Below it a verdict on the run, and nothing else.
    [[ $(head -n 1 err) == *'shows every tile'* && $(sed -n 2p err) == 'penstock: bound: '* ]] || fail "$(cat err)"
    (($(wc -l < err) >= 4 && $(wc -l < err) <= 8)) || fail "$(cat err)"
    ! tail -n +3 err | grep -qv '^  ' || fail "$(cat err)"
    tail -n 1 err | grep -qE '^  A tile takes kernel .*; that is .* x is possible[.]$' || fail "$(cat err)"
    # Which of the producers come to fill is the scheduler's affair.
    grep -qE '"ps-fill-[0-9]+"' trace.json || fail 'no row of a producer in the trace'
    for words in '"penstock hash"' '"lane 0 stage"' '"CPU device stage, by any stream"' '"tiles home"' '"tile":15}' '"ph":"f"'; do
      grep -qF -- "$words" trace.json || fail "no $words in the trace"
    done
    cat a a a a > b
    penstock_hash --tile 64KiB --trace trace.json --trace-every 4 b
    expect_code 0
    expect_err 'shows one tile in 4'
    [[ $(wc -l < err) == 1 ]] || fail "$(cat err)"
    grep -qF '"tile":40}' trace.json || fail 'tile 40 is one to look at'
    ! grep -qF '"tile":20}' trace.json || fail 'tile 20 is none'
    penstock_hash --json --tile 64KiB --trace trace.json a
    expect_out '"verdict":{"bound":"'
    expect_out '"device_times":{"upload_us":'
    [[ $(wc -l < err) == 1 ]] || fail "$(cat err)"
    penstock_hash --json a
    expect_out '"verdict":null'
    # The lines come, and the trace is missed.
    penstock_hash --trace /dev/full a
    expect_code 4
    expect_same_as expected
    [[ $(cat err) == 'penstock: /dev/full took less than all of the trace (No space left on device): see that its disk has room, or name another file.' ]] || fail "$(cat err)"
    penstock_hash --trace nowhere/trace.json a
    expect_code 2
    expect_err 'nowhere/trace.json: No such file or directory'
    [[ ! -s out ]] || fail 'hashed before it looked'
    ln a c
    penstock_hash --trace c a
    expect_code 2
    expect_err '--trace c would overwrite what is to be read'
    penstock_hash --trace c < a
    expect_code 2
    expect_err '--trace c would overwrite what is to be read'
    b3sum a | cmp -s - expected || fail 'it is overwritten'
    # Below a directory it is no input if it was made for the trace, and is kept if it was there before.
    mkdir below
    cp a below/a
    b3sum below/a > expected
    penstock_hash --trace below/trace.json below
    expect_code 0
    expect_same_as expected
    grep -qF '"penstock hash"' below/trace.json || fail 'there is no trace'
    rm below/trace.json
    penstock_hash --trace below/a below
    expect_code 1
    expect_same_as expected
    expect_err 'below/a is among what was read, so it was left as it is'
    b3sum --quiet --check expected || fail 'it is overwritten'
    cp expected sums
    penstock_hash --check --trace below/a sums
    expect_code 1
    expect_err 'below/a is among what was read'
    b3sum --quiet --check expected || fail 'it is overwritten'
    ;;
  NoProgressInAPipeAndHelpThatNamesEveryOption)
    some_bytes 1000 a
    penstock_hash a
    [[ ! -s err ]] || fail "something on standard error: $(cat err)"
    penstock_hash --help
    expect_code 0
    expect_out 'what bounded the run'
    for option in --check --json --device --producers --lanes --consumers --tile --tiles --ordered --no-bind --trace --trace-every --trace-with --nvtx; do
      grep -qF -- "$option" out || fail "no word of $option"
    done
    for words in 'At most 1024' 'At most 65534' '0 means the default' '4MiB and not 4MB' '1000-fold' \
      'smaller and fewer ones, also'; do
      grep -qF -- "$words" out || fail "no word of limits and defaults: $words"
    done
    ;;
  ProgressOnATerminalAndNowhereElse)
    command -v script > /dev/null || { echo 'script (util-linux) is not installed, so there is no terminal'; exit 77; }
    some_bytes 1000000 a
    printf x > b
    b3sum --no-names a b > expected
    mkfifo pipe
    # on_terminal ARGUMENT...: what it wrote there is in the file typescript.
    on_terminal() { script -qfec "'$penstock' hash --device cpu --no-names $* a pipe" typescript < /dev/null > /dev/null; }
    # What is left to see: each line from its last return on.
    seen() { tr -d '\n' < typescript | sed 's/\r\x1b\[K/\n/g' | grep -aoE '[0-9a-f]{64}'; }

    on_terminal &
    hashing=$!
    exec 9> pipe
    # The pipe keeps it waiting until the bar is there.
    until grep -qaE '\[#+\] .* of 976\.6 KiB .* GB/s' typescript 2> /dev/null; do
      kill -0 "$hashing" || fail "it ended without a bar: $(cat typescript)"
    done
    printf x >&9
    exec 9>&-
    wait "$hashing" || fail "exit code $?"
    cmp -s expected <(seen) || fail "not the sums of a and the pipe: $(cat -v typescript)"
    [[ $(grep -aoE $'\r\x1b\[K|GB/s' typescript | tail -n 1) != GB/s ]] || fail 'the bar was not wiped'

    cat b > pipe &
    on_terminal --no-progress
    cmp -s expected <(tr -d '\r' < typescript | grep -aE '^[0-9a-f]{64}$') || fail "with --no-progress: $(cat -v typescript)"
    ! grep -qa 'GB/s' typescript || fail 'a bar in spite of --no-progress'

    "$penstock" hash --device cpu --no-names a pipe > out 2> err &
    hashing=$!
    exec 9> pipe
    ! grep -qsx ps-progress "/proc/$hashing"/task/*/comm || fail 'it draws where there is no terminal'
    printf x >&9
    exec 9>&-
    wait "$hashing" || fail "exit code $?"
    expect_same_as expected
    [[ ! -s err ]] || fail "something on standard error: $(cat err)"
    ;;
  TheSumsOfItsPageAreThoseOfTheFiles)
    cd "$(dirname "$0")/../.."
    grep -E '^[0-9a-f]{64}  ' docs/commands/hash.md > "$world/sums" || fail 'the page shows no sums'
    code=0
    "$penstock" hash --device cpu --check "$world/sums" > "$world/out" 2>&1 || code=$?
    [[ $code == 0 ]] || fail "$(cat "$world/out")"
    ;;
  StopsWhileItsTilesAreTouched)
    mkfifo pipe
    exec 8<> pipe # So that it never ends.
    # 1 GiB of them takes some tenths of a second. A machine that stands still may let that pass before the signal is seen.
    for try in {1..20}; do
      listening hash --device cpu --tile 256MiB --tiles 4 pipe > out 2> err &
      hashing=$!
      until grep -qs ps-touch "/proc/$hashing"/task/*/comm || fills "$hashing" || ! kill -0 "$hashing" 2> /dev/null; do :; done
      kill -INT "$hashing" 2> /dev/null || true
      code=0
      wait "$hashing" || code=$?
      ! grep -q 'There is no memory' err || { cat err; exit 77; }
      expect_code 130
      [[ $(wc -l < err) == 1 && ! -s out ]] || fail "more than one line: $(cat out err)"
      ! grep -qF 'Interrupted: 1.0 GiB of memory for tiles were not yet ready' err || break
      ((try < 20)) || fail "it touched all of them first: $(cat err)"
    done
    ;;
  StopsCleanlyWhenInterrupted)
    mkfifo pipe
    # interrupted ARGUMENT...: it reads the pipe, which never ends, and is interrupted there.
    interrupted() {
      listening hash --device cpu "$@" <&8 > out 2> err &
      hashing=$!
      exec 9> pipe
      # More than a pipe holds: once all is written, some was read, and it waits for more or soon will.
      head -c 200000 /dev/zero >&9
      kill -INT "$hashing"
      code=0
      wait "$hashing" || code=$?
      exec 9>&- 8<&-
      expect_code 130
      expect_err 'Interrupted'
      [[ $(wc -l < err) == 1 ]] || fail "$*: not one line: $(cat err)"
      [[ ! -s out ]] || fail "$*: it printed a hash of what it did not read to its end"
    }
    exec 8< /dev/null
    interrupted pipe
    for words in - '' '--check -'; do
      # For reading and writing, so that opening it does not wait for the writer.
      exec 8<> pipe
      # shellcheck disable=SC2086  # Two words are meant, or none.
      interrupted $words
    done
    exec 8< /dev/null
    interrupted --check pipe
    ;;
  *) fail "no case $2" ;;
esac
