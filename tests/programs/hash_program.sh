#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: hash_program.sh PENSTOCK CASE
# Holds what `penstock hash` prints to what b3sum prints.
# Each case is a test of its own.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"
command -v b3sum > /dev/null || { echo 'b3sum is not installed'; exit 77; }
# With cpu small files are hashed where they are read, with cpu:0 each has a tile of the pipeline.
device=cpu
penstock_hash() { run hash --device "$device" "$@"; }

case $2 in
  SameLinesAsTheReferenceForEveryLength)
    for length in 0 1 63 64 65 1023 1024 1025 2048 4095 4096 65535 65536 65537 131072 1048575 1048577 3000000; do
      some_bytes "$length" "file-$length"
    done
    b3sum file-* > expected
    for device in cpu cpu:0; do
      penstock_hash --tile 64KiB file-*
      expect_code 0
      expect_same_as expected
    done
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
          for order in no yes; do
            for device in cpu cpu:0; do
              penstock_hash --producers "$producers" --lanes "$lanes" --tile "$tile" --ordered "$order" tree
              expect_code 0
              expect_same_as expected
            done
          done
        done
      done
    done
    ;;
  ASmallFileTakesLittleMemory)
    some_bytes 300000 a
    printf hello > b
    penstock_hash --tile 1GiB --json a b
    expect_code 0
    tail -n 1 out | grep -qF '"pool":{"tiles":2,"tile_bytes":524288}' || fail "$(cat out)"
    b3sum a b > expected
    penstock_hash --tile 1GiB a b
    expect_same_as expected
    # The list does not say how large they are.
    penstock_hash --check --json --tile 64KiB --tiles 5 expected
    tail -n 1 out | grep -qF '"pool":{"tiles":5,"tile_bytes":65536}' || fail "$(cat out)"
    ;;
  NamesThatNeedEscapingAndNamesThatAreNoText)
    printf a > 'back\slash'
    printf b > $'new\nline'
    printf c > $'not\xfftext'
    printf d > 'with  spaces'
    b3sum ./back* ./new* ./not* ./with* > expected
    penstock_hash ./back* ./new* ./not* ./with*
    expect_same_as expected
    penstock_hash ./back* ./new* ./with*
    cp out sums
    penstock_hash --check sums
    expect_code 0
    b3sum --check sums > expected
    expect_same_as expected
    # A path that would be escaped in a line that says nothing of it, as nothing but a person writes it.
    printf e > 'new\nline'
    { printf '%s  new\\nline\n' "$(b3sum --no-names 'new\nline')"; printf '%064d  gone\\nline\n' 0; } > sums
    b3sum --check sums > expected 2> /dev/null || true
    penstock_hash --check sums
    expect_code 1
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
    penstock_hash pipe
    [[ $(cut -d' ' -f1 out) == $(b3sum --no-names data) ]] || fail 'a named pipe'
    # The same with the reader there first.
    "$penstock" hash --device cpu pipe > out &
    cat data > pipe
    wait $!
    [[ $(cut -d' ' -f1 out) == $(b3sum --no-names data) ]] || fail 'a named pipe that waits for its writer'
    b3sum /proc/version /dev/null > expected
    penstock_hash /proc/version /dev/null
    expect_same_as expected
    ;;
  FilesThatHoldLessOrMoreThanTheirSizeSays)
    # Of /sys a page is claimed for a line, of /proc nothing. These say the same as long as the machine is up.
    less=/sys/devices/system/cpu/possible
    [[ $(stat -c %s "$less" 2> /dev/null) == 4096 ]] || { echo "there is no $less that claims a page"; exit 77; }
    # Those of /proc/sys refuse a read of 4 MiB.
    more=(/proc/version /proc/sys/kernel/ostype)
    b3sum "$less" "${more[@]}" > expected
    for tile in 1KiB 4KiB 4MiB; do
      for device in cpu cpu:0; do
        penstock_hash --producers 3 --tile "$tile" "$less" "${more[@]}"
        expect_code 0
        expect_same_as expected
      done
    done
    ;;
  TheSameLinesOnSeveralDevices)
    for size in 0 1 5000 70000 3000000; do some_bytes "$size" "of$size"; done
    b3sum of* > expected
    for devices in cpu,cpu cpu:0,cpu:1,cpu:2 all; do
      run hash of* --device "$devices" --tile 64KiB --ordered yes
      expect_code 0
      expect_same_as expected
    done
    run hash of* --device cpu,cpu --lanes 1 --json
    expect_out '"devices":[{"name":"cpu:0","lanes":1,'
    expect_out '{"name":"cpu:1","lanes":1,'
    ;;
  OthersAreStillHashedWhenOneCannotBeRead)
    some_bytes 5000 a
    some_bytes 5000 z
    mkdir tree
    mkfifo tree/pipe
    cp a tree/a
    penstock_hash a missing tree z
    expect_code 1
    b3sum a tree/a z > expected
    expect_same_as expected
    expect_err 'missing: No such file or directory'
    expect_err 'tree/pipe: is a pipe'
    [[ $(wc -l < err) == 2 ]] || fail 'one line for each file that failed'
    penstock_hash '' a
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
  SparseFilesLikeAnyOther)
    truncate -s 70000000 sparse
    printf x | dd of=sparse bs=1 seek=50000000 conv=notrunc status=none
    b3sum sparse > expected
    penstock_hash sparse
    expect_same_as expected
    ;;
  ChecksAsTheReferenceDoes)
    some_bytes 1000 a
    some_bytes 2000 b
    some_bytes 3000 c
    b3sum a b c > sums
    b3sum --check sums > expected
    penstock_hash --check sums
    expect_code 0
    expect_same_as expected
    printf x >> b
    rm c
    b3sum --check sums > expected || true
    penstock_hash --check sums
    expect_code 1
    expect_same_as expected
    penstock_hash --check --quiet sums
    expect_code 1
    grep -v ': OK$' expected > quiet
    expect_same_as quiet
    b3sum a > sums
    printf 'no sum\n\n' >> sums
    penstock_hash --check sums
    expect_code 1
    expect_err 'sums: line 2: Not a checksum line'
    expect_err 'sums: line 3: Empty line'
    penstock_hash --check no-such-list
    expect_code 1
    expect_err 'no-such-list: No such file'
    mkdir folder
    penstock_hash --check folder
    expect_code 1
    expect_err 'folder: Is a directory'
    ;;
  *) fail "no case $2" ;;
esac
