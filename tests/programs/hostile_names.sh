#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: hostile_names.sh PENSTOCK CASE [SEED]
# Holds `penstock hash` to what b3sum prints and exits with, for 500 names and 500 check lists that SEED decides.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"
command -v b3sum > /dev/null || { echo 'b3sum is not installed'; exit 77; }
RANDOM=${3:-1}

digest=af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262
long=$(printf 'x%.0s' {1..200})
# shellcheck disable=SC1003,SC2016  # Backslashes and $ are meant as they are.
pieces=($'\n' $'\\' - ' ' '  ' $'\t' $'\r' $'\x01' $'\x1b[31m' $'\x7f' $'\x80' $'\xff' $'\xc3' $'\xe2\x82' $'\xed\xa0\x80' $'\xf4\x90\x80\x80'
  $'\xc3\xa9' $'\xe2\x82\xac' $'\xf0\x9f\x98\x80' $'\xe2\x80\xa8' $'\xef\xbb\xbf' '\n' '\\' '\x' '*' '%s' '$(id)' '"' "'" ';' . .. a B 0 --help --check
  ': OK' ': FAILED' "$digest" "$digest  a" "\\$digest  a" "$long")

# make_files: 500 files with names like these, as `names`, each as another holds.
make_files() {
  mkdir files
  cd files
  names=()
  local name parts
  while ((${#names[@]} < 500)); do
    name=
    for ((parts = 1 + RANDOM % 6; parts > 0; --parts)); do
      name+=${pieces[RANDOM % ${#pieces[@]}]}
    done
    name=${name:0:255}
    # `-` is standard input.
    if [[ $name == . || $name == .. || $name == - || -e $name ]]; then continue; fi
    printf '%s' "$RANDOM" > "./$name"
    if ((RANDOM % 2)); then name=./$name; fi
    names+=("$name")
  done
}

# run_both OPTION...: what both print and exit with: expected, reasons and wanted of b3sum, out, err and code of penstock.
run_both() {
  wanted=0 code=0
  b3sum "$@" > "$world/expected" 2> "$world/reasons" || wanted=$?
  "$penstock" hash --device cpu "$@" > "$world/out" 2> "$world/err" || code=$?
}
# expect_the_same OPTION...: of what run_both ran with these.
expect_the_same() {
  if ! cmp -s "$world/expected" "$world/out"; then
    fail "$*: not what b3sum prints: $(diff "$world/expected" "$world/out" | head -4 | cat -v)"
  fi
  [[ $code == "$wanted" ]] || fail "$*: exit code $code instead of $wanted: $(head -2 "$world/err")"
}

# Where penstock differs from b3sum 1.2.0, and why: a line that is no UTF-8 ends the whole of b3sum --check. penstock says which line
# it is, and goes on: what it checks besides is no reason to check less.
stops_at_bytes_that_are_no_text() { grep -q 'stream did not contain valid UTF-8' "$world/reasons"; }

# spoil LINE: what may have become of a line of a check list, as `line`, with what ends it.
spoil() {
  line=$1
  local place=$((RANDOM % (${#line} + 1)))
  case $((RANDOM % 26)) in
    0) line=${line/ / } line=${line^^} ;;
    1) line=${line/  / } ;;
    2) line=${line/  /   } ;;
    3) line=" $line" ;;
    4) line="$line " ;;
    5) line="$line"$'\r' ;;
    6) line=\\$line ;;
    7) line=${line#\\} ;;
    8) line="$line\\" ;;
    9) line=${line:0:place} ;;
    10) line=${line:place} ;;
    11) line="${line:0:place}${pieces[RANDOM % ${#pieces[@]}]}${line:place}" ;;
    12) line= ;;
    13) line='# a remark' ;;
    14) line="BLAKE3 (a) = $digest" ;;
    15) line="$digest *a" ;;
    16) line="$digest  absent" ;;
    17) line=${line/[0-9]/g} ;;
    18) line=${line/[0-8]/9} ;;
    19) line="$digest  " ;;
    20) line=$'\xef\xbb\xbf'$line ;;
    *) ;;
  esac
}

# make_lists: 500 lists of some of the files' sums, of which most have a line that was spoilt.
make_lists() {
  mapfile -t sums < <(b3sum -- "${names[@]}")
  local list lines
  for ((list = 0; list < 500; ++list)); do
    for ((lines = 1 + RANDOM % 4; lines > 0; --lines)); do
      line=${sums[RANDOM % ${#sums[@]}]}
      if ((RANDOM % 2)); then spoil "$line"; fi
      printf '%s' "$line"
      # The last line need not end.
      if ((lines > 1 || RANDOM % 8)); then echo; fi
    done > "$world/list$(printf %03d "$list")"
  done
}

case $2 in
  EachNameIsPrintedAsTheReferenceDoes)
    make_files
    run_both -- "${names[@]}"
    cmp -s "$world/expected" "$world/out" ||
      fail "not what b3sum prints: $(diff "$world/expected" "$world/out" | head -4 | cat -v)"
    [[ $code == 0 && ! -s $world/err ]] || fail "exit code $code: $(head -2 "$world/err")"
    [[ $(wc -l < "$world/out") == 500 ]] || fail 'not a line for each name'
    ;;
  EachCheckListIsCheckedAsTheReferenceDoes)
    make_files
    make_lists
    # Ten lists a run, those that b3sum does not read to their end alone. Those with bytes that are no text come last, or most
    # tens would have one.
    mapfile -t no_text < <(LC_ALL=C.UTF-8 grep -laxv '.*' "$world"/list*)
    mapfile -t lists < <(printf '%s\n' "$world"/list* | grep -vxFf <(printf '%s\n' "${no_text[@]}") -)
    lists+=("${no_text[@]}")
    [[ ${#lists[@]} == 500 ]] || fail "${#lists[@]} lists"
    for ((first = 0; first < 500; first += 10)); do
      run_both --check "${lists[@]:first:10}"
      if ! stops_at_bytes_that_are_no_text; then
        expect_the_same --check "${lists[@]:first:10}"
        continue
      fi
      for list in "${lists[@]:first:10}"; do
        run_both --check "$list"
        if stops_at_bytes_that_are_no_text; then
          cmp -s "$world/expected" <(head -c "$(stat -c %s "$world/expected")" "$world/out") ||
            fail "not how b3sum begins: $(diff "$world/expected" "$world/out" | head -4 | cat -v)"
          [[ $code == 1 ]] || fail "exit code $code, though a line is none"
        else
          expect_the_same --check "$list"
        fi
      done
    done
    ;;
  *) fail "no case $2" ;;
esac
