#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# line_values.sh PROGRAM CASE: the job `lines` says of JSON, of decimal numbers and of times what other programs say,
# and how to give what it refuses.
# shellcheck source=tests/jobs/job_world.sh
source "$(dirname "$0")/job_world.sh"

needs() {
  command -v "$1" >where || {
    echo "$1 is not here: $2"
    exit 77
  }
}
# A file that was not made here.
real() {
  [ -r "${PENSTOCK_CAPTURES:-}/$1" ] || {
    echo "the file is not here: set PENSTOCK_CAPTURES to the folder with $1" >&2
    exit 77
  }
  echo "$PENSTOCK_CAPTURES/$1"
}
# Runs the job on the file $1 with the other options, as one tile and as many, and expects the same of each.
runs_on() {
  file=$1
  shift
  for tiles in '--tile 1MiB' '--tile 16KiB --producers 4 --lanes 2'; do
    # shellcheck disable=SC2086 # Several words.
    "$program" run --device cpu --input "$file" "$@" $tiles >out 2>err || fail "$(cat err)"
    same_lines
  done
}
# JSON lines: members in any order, strings with what looks like members, nested values, numbers of all kinds, names
# with escapes, members that come twice or not at all, and lines that are broken.
some_json() {
  awk -v lines="$1" 'function one(of, all) { return all[1 + int(rand() * split(of, all, "|"))] }
  BEGIN {
    srand(5)
    for (k = 1; k <= lines; ++k) {
      cents = int(rand() * 2e6) - 1e6
      member[1] = "\"" one("status|status|st\\u0061tus") "\":" one(" |") one("200|200|304|404|\"500\"|-1|2e2|1204|null|[200]|2.5|\"x\"")
      member[2] = "\"bytes\" :" one(" |") one(sprintf("%.2f|%d|%d.5e2|\"%.1f\"|null|{\"bytes\":1}", cents / 100, cents, cents / 1e4, cents / 10))
      member[3] = "\"agent\":\"\\\"status\\\":7,{[ \\\\\\u00e4" one("|,\\\"|}|]|\\\\") "\""
      member[4] = "\"nested\":{\"status\":1,\"list\":[1,{\"bytes\":[]},\"}\"]}"
      member[5] = rand() < 0.1 ? member[1 + int(rand() * 2)] : "\"last\": true"
      line = ""
      for (n = 5; n > 0; --n) {
        chosen = 1 + int(rand() * n)
        if (rand() < 0.95) line = line (line == "" ? "" : ",") member[chosen]
        member[chosen] = member[n]
      }
      print one("{| {") line (rand() < 0.02 ? one(",}|}}|\"}|") : one("}|} "))
    }
  }' >log.json
}
# What jq finds in each line: the status, and the bytes in hundredths; then the sums.
by_jq() {
  jq -R -r 'def number: if type == "string" then (try tonumber catch null) elif type == "number" then . else null end;
    (try fromjson catch {}) | if type == "object" then . else {} end |
    (.status | number) as $key | (.bytes | number) as $bytes |
    (if $key == null or $key != ($key | floor) or $key < 0 or $key >= 1000 then "other" else $key end | tostring) + " " +
    (if $bytes == null then "-" else ($bytes * 100 | round | tostring) end)' "$1" |
    awk '{ ++lines[$1]; if ($2 == "-") ++without[$1]; else sum[$1] += $2 }
    END { for (key in lines) printf "%s %d %.2f %d\n", key, lines[key], sum[key] / 100, without[key] }' >expected
}

case $case in
  SumsJsonLinesAsJqDoes)
    needs jq 'install jq'
    some_json 8000
    by_jq log.json
    grep -q '^other' expected || fail "$(cat expected)"
    runs_on log.json --format json --key-name status --sum-name bytes --places 2
    for options in '--format json' '--format csv --key-name a' '--places 2' '--format json --key-name a --key 1'; do
      # shellcheck disable=SC2086 # Several words.
      ! "$program" run --device cpu --input log.json $options >out 2>err || fail "it took $options"
    done
    ;;
  SaysHowJsonGetsAnObjectALine)
    echo '[{"k":1,"n":5},{"k":2,"n":6}]' >array.json
    printf '{\n  "k": %d,\n  "n": 5\n}\n' 1 2 >pretty.json
    printf '[\n  {\n    "k": 1,\n    "n": 5\n  }\n]\n' >both.json
    for file in array pretty both; do
      "$program" run --device cpu --input $file.json --format json --key-name k --sum-name n >out 2>err || fail "$(cat err)"
      grep -qF "\`jq -c '.[]'\` writes an array so, and \`jq -c .\` objects over several lines" err || fail "$file: $(cat out err)"
      ! grep -q 'Give --format' err || fail "$file: $(cat err)"
    done
    # Few lines without an object do not make it another kind of file.
    printf '{"k":%d,"n":5}\n' 1 2 3 4 >some.json
    echo 'no object' >>some.json
    "$program" run --device cpu --input some.json --format json --key-name k --sum-name n >out 2>err || fail "$(cat err)"
    ! grep -q 'jq -c' err || fail "$(cat err)"
    ;;
  SaysThatMoreGroupsGiveMoreRows)
    printf '%d,1\n' 0 999 1000 4094 4095 >table.csv
    "$program" run --device cpu --input table.csv --format csv >out 2>err || fail "$(cat err)"
    grep -qF -- '--groups is at most 4095: give that for more rows, or --key for a field with smaller numbers' err || fail "$(cat err)"
    "$program" run --device cpu --input table.csv --format csv --groups 4095 >out 2>err || fail "$(cat err)"
    grep -qF -- '--groups is at most 4095: give --key for a field with smaller numbers' err || fail "$(cat err)"
    ;;
  SumsDecimalNumbersAsMawkDoes)
    needs mawk 'install mawk'
    mawk 'BEGIN {
      srand(7)
      for (k = 0; k < 20000; ++k) {
        cents = int(rand() * 2e9) - 1e9
        kind = int(rand() * 5)
        number = kind == 0 ? sprintf("%.2f", cents / 100) : kind == 1 ? sprintf("%+d", cents) : kind == 2 ? \
          sprintf("%.3e", int(cents / 1e6)) : kind == 3 ? sprintf("\"%de-2\"", cents) : "-"
        printf "%d,%s\n", k % 9, number
      }
    }' >table.csv
    mawk -F, '{ gsub(/"/, ""); ++lines[$1]; $2 == "-" ? ++without[$1] : sum[$1] += sprintf("%.0f", $2 * 100) }
      END { for (key in lines) printf "%s %d %.2f %d\n", key, lines[key], sum[key] / 100, without[key] }' table.csv >expected
    runs_on table.csv --format csv --numbers decimal --places 2
    ;;
  GroupsByTimeAsDateDoes)
    # Days around ends of months and leap days, with offsets, and dates that no calendar has.
    awk 'BEGIN {
      srand(9)
      split("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", name, " ")
      for (k = 0; k < 3000; ++k) {
        year = 1999 + int(rand() * 3); month = 1 + int(rand() * 12); day = rand() < 0.5 ? 1 + int(rand() * 31) : 27 + int(rand() * 5)
        zone = sprintf("%s%02d%02d", rand() < 0.5 ? "-" : "+", rand() * 13, int(rand() * 4) * 15)
        time = sprintf("%02d:%02d:%02d", rand() * 24, rand() * 60, rand() * 60)
        if (rand() < 0.02) time = "12:61:00"
        printf "%04d-%02d-%02d %s %s\n", year, month, day, time, zone >"dates"
        printf "10.0.0.1 - - [%02d/%s/%04d:%s %s] \"GET /\" 200 1\n", day, name[month], year, time, zone >"log"
        printf "{\"bytes\":1,\"time\":\"%04d-%02d-%02dT%s%s%s\"}\n", year, month, day, time, rand() < 0.5 ? ".75" : "", zone >"log.json"
      }
    }'
    for unit in day:T00:00:00Z hour:T%H:00:00Z minute:T%H:%M:00Z; do
      date -u -f dates "+%F${unit#*:}" >known 2>wrong || true
      if [ "$(wc -l <known)" -lt 2000 ] || [ "$(wc -l <wrong)" -lt 50 ]; then fail "$(wc -l known wrong)"; fi
      from=$(sort known | sed -n 700p)
      # The first groups of them; all other lines are in the last group.
      "$program" run --device cpu --input log --by "${unit%%:*}" --from "$from" --groups 300 >out 2>err || fail "$(cat err)"
      awk '$1 != "other" { print $1, $2 }' out >named
      last=$(tail -n 1 named | cut -d' ' -f1)
      awk -v from="$from" -v last="$last" '$1 >= from && $1 <= last' known | sort | uniq -c | awk '{ print $2, $1 }' | cmp - named ||
        fail "$(cat named)"
      [ "$(awk '{ lines += $2 } END { print lines }' out)" = 3000 ] || fail "$(cat out)"
      cut -d' ' -f1-2 out >of_log
      "$program" run --device cpu --input log.json --format json --key-name time --sum-name bytes --by "${unit%%:*}" \
        --from "$from" --groups 300 >out 2>err || fail "$(cat err)"
      cut -d' ' -f1-2 out | cmp - of_log || fail "$(cat out)"
    done
    # By itself it begins before the first time, which some lines come before.
    printf '%s\n' rubbish 951782400 951782399.5 951868800 2000-02-29T23:59:59.9Z >"times"
    printf '%s\n' '2000-02-28T00:00:00Z 1' '2000-02-29T00:00:00Z 2' '2000-03-01T00:00:00Z 1' 'other 1' >expected
    "$program" run --device cpu --input times --format words --by day >rows 2>err || fail "$(cat err)"
    cut -d' ' -f1-2 rows >out
    same_lines
    ! "$program" run --device cpu --input - --by day <"times" >out 2>err || fail 'it knew the first time of a pipe'
    grep -q -e '--from' err || fail "$(cat err)"
    ! "$program" run --device cpu --input times --by day --from 2000-02-30 >out 2>err || fail 'it took a wrong date'
    ;;
  ChoosesTheLinesThatRipgrepChooses)
    needs rg 'install ripgrep'
    # Each line has a group of its own, so that each is compared.
    awk 'BEGIN { srand(4); for (k = 0; k < 4000; ++k) printf "%d agent-%d of %d\n", k, rand() * 3e4, rand() * 1e6 }' >words
    awk 'BEGIN { for (k = 0; k < 3000; ++k) printf "agent-%d\n", k * 7; print "of 77"; print "-1234 " }' >patterns
    rg -N -F -f patterns words | cut -d' ' -f1 >chosen
    awk '{ print $1, 1, $1 }' chosen >expected
    if [ "$(wc -l <chosen)" -lt 300 ] || [ "$(wc -l <chosen)" -gt 3700 ]; then fail "$(wc -l chosen)"; fi
    runs_on words --format words --key 1 --sum 1 --groups 4095 --patterns patterns
    ;;
  NamesAnEmptyFileOfPatterns)
    echo 1 >log
    : >patterns
    ! "$program" run --device cpu --input log --patterns patterns >out 2>err || fail 'an empty file of patterns was taken'
    grep -q -- '--patterns patterns is empty: put a pattern into each of its lines' err || fail "$(cat err)"
    ;;
  NamesTheOptionOfAFile)
    code=0
    "$program" run log.txt --format words >out 2>err || code=$?
    [ "$code" = 2 ] || fail "$code: $(cat err)"
    grep -q "'log.txt' was not expected: give a file by --input log.txt (lines run --help" err || fail "$(cat err)"
    ! "$program" run --no-such-option >out 2>err || fail 'an unknown option was taken'
    ! grep -q 'by --input' err || fail "$(cat err)"
    ;;
  RefusesTarArchives)
    echo 1 >log
    tar -cf archive.tar log
    gzip -c archive.tar >archive.tar.gz
    for archive in archive.tar archive.tar.gz; do
      for options in "--input $archive" '--input -' "--input log --patterns $archive"; do
        # shellcheck disable=SC2086 # Several words.
        ! "$program" run --device cpu --format words --key 1 $options <$archive >out 2>err || fail "$archive was taken as $options"
        grep -q 'it is a tar archive.*tar -xOf FILE' err || fail "$options: $(cat err)"
        [ ! -s out ] || fail "$archive as $options: $(cat out)"
      done
    done
    ;;
  SumsARealLogAsJson)
    log=$(real apache_logs)
    needs jq 'install jq'
    "$program" run --device cpu --input "$log" >expected 2>err || fail "$(cat err)"
    jq -R -c 'capture("^(?<address>[^ ]+) .*?\\[(?<time>[^]]*)\\] \"(?<request>([^\"\\\\]|\\\\.)*)\" (?<status>[0-9]+) (?<bytes>[0-9]+|-)(?<rest>.*)")' "$log" >log.json
    [ "$(wc -l <log.json)" = "$(wc -l <"$log")" ] || fail 'jq left lines out'
    "$program" run --device cpu --input log.json --format json --key-name status --sum-name bytes >rows 2>err || fail "$(cat err)"
    cut -d' ' -f1-3 rows >out
    same_lines
    ;;
  SumsTheTableOfARealStudy)
    table=$(real birdstrikes.csv)
    tr -d '\r' <"$table" | awk -F, '{
      key = $4 ~ /^199[0-9]-/ ? $4 "T00:00:00Z" : "other"
      ++lines[key]
      $13 ~ /^-?[0-9.]+$/ ? sum[key] += $13 : ++without[key]
    } END { for (key in lines) printf "%s %d %.2f %d\n", key, lines[key], sum[key], without[key] }' >expected
    # 3652 days are the ten years from 1990.
    runs_on "$table" --format csv --by day --key 4 --sum 13 --from 1990-01-01 --groups 3652 --numbers decimal --places 2
    ;;
  *) fail "no case $case" ;;
esac
