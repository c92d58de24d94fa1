#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# line_patterns.sh PROGRAM CASE: the job `lines` finds what grep finds, whichever strings are looked for.
# shellcheck source=tests/jobs/job_world.sh
source "$(dirname "$0")/job_world.sh"

some_log() {
  awk -v lines="$1" 'BEGIN {
    srand(5)
    split("index images blog tags puppet static search login", word)
    split("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/|Googlebot/2.|curl/7.", agent, "|")
    for (k = 1; k <= lines; ++k) {
      path = rand() < 0.5 ? "p/" int(rand() * 20000) "/index.html" : word[1 + int(rand() * 8)] "/" word[1 + int(rand() * 8)] int(rand() * 500)
      printf "10.%d.%d.7 - - [17/May/2015:10:05:%02d +0000] \"GET /%s HTTP/1.1\" %d %d \"-\" \"%s%d\"\n", k % 256, k % 200, k % 60, path,
        rand() < 0.2 ? 404 : 200, rand() * 100000, agent[1 + int(rand() * 3)], rand() * 120
    }
  }' >log
}
# Lists of 1,000 patterns, and fewer where words of the text are not as many.
some_lists() {
  local each='BEGIN { srand(6); for (k = 0; k < 1000; ++k)'
  awk "$each"' print "/p/" int(rand() * 20000) "/index.html HTTP" }' >both
  awk "$each"' print "+0000] \"GET /p/" int(1000 + rand() * 19000) }' >beginning
  awk "$each"' print int(rand() * 20000) "/index.html HTTP/1.1\" 200" }' >end
  awk "$each"' { t = ") AppleWebKit/537.36 (KHTML, like Gecko) Chrome/"; n = 1 + int(rand() * length(t)); print substr(t, 1, n - 1) sprintf("%c", 97 + k % 26) substr(t, n + 1) } }' >one-byte
  awk "$each"' { t = ""; for (n = 5 + rand() * 20; n > 0; --n) t = t sprintf("%c", 33 + rand() * 90); print t } }' >random
  tr -cs 'A-Za-z0-9.' '\n' <log | sort -u | awk 'length($0) > 1 && length($0) < 12 && NR % 7 == 0 && ++n <= 1000' >words
  awk 'NR % 9 == 0 && ++m <= 1000 { t = substr($0, 20 + NR % 60, 10 + NR % 25); n = 1 + NR % length(t); print substr(t, 1, n - 1) "#" substr(t, n + 1) }' log >near
  awk "$each"' printf "%c%c%c\n", 97 + rand() * 26, 48 + rand() * 10, 97 + rand() * 26 }' >three-bytes
  head -n 1 both >one
  awk 'BEGIN { t = "Chrome/"; for (k = 1; k <= 7; ++k) print substr(t, 1, k) "9"; for (k = 0; k < 4096; ++k) print t k "~" }' >beginnings
}

case $case in
  CountsTheLinesOfAnyListAsGrepDoes)
    some_log 20000
    some_lists
    for list in both beginning end one-byte random words near three-bytes one beginnings; do
      [ -s "$list" ] || fail "$list is empty"
      expected=$(grep -c -a -F -f "$list" log) || true
      for from in log -; do
        "$program" run --device cpu --tile 64KiB --input "$from" --patterns "$list" <log >out 2>err || fail "$list: $(cat err)"
        found=$(awk '{ lines += $2 } END { print lines + 0 }' out)
        [ "$found" = "$expected" ] || fail "$list of $from: $found lines, and grep counts $expected"
      done
    done
    ;;
  *) fail "no case $case" ;;
esac
