#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lines.sh PROGRAM CASE: the job `lines` says of a file what awk says of it.
# shellcheck source=tests/jobs/job_world.sh
source "$(dirname "$0")/job_world.sh"

# An access log of so many lines, of which some have no bytes, a quote in the request, or no status.
some_log() {
  awk -v lines="$1" 'BEGIN {
    srand(3)
    split("200 200 200 200 304 404 301 500 206 1204", status)
    for (k = 1; k <= lines; ++k) {
      request = "GET /" int(rand() * 1e6) (rand() < 0.1 ? "/a\\\"b" : "") " HTTP/1.1"
      bytes = rand() < 0.1 ? "-" : int(rand() * 1e9)
      printf "10.0.%d.%d - - [17/May/2015:10:05:%02d +0000] \"%s\" %s %s \"-\" \"agent of %s\"\n", k % 256, k % 200,
        k % 60, request, rand() < 0.01 ? "-" : status[1 + int(rand() * 10)], bytes, substr("abcdefghijklmnopqrstuvwxyz", 1, k % 26)
    }
  }' >log
}
# What awk finds in an access log, by the place behind the request's last quote.
by_awk() {
  awk '{
    rest = $0
    sub(/^[^"]*"([^"\\]|\\.)*" /, "", rest)
    split(rest, field, " ")
    key = field[1] ~ /^[0-9][0-9][0-9]$/ ? field[1] : "other"
    ++lines[key]
    if (key != "other" || field[1] == "-") sum[key] += field[2] == "-" ? 0 : field[2]
  } END { for (key in lines) printf "%s %.0f %.0f\n", key, lines[key], sum[key] }' "$1" >expected
}

case $case in
  SumsAnAccessLogAsAwkDoes)
    some_log 60000
    by_awk log
    for options in '' '--tile 64KiB --producers 4 --lanes 2' '--tile 4KiB'; do
      # shellcheck disable=SC2086 # Several words.
      "$program" run --device cpu --input log $options >out 2>err || fail "$(cat err)"
      same_lines
    done
    "$program" run --device cpu --input - <log >out 2>err || fail "$(cat err)"
    same_lines
    # Its writer must have one reader, from the beginning to the end.
    mkfifo named
    cat log >named &
    timeout 60 "$program" run --device cpu --input named >out 2>err || fail "a named pipe: $(cat err)"
    wait $! || fail 'the writer of a named pipe lost its reader'
    same_lines
    for options in '--run-to-completion yes' '--run-to-completion yes --tile 4KiB --lanes 3'; do
      # shellcheck disable=SC2086 # Several words.
      "$program" run --device cpu --input log $options >out 2>err || fail "$(cat err)"
      same_lines
    done
    ;;
  RefusesOptionsThatDoNotFitTogether)
    some_log 10
    while IFS=: read -r options words; do
      code=0
      # shellcheck disable=SC2086 # Several words.
      "$program" run --device cpu $options <log >out 2>err || code=$?
      [ "$code" = 2 ] || fail "$options: $code, $(cat err)"
      grep -qF -- "$words" err || fail "$options: $(cat err)"
    done <<'EOF'
--input log --from 2015-05-17:give --by second, minute, hour or day
--input - --follow yes:Standard input is read until its writer ends it
--input log --run-to-completion yes --producers 2:leave out --producers
EOF
    code=0
    "$program" run --device cpu --input log --tile 100 >out 2>err || code=$?
    [ "$code" = 1 ] || fail "lines were lost: $code, $(cat err)"
    grep -qE 'records?, too long for a tile: make tiles larger than 100 B with --tile' err || fail "$(cat out err)"
    ;;
  SumsSeveralLogsAsOne)
    some_log 9000
    by_awk log
    head -n 2000 log >first
    sed -n 2001,5000p log | gzip >second.gz
    : >empty
    tail -n +5001 log >third
    "$program" run --device cpu --input first empty second.gz --input third --tile 16KiB --producers 3 >out 2>err || fail "$(cat err)"
    same_lines
    "$program" run --device cpu --input first second.gz - --json <third >json 2>err || fail "$(cat err)"
    python3 -c 'import json; all = json.load(open("json")); open("out", "w").write(all["results"]); print(*all["options"]["input"])' |
      grep -qx 'first second.gz -' || fail 'not all inputs are said'
    same_lines
    "$program" bench --device cpu --input first second.gz third --repeats 1 --window 20 --load 0 >out 2>err || fail "bench: $(cat err)"
    printf 'input = ["first", "second.gz", "third"]\ndevice = "cpu"\n' >some.toml
    if "$program" run --config some.toml >out 2>err; then same_lines; else grep -q 'reads no TOML' err || fail "$(cat err)"; fi
    # What is wrong with one of them does not end the others.
    head -c -1 second.gz >cut.gz
    ! "$program" run --device cpu --input first cut.gz third >out 2>err || fail 'a file that is cut short was taken'
    grep -q 'cut.gz: it ends at byte' err || fail "$(cat err)"
    [[ $(awk '{ all += $2 } END { print all }' out) -ge 6000 ]] || fail 'the other files were left out'
    ! "$program" bench --device cpu --input first - >out 2>err || fail 'standard input was measured'
    grep -q 'standard input can be read only once' err || fail "$(cat err)"
    ! "$program" run --device cpu --input first nowhere >out 2>err || fail 'there is no such file'
    grep -q "'nowhere': No such file" err || fail "$(cat err)"
    ;;
  SumsACompressedLogAsThePlainOne)
    some_log 20000
    by_awk log
    # Each in one member, and in two.
    tried=''
    for command in gzip bgzip pigz zstd pzstd lz4; do
      command -v "$command" >/dev/null || continue
      tried+=" $command"
      "$command" -c log >one 2>err || fail "$command: $(cat err)"
      head -n 7000 log | "$command" -c >two 2>err
      tail -n +7001 log | "$command" -c >>two 2>err
      for file in one two; do
        "$program" run --device cpu --input "$file" --tile 64KiB --producers 3 >out 2>err || fail "$command: $(cat err)"
        same_lines
        # shellcheck disable=SC2002 # It is to be a pipe.
        cat "$file" | "$program" run --device cpu --input - >out 2>err || fail "$command: $(cat err)"
        same_lines
      done
      head -c "$(($(stat -c %s two) - 1))" two >short
      ! "$program" run --device cpu --input short >out 2>err || fail "$command: a file that is cut short was taken"
      grep -q 'short: it ends at byte .*copy it or make it again' err || fail "$(cat err)"
    done
    # Filling alone is measured, too, where a source waits in `next` until what it gave is filled.
    timeout 60 "$program" bench --device cpu --input two --repeats 1 --window 20 --load 0 >out 2>err || fail "bench: $(cat err)"
    echo "compressed by$tried"
    ;;
  SumsATableByTheFieldsThatAreNamed)
    awk 'BEGIN { for (k = 0; k < 50000; ++k) printf "\"a,%d\",%d,%d\n", k, k % 7, k }' >table.csv
    awk -F, '{ ++lines[$3 % 7]; sum[$3 % 7] += $4 } END { for (key in lines) printf "%s %.0f %.0f\n", key, lines[key], sum[key] }' table.csv >expected
    "$program" run --device cpu --input table.csv --format csv --key 2 --sum 3 >out 2>err || fail "$(cat err)"
    same_lines
    "$program" run --device cpu --input table.csv --format csv --key 2 --sum 3 --groups 4 >out 2>err || fail "$(cat err)"
    [ "$(wc -l <out)" = 5 ] || fail "$(cat out)"
    grep -q '^other 2142' out || fail "$(cat out)"
    grep -q '^The row .other. has 2142[0-9] of 50000 lines, as field 2 is no number below 4. Give --groups 7 to have' err || fail "$(cat err)"
    "$program" run --device cpu --input table.csv --format csv --key 2 --sum 3 --groups 7 >out 2>err || fail "$(cat err)"
    ! grep 'other' out err || fail "$(cat err)"
    "$program" run --device cpu --input table.csv --format csv >out 2>err || fail "$(cat err)"
    grep -q '^The row .other. has 50000 of 50000 lines, as field 1 is no number below 1000. Give --key ' err || fail "$(cat err)"
    ;;
  CountsLinesWithAPatternAsGrepDoes)
    some_log 60000
    # Of paths, agents and addresses; some are in no line, and some are short.
    awk 'BEGIN { for (k = 0; k < 3000; ++k) printf "GET /%d HTTP\n", k * 331; print "10.0.77.19"; print "/a\\\"b"; print "/99" }' >patterns
    grep -F -f patterns log >chosen
    by_awk chosen
    if [ "$(wc -l <chosen)" -lt 1000 ] || [ "$(wc -l <chosen)" -gt 50000 ]; then fail "$(wc -l chosen)"; fi
    for options in '' '--tile 64KiB --producers 4 --lanes 2' '--tile 4KiB'; do
      # shellcheck disable=SC2086 # Several words.
      "$program" run --device cpu --input log --patterns patterns $options >out 2>err || fail "$(cat err)"
      same_lines
    done
    printf 'one\n\n' >patterns
    ! "$program" run --device cpu --input log --patterns patterns >out 2>err || fail 'an empty pattern was taken'
    grep -q 'Line 2 is empty' err || fail "$(cat err)"
    ;;
  TakesNoLongerWithPatternsThatAreMuchAlike)
    # A million bytes, whose lines begin as all patterns do, or have what all have in their middle.
    awk 'BEGIN { a = sprintf("%100s", ""); gsub(/ /, "a", a); for (k = 0; k < 5000; ++k) printf "1 1 %s\n2 1 %sb%s\n", a, a, substr(a, k % 90 + 1) }' >alike
    awk 'BEGIN { a = sprintf("%1100s", ""); gsub(/ /, "a", a); for (k = 101; k <= 1100; ++k) print substr(a, 1, k) }' >longer
    awk 'BEGIN { a = sprintf("%1100s", ""); gsub(/ /, "a", a); for (k = 95; k < 1000; ++k) print substr(a, 1, k) "b" substr(a, 1, 1000 - k) }' >around
    cat longer around >both
    for patterns in longer around both; do
      grep -F -f "$patterns" alike | awk '{ ++lines[$1] } END { for (key in lines) print key, lines[key], lines[key] }' >expected || true
      # It is CPU time, and ten times what it takes on a machine of 2020, or under a sanitizer.
      (ulimit -t "$([[ ${TSAN_OPTIONS:-}${UBSAN_OPTIONS:-} ]] && echo 50 || echo 5)" && exec "$program" run --device cpu --input alike --format words --key 1 --sum 2 --patterns "$patterns" >out 2>err) ||
        fail "$patterns: $(cat err)"
      same_lines
    done
    ;;
  ReadsItsPatternsOnce)
    printf '1 5 curl\n2 6 wget\n' >log
    echo '1 1 5' >expected
    with() {
      timeout 60 "$program" run --device cpu --input log --format words --key 1 --sum 2 --patterns "$1" >out 2>err || fail "$2: $(cat err)"
      same_lines
    }
    with <(echo curl) 'a pipe'
    mkfifo named
    echo curl >named &
    with named 'a named pipe'
    wait $! || fail 'the writer of a named pipe lost its reader'
    for tool in gzip zstd lz4; do
      command -v "$tool" >/dev/null || continue
      echo curl | "$tool" -c >packed
      with packed "$tool"
      with <(cat packed) "$tool through a pipe"
    done
    printf '\xef\xbb\xbfcurl\r\n' >marked
    with marked 'a byte order mark'
    printf 'curl\rperl\r' >returns
    with returns 'lines that end by a return'
    printf '\xff\xfec\0u\0\n\0' >utf16
    ! "$program" run --device cpu --input log --patterns utf16 >out 2>err || fail 'UTF-16 was taken'
    grep -q 'iconv -f UTF-16' err || fail "$(cat err)"
    ;;
  ReadsALogThatGrows)
    some_log 60000
    by_awk log
    cp expected at_start
    # It grows by parts of lines, all the time.
    (for ((k = 0; k < 500000; ++k)); do printf '10.0.0.1 - - [17/May/2015:10:05:03 +0000] "GET /'; printf 'x HTTP/1.1" 200 5 "-" "a"\n'; done) >>log &
    writer=$!
    trap 'kill "$writer" || :; rm -rf "$scratch"' EXIT
    for _ in 1 2 3; do
      "$program" run --device cpu --input log --tile 64KiB >out 2>err || fail "$(cat err)"
      ! grep -q '^Left out.* record' err || fail "$(cat err)"
      # All that was there at the start, and nothing but whole lines.
      join <(sort at_start) <(sort out) | awk '$4 < $2 || ($1 != 200 && $4 != $2) { exit 1 }' || fail "$(cat out)"
      [ "$(wc -l <out)" = "$(wc -l <at_start)" ] || fail "$(cat out)"
    done
    kill "$writer" || :
    trap 'rm -rf "$scratch"' EXIT
    ;;
  FollowsALogUntilItIsInterrupted)
    some_log 3000
    cp log all
    : >err
    "$program" run --device cpu --input log --follow yes --stats-every 0.1 --metrics 127.0.0.1:0 --tile 64KiB >out 2>err &
    lines=$!
    await() {
      for _ in $(seq 600); do
        "$@" && return
        sleep 0.1
      done
      fail "$* $(cat err)"
    }
    reads_or_has_ended() { ! kill -0 "$lines" 2>/dev/null || reads "$1"; }
    reads() { find "/proc/$lines/fd" -printf '%l\n' | grep -qx "$PWD/$1"; }
    # All bytes of both files went through.
    is_through() {
      python3 - "$(sed -n 's|.*: metrics at http://127.0.0.1:\([0-9]*\)/.*|\1|p' err)" "$(($(stat -c %s log) + $(stat -c %s log.1)))" <<'EOF'
import re, sys, urllib.request
port, wanted = sys.argv[1:]
text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20).read().decode()
sys.exit(re.search(r'^penstock_device_bytes_total\{.*direction="up"\} ([0-9.e+]+)$', text, re.M)[1] != wanted)
EOF
    }
    await reads_or_has_ended log
    await grep -q 'tiles lent' err
    mv log log.1
    tail -n 100 all >>log.1
    head -n 2000 all >log
    await reads log
    await is_through
    ! reads log.1 || fail 'it has the old one still'
    kill -TERM "$lines"
    wait "$lines" && fail 'it was not interrupted'
    cat log >>log.1
    by_awk log.1
    same_lines
    ! "$program" bench --device cpu --input log --follow yes >out 2>err || fail 'a measurement has no end'
    grep -q 'only run can follow' out err || fail "$(cat out err)"
    ;;
  EndsAMeasurementThatWaitsForItsInput)
    for command in bench tune; do
      code=0
      "$program" "$command" --device cpu --input - </dev/null 2>err || code=$?
      [ "$code" = 2 ] || fail "$command takes standard input: $(cat err)"
      grep -q 'can be read only once' err || fail "$(cat err)"
    done
    mkfifo pipe
    exec 3<>pipe
    for command in bench tune; do
      "$program" "$command" --device cpu --producers 1 --input pipe >out 2>err 3>&- &
      measurement=$!
      for _ in {1..400}; do
        # A measurement may have a process for each of its runs.
        for process in $measurement $(cat /proc/$measurement/task/*/children 2>/dev/null); do
          if grep -qs ps-fill /proc/"$process"/task/*/comm; then break 2; fi
        done
        sleep 0.05
      done
      kill -TERM $measurement
      code=0
      timeout 60 tail --pid=$measurement -f /dev/null || fail "$command does not end"
      wait $measurement || code=$?
      [ "$code" = 130 ] || fail "$command ends with code $code: $(cat err)"
    done
    ;;
  AnswersWhatItReadWhenItIsTerminated)
    command -v python3 >/dev/null || {
      echo 'python3 is not here: install it'
      exit 77
    }
    python3 "$here/moments.py" "$program" terminated
    ;;
  SaysTheSameInBothFlavours)
    some_log 20000
    "$program" compare --device cpu --input log --window 20 --repeats 1 >out 2>err || fail "$(cat out err)"
    ! grep -q 'results are not those' out err || fail "$(cat out err)"
    grep -q '^as used' out || fail "$(cat out)"
    ;;
  CountsTheLinesOfARealLog)
    log=${PENSTOCK_CAPTURES:-}/apache_logs
    [ -r "$log" ] || {
      echo "the real log is not here: set PENSTOCK_CAPTURES to the folder with apache_logs"
      exit 77
    }
    by_awk "$log"
    "$program" run --device cpu --input "$log" >out 2>err || fail "$(cat err)"
    same_lines
    grep -q '^200 9126 ' out || fail "$(cat out)"
    # By the hour: all of it is of one month.
    sed 's/^[^[]*.\(..\).May.2015:\(..\).*/2015-05-\1T\2:00:00Z/' "$log" | sort | uniq -c | awk '{ print $2, $1 }' >expected
    "$program" run --device cpu --input "$log" --by hour >rows 2>err || fail "$(cat err)"
    cut -d' ' -f1-2 rows >out
    same_lines
    ;;
  *) fail "no case $case" ;;
esac
