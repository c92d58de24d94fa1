#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# watched_program.sh PENSTOCK CASE FOLDER: what a GPU recorded in FOLDER, examples/course/watched, is read without one. Exit code 77 as
# long as there is no record.
folder=$(realpath "$3")
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"
records=0

case $2 in
  RecordsOfAGpuShowWhatTheyAreThereFor)
    while IFS=: read -r program claim; do
      record=$folder/${program%% *}.json
      [[ -e $record ]] || continue
      records=$((records + 1))
      run watch --read "$record" --expect "${claim# }" --html page.html
      expect_code 0
      expect_out 'one after the other'
      [[ -s page.html ]] || fail "$record: no page"
    done < <(grep -v '^#' "$folder/claims.txt")
    # None lies there that the list does not have.
    [[ $(find "$folder" -name '*.json' | wc -l) == "$records" ]] || fail "not in claims.txt: $(ls "$folder")"
    if [[ $records == 0 ]]; then
      echo "skipped: no record of a GPU is in $folder; record.sh makes them"
      exit 77
    fi
    ;;
  IsRecordedByItsScript)
    # Stand-ins for penstock and the programs.
    mkdir -p there bin
    cp "$folder/record.sh" "$folder/claims.txt" there
    printf '%s\n' '#!/bin/sh' "echo \"\$*\" >> $PWD/asked" 'echo "{}"' > bin/penstock
    chmod +x bin/penstock
    ./there/record.sh bin > out
    [[ $(wc -l < out) == "$(grep -cv '^#' there/claims.txt)" ]] || fail "$(cat out)"
    head -n 1 asked | grep -qxF 'watch --json --expect legacy > 0 -- ./stray_launch_cuda' || fail "$(cat asked)"
    grep -qxF 'watch --json --expect pageable > 0 -- ./pageable_copy cuda' asked || fail "$(cat asked)"
    [[ $(cat there/stray_launch_cuda.json) == '{}' && -z $(find there -name '*.new') ]] || fail "$(ls there)"
    # Of one whose claim does not hold nothing stays.
    rm there/*.json
    printf '#!/bin/sh\nexit 1\n' > bin/penstock
    ! ./there/record.sh bin > out || fail 'it is recorded all the same'
    [[ -z $(find there -name '*.json') ]] || fail "$(ls there)"
    ;;
  *) fail "no case $2" ;;
esac
