#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: hash_program.sh PENSTOCK CASE
# Holds `penstock hash` to b3sum, as a user sees both: output, standard error, exit code. Each case is a test of its own.
set -euo pipefail
export LC_ALL=C
penstock=$(realpath "$1")
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
cd "$world"
command -v b3sum > /dev/null || { echo 'b3sum is not installed'; exit 77; }

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
# Runs it and keeps what it said: code, and the files out and err.
run() {
  code=0
  "$penstock" hash --device cpu "$@" > out 2> err || code=$?
}
expect_code() { [[ $code == "$1" ]] || fail "exit code $code instead of $1: $(cat err)"; }
expect_err() { grep -qF -- "$1" err || fail "standard error does not say '$1' but: $(cat err)"; }
expect_same_as() { cmp -s "$1" out || fail "not what b3sum prints: $(diff "$1" out | head -4)"; }
some_bytes() { head -c "$1" /dev/urandom > "$2"; }

case $2 in
  SameLinesAsTheReferenceForEveryLength)
    for length in 0 1 63 64 65 1023 1024 1025 2048 4095 4096 65535 65536 65537 131072 1048575 1048577 3000000; do
      some_bytes "$length" "file-$length"
    done
    b3sum file-* > expected
    run --tile 64KiB file-*
    expect_code 0
    expect_same_as expected
    ;;
  SameLinesForEveryCombinationOfThreadsTilesAndOrder)
    mkdir -p tree/a tree/b
    some_bytes 9500000 tree/large
    for k in {1..40}; do some_bytes $((k * 701)) "tree/a/$k"; done
    : > tree/b/empty
    find tree -type f | sort | xargs b3sum > expected
    for producers in 1 2 7; do
      for lanes in 1 3; do
        for tile in 64KiB 1MiB 4MiB; do
          for order in '' --ordered; do
            run --producers "$producers" --lanes "$lanes" --tile "$tile" $order tree
            expect_code 0
            expect_same_as expected
          done
        done
      done
    done
    ;;
  ASmallFileTakesLittleMemory)
    some_bytes 300000 a
    printf hello > b
    run --tile 1GiB --json a b
    expect_code 0
    tail -n 1 out | grep -qF '"pool":{"tiles":2,"tile_bytes":524288}' || fail "$(cat out)"
    b3sum a b > expected
    run --tile 1GiB a b
    expect_same_as expected
    # The list does not say how large they are.
    run --check --json --tile 64KiB --tiles 5 expected
    tail -n 1 out | grep -qF '"pool":{"tiles":5,"tile_bytes":65536}' || fail "$(cat out)"
    ;;
  NamesThatNeedEscapingAndNamesThatAreNoText)
    printf a > 'back\slash'
    printf b > $'new\nline'
    printf c > $'not\xfftext'
    printf d > 'with  spaces'
    b3sum ./* > ../expected-$$
    run ./back* ./new* ./not* ./with*
    mv ../expected-$$ expected
    expect_same_as expected
    run ./back* ./new* ./with*
    cp out sums
    run --check sums
    expect_code 0
    b3sum --check sums > expected
    expect_same_as expected
    ;;
  StandardInputPipesAndWhatOnlyLooksEmpty)
    some_bytes 300000 data
    b3sum < data > expected
    for tile in 1KiB 4KiB 4MiB; do
      code=0
      "$penstock" hash --device cpu --tile "$tile" < data > out 2> err || code=$?
      expect_code 0
      expect_same_as expected
    done
    head -c 8192 data | b3sum > expected
    head -c 8192 data | "$penstock" hash --device cpu --tile 4KiB - > out
    expect_same_as expected
    mkfifo pipe
    cat data > pipe &
    run pipe
    [[ $(cut -d' ' -f1 out) == $(b3sum --no-names data) ]] || fail 'a named pipe'
    # The same with the reader there first.
    "$penstock" hash --device cpu pipe > out &
    cat data > pipe
    wait $!
    [[ $(cut -d' ' -f1 out) == $(b3sum --no-names data) ]] || fail 'a named pipe that waits for its writer'
    b3sum /proc/version /dev/null > expected
    run /proc/version /dev/null
    expect_same_as expected
    ;;
  FilesThatHoldLessOrMoreThanTheirSizeSays)
    # Of /sys a page is claimed for a line, of /proc nothing for a table.
    less=$(find /sys/kernel/mm /sys/kernel/uevent_seqnum -type f -size 4096c -readable -print -quit 2> /dev/null) || true
    [[ -n $less ]] || { echo 'no file in /sys claims a page'; exit 77; }
    # Those of /proc/sys refuse a read of 4 MiB.
    more=(/proc/filesystems /proc/sys/kernel/ostype)
    b3sum "$less" "${more[@]}" > expected
    for tile in 1KiB 4KiB 4MiB; do
      run --producers 3 --tile "$tile" "$less" "${more[@]}"
      expect_code 0
      expect_same_as expected
    done
    ;;
  OthersAreStillHashedWhenOneCannotBeRead)
    some_bytes 5000 a
    some_bytes 5000 z
    mkdir tree
    mkfifo tree/pipe
    cp a tree/a
    run a missing tree z
    expect_code 1
    b3sum a tree/a z > expected
    expect_same_as expected
    expect_err 'missing: No such file or directory'
    expect_err 'tree/pipe: is a pipe'
    [[ $(wc -l < err) == 2 ]] || fail 'one line for each file that failed'
    run '' a
    expect_code 1
    expect_err "'': an empty path names no file"
    b3sum a > expected
    expect_same_as expected
    if [[ $(id -u) == 0 ]] && command -v setpriv > /dev/null; then
      chmod 000 a
      chmod 755 . && cp "$penstock" ./penstock
      # Nobody else may be able to read the checkout that the thread sanitizer's list lies in.
      if [[ ${TSAN_OPTIONS:-} =~ suppressions=([^:]+) ]]; then
        cp "${BASH_REMATCH[1]}" sanitizer.supp
        export TSAN_OPTIONS=suppressions=$PWD/sanitizer.supp
      fi
      code=0
      setpriv --reuid 65534 --clear-groups ./penstock hash --device cpu a z > out 2> err || code=$?
      expect_code 1
      expect_err 'a: Permission denied'
      b3sum z > expected
      expect_same_as expected
    fi
    ;;
  AFullDiskIsNoSuccess)
    some_bytes 1000 a
    code=0
    "$penstock" hash --device cpu a > /dev/full 2> err || code=$?
    expect_code 1
    expect_err 'Standard output'
    ;;
  SparseFilesLikeAnyOther)
    truncate -s 70000000 sparse
    printf x | dd of=sparse bs=1 seek=50000000 conv=notrunc status=none
    b3sum sparse > expected
    run sparse
    expect_same_as expected
    ;;
  ChecksAsTheReferenceDoes)
    some_bytes 1000 a
    some_bytes 2000 b
    some_bytes 3000 c
    b3sum a b c > sums
    b3sum --check sums > expected
    run --check sums
    expect_code 0
    expect_same_as expected
    printf x >> b
    rm c
    b3sum --check sums > expected || true
    run --check sums
    expect_code 1
    expect_same_as expected
    run --check --quiet sums
    expect_code 1
    grep -v ': OK$' expected > quiet
    expect_same_as quiet
    b3sum a > sums
    printf 'no sum\n\n' >> sums
    run --check sums
    expect_code 1
    expect_err 'sums: line 2: Not a checksum line'
    expect_err 'sums: line 3: Empty line'
    run --check no-such-list
    expect_code 1
    expect_err 'no-such-list: No such file'
    mkdir folder
    run --check folder
    expect_code 1
    expect_err 'folder: Is a directory'
    ;;
  OneObjectALineAndTheSummaryLast)
    some_bytes 1000 a
    run --json a missing
    expect_code 1
    [[ $(wc -l < out) == 3 ]] || fail 'three lines'
    grep -qF "\"path\":\"a\",\"bytes\":1000,\"blake3\":\"$(b3sum --no-names a)\"" out || fail "$(cat out)"
    grep -qF '"path":"missing","problem":"No such file' out || fail "$(cat out)"
    tail -n 1 out | grep -qF '"summary":{"device":"CPU device","files":2,"problems":1' || fail "$(cat out)"
    [[ $(cat err) == 'penstock: missing: No such file or directory (os error 2)' ]] || fail "$(cat err)"
    b3sum a > sums
    printf x >> a
    printf '%064d  missing\n' 0 >> sums
    run --json --check sums
    expect_code 1
    grep -qF '"matches":false' out || fail "$(cat out)"
    [[ $(cat err) == 'penstock: missing: No such file or directory (os error 2)' ]] || fail "$(cat err)"
    ;;
  BadOptionsAreOneLineAndExitCodeTwo)
    while read -r words; do
      # shellcheck disable=SC2086  # Several words are meant.
      run $words
      expect_code 2
      [[ $(wc -l < err) == 1 ]] || fail "$words: not one line: $(cat err)"
      [[ ! -s out ]] || fail "$words: something on standard output"
    done << 'WORDS'
--tile 3MiB
--tile 512
--tile lots
--tile 2GiB
--tiles 70000
--producers -1
--producers many
--lanes 100000
--device gpu
--device cuda:x
--no-such-option
--quiet
--check --no-names
--json --no-names
--json --check --quiet
WORDS
    run --producers -1
    expect_err "--producers: '-1' is not a whole number from 0 to 1024"
    expect_err 'penstock hash --help'
    run --tile 4MB
    expect_err '--tile 4MB is 4000000 bytes: hash needs a power of two'
    run --bogus
    expect_err 'penstock hash --help'
    for command in bogus ''; do
      code=0
      "$penstock" ${command:+"$command"} > out 2> err || code=$?
      expect_code 2
      expect_err "${command:-subcommand is required}"
      expect_err '(penstock --help'
    done
    ;;
  NoProgressInAPipeAndHelpThatNamesEveryOption)
    some_bytes 1000 a
    run a
    [[ ! -s err ]] || fail "something on standard error: $(cat err)"
    run --help
    expect_code 0
    for option in --check --json --device --producers --lanes --consumers --tile --tiles --ordered --no-bind; do
      grep -qF -- "$option" out || fail "no word of $option"
    done
    for words in 'At most 1024' 'At most 65534' '0 means the default' '4MiB and not 4MB' '1000-fold'; do
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
  StopsCleanlyWhenInterrupted)
    mkfifo pipe
    # interrupted ARGUMENT...: it reads the pipe, which never ends, and is interrupted there.
    interrupted() {
      "$penstock" hash --device cpu "$@" <&8 > out 2> err &
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
