#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packets_ledger.sh PROGRAM CASE: what `packets run --ledger` prints is what `packets run` prints, however often it is stopped.
# shellcheck source=tests/jobs/job_world.sh
source "$(dirname "$0")/job_world.sh"
# shellcheck source=tests/jobs/ledger_world.sh
source "$here/ledger_world.sh"
command -v python3 >/dev/null || {
  echo 'python3 is not here: install it'
  exit 77
}
# some_capture FORMAT PACKETS FILE: by a seed of its own.
some_capture() { python3 "$here/make_captures.py" "$1" "$2" "$3" wanted.flows wanted.totals; }

case $case in
  AddsUpWithALedgerWhatItAddsUpInOneGo)
    some_capture pcap 3000 one
    some_capture pcapng 2000 two
    gzip <two >packed.gz
    head -c 40000 one >broken
    python3 -c 'import sys; sys.stdout.buffer.write(open("one", "rb").read(24))' >empty
    some_capture pcap 100 small
    number=0
    while IFS='|' read -r inputs options; do
      # shellcheck disable=SC2086 # Several words.
      in_one_go run --input $inputs $options
      # A lease for each, and one for several.
      for lease in 1B 64MiB; do
        # shellcheck disable=SC2086
        with_ledger "ledger$((++number))" run --input $inputs $options --lease "$lease"
        same_results
      done
      # shellcheck disable=SC2086
      with_ledger "ledger$((++number))" run --input $inputs $options --lease 1B --workers 2
      same_results
    done <<'END'
one two packed.gz empty small|--top 0
one one small|--top 0 --tile 16KiB --producers 2
small broken two|--top 0
one|--top 3
END
    # The ledger of the last needs no worker any more: one would end with code 2, as there is no such device.
    code=0
    "$program" run --device nowhere --ledger "ledger$number" --input one --top 3 --lease 1B --workers 2 >out 2>err || code=$?
    same_results
    in_one_go run --json --input one packed.gz
    with_ledger json run --json --input one packed.gz --lease 1B
    same_members options digest results left_out bytes_in failed
    ;;
  GoesOnAfterItWasStoppedOrKilled)
    inputs=()
    for k in 1 2 3 4 5 6; do
      some_capture pcap 2000 "part$k"
      inputs+=("part$k")
    done
    in_one_go run --top 0 --input "${inputs[@]}"
    run_and_stop run --top 0 --input "${inputs[@]}" --lease 1B
    same_results
    ;;
  RefusesWhatALedgerCannotHave)
    some_capture pcap 100 one
    with_ledger ledger run --input one
    [[ $code == 0 ]] || fail "$(cat err)"
    while IFS='|' read -r options said; do
      # shellcheck disable=SC2086 # Several words.
      with_ledger ledger run $options
      [[ $code == 2 ]] || fail "$options: exit code $code"
      grep -qF -- "$said" err || fail "$options: it says $(cat err)"
    done <<'END'
--input one one|is the ledger of other work
--input one --top 3|is the ledger of other work
--input -|'-' is no regular file: name files, or leave out --ledger
--interface lo|leave out --ledger
END
    ;;
  *) fail "no such case: $case" ;;
esac
