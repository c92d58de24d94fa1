#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: outputs_program.sh PENSTOCK CASE [ROUNDS]
# Holds what the command writes to its promises: files whole or not at all, lines whole and at once, an end at once where an
# output fails. Each case is a test of its own.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"
rounds=${3:-8}
short_tune=(tune --device cpu --within 0 --tile 4KiB)
short_bench=(bench --device cpu --tile 4KiB --window 10 --repeats 1 --load 0 --no-ceilings --no-verdict)
# listens PROCESS: whether it has the thread that takes signals, or has ended.
listens() { grep -qsx ps-signals "/proc/$1"/task/*/comm || ! kill -0 "$1" 2> /dev/null; }
# await WORDS...: until the command succeeds.
await() { until "$@"; do :; done; }
expect_nothing_left() { [[ -z $(find . -name '*penstock-*') ]] || fail "left: $(find . -name '*penstock-*')"; }
expect_err_of_one_line() {
  [[ $(wc -l < err) == 1 ]] || fail "not one line: $(cat err)"
  expect_err "$1"
}

case $2 in
  FilesKeepModeLinksAndInputs)
    for option in --save --trace; do
      rm -rf ./*
      printf old > secret
      chmod 600 secret
      ln -s secret link
      printf victim > victim
      ln -s victim link.part
      run "${short_tune[@]}" "$option" link
      expect_code 0
      [[ -L link && $(stat -c %a secret) == 600 && $(cat victim) == victim ]] || fail "$option: $(ls -l)"
      [[ $(head -c 1 secret) == '{' ]] || fail "$option: $(head -c 100 secret)"
      expect_nothing_left
    done
    some_bytes 3000000 d.part
    cp d.part same
    run "${short_tune[@]}" --fill file --file d.part --direction in --save d
    expect_code 0
    cmp -s d.part same || fail 'an input is gone'
    chmod 600 secret
    run "${short_bench[@]}" --html link --trace trace --no-trace-cost
    expect_code 0
    [[ -L link && $(stat -c %a secret) == 600 ]] || fail "$(ls -l)"
    expect_nothing_left
    ;;
  FilesAreAsTheyWereIfNotAllIsWritten)
    printf old > page
    code=0
    (
      ulimit -f 64
      "$penstock" "${short_bench[@]}" --html page
    ) > out 2> err || code=$?
    expect_code 4
    expect_err_of_one_line 'page took less than all of the page (File too large), and is as it was'
    [[ $(cat page) == old ]] || fail 'the old page is gone'
    expect_nothing_left
    ;;
  FilesAreNotWhereStandardOutputGoes)
    some_bytes 100 a
    code=0
    # shellcheck disable=SC2094  # That is the mistake.
    "$penstock" hash --device cpu --trace out a > out 2> err || code=$?
    expect_code 2
    expect_err_of_one_line '--trace out is where standard output goes: name another file, or /dev/stdout.'
    "$penstock" hash --device cpu --trace /dev/stdout a > out 2> err
    [[ $(head -n 1 out) == "$(b3sum a)" && $(sed -n 2p out) == '{'* ]] || fail "$(head -c 200 out)"
    ;;
  FilesThatArePipesAreOpenedOnce)
    mkfifo pipe
    some_bytes 100 a
    cat pipe > got &
    reader=$!
    run hash --device cpu --trace pipe a
    expect_code 0
    wait "$reader"
    grep -qF '"penstock hash"' got || fail "$(cat got)"
    cat pipe > got &
    reader=$!
    run "${short_tune[@]}" --save pipe
    expect_code 0
    wait "$reader"
    grep -qF '"kind": "profile"' got || fail "$(cat got)"
    cat pipe > got &
    reader=$!
    run "${short_bench[@]}" --html pipe
    expect_code 0
    wait "$reader"
    grep -qF '</html>' got || fail "$(tail -c 100 got)"
    ;;
  FilesThatArePipesWithoutReaderCanBeInterrupted)
    mkfifo pipe
    some_bytes 100 a
    for words in "hash --trace pipe a" "tune --within 0 --save pipe" "bench --html pipe" "lab --trace pipe" "doctor --html pipe"; do
      # shellcheck disable=SC2086  # Several words are meant.
      listening $words --device cpu > out 2> err &
      waiting=$!
      await listens "$waiting"
      kill -TERM "$waiting"
      code=0
      wait "$waiting" || code=$?
      expect_code 130
      expect_err_of_one_line 'pipe is a pipe, and had no reader'
    done
    ;;
  FilesWithoutNameAreRefused)
    for words in 'hash --trace' 'hash --profile' 'tune --save' 'tune --file' 'bench --html' 'bench --trace' 'compare --html' 'lab --trace' \
      'tune --html' 'lab --html' 'hash --html' 'doctor --html'; do
      # shellcheck disable=SC2086  # Several words are meant.
      run $words ''
      expect_code 2
      expect_err_of_one_line "'' names no file"
    done
    ;;
  EachJsonSaysWhatItIs)
    echo 1 > some
    for words in "${short_bench[*]}" "compare ${short_bench[*]:1:6} --producers 1 --case bare" "${short_tune[*]}" 'doctor --no-probe' \
      'doctor --device cpu' 'lab --device cpu legacy-beside' 'hash --device cpu some'; do
      [[ $words != compare* || -x $penstock-legacy ]] || continue
      # shellcheck disable=SC2086  # Several words are meant.
      run $words --json
      expect_code 0
      python3 - out "${words%% *}" << 'PYTHON' || fail "$words: $(head -c 300 out)"
import json, re, sys
text, command = open(sys.argv[1]).read(), sys.argv[2]
one_a_line = command in ('lab', 'hash')
units = re.compile(r'_(gb_per_s|tiles_per_s|s_per_gb|bytes|percent|s|us|ns)$|^(bytes|gb_per_s|tiles_per_s|times)$')

def look(at, path):
    if isinstance(at, dict):
        for name, value in at.items():
            look(value, path + [name])
    elif isinstance(at, list):
        for value in at:
            look(value, path)
    elif isinstance(at, float):
        # A figure has a unit in its name or in that of what it belongs to, or is a ratio.
        ratios = {'judged_part', 'gain', 'overlap', 'speedup', 'possible_speedup', 'duplex', 'speed_of_light', 'speedups', 'against',
                  'cpu_quota', 'of_ideal', 'times'}
        beside = {'value', 'text', 'possible'}  # With a member `unit`.
        assert any(units.search(name) for name in path) or ratios & set(path) or path[-1] in beside, path

for one in text.splitlines() if one_a_line else [text]:
    all = json.loads(one)
    assert list(all)[:2] == ['schema', 'kind'] and all['schema'] == 1, all
    assert all['kind'] in (command, 'hashed file'), all['kind']
    look(all, [])
PYTHON
    done
    ;;
  EachCsvHasAsManyCellsInEachLine)
    some_bytes 100 a
    for words in "${short_bench[*]}" "${short_tune[*]}" 'lab --device cpu roofline legacy-beside' 'doctor --no-probe' 'hash --device cpu a a'; do
      # shellcheck disable=SC2086  # Several words are meant.
      run $words --csv
      expect_code 0
      python3 - << 'PYTHON' || fail "$words: $(cat out)"
import csv
lines = list(csv.reader(open('out', newline='')))
assert len(lines) > 1 and len({len(line) for line in lines}) == 1, lines
assert all(name.replace('_', '').replace('-', '').isalnum() for name in lines[0]), lines[0]
PYTHON
      # shellcheck disable=SC2086  # Several words are meant.
      run $words --csv --json
      expect_code 2
    done
    ;;
  EachPageHasTheLinesOfItsCsv)
    some_bytes 100 a,b
    for words in "${short_tune[*]}" 'lab --device cpu roofline legacy-beside' 'doctor --no-probe' 'doctor --list-models' 'hash --device cpu a,b'; do
      # shellcheck disable=SC2086  # Several words are meant.
      run $words --csv --html page
      expect_code 0
      python3 - << 'PYTHON' || fail "$words: $(cat out)"
import csv, json, re
page = json.loads(re.search('id="results">(.*?)</script>', open('page').read(), re.S)[1])
names, *lines = csv.reader(open('out', newline=''))
assert page['schema'] == 1 and lines and len(lines) == len(page['lines']), page
for line, row in zip(lines, page['lines']):
    assert names == list(row), (names, row)
    for text, value in zip(line, row.values()):
        assert text == {None: '', True: 'yes', False: 'no'}.get(value, value) or float(text) == value, (text, value)
PYTHON
    done
    ;;
  LinesComeWholeAndAtOnce)
    mkfifo pipe
    for ((i = 1000; i < 1300; ++i)); do : > "f$i"; done
    b3sum f* > expected
    listening hash --device cpu f* pipe > out 2> err &
    hashing=$!
    exec 9> pipe
    # All that is known is there, while the pipe's end is not.
    until [[ $(wc -l < out) == 300 ]]; do kill -0 "$hashing" || fail "$(cat err)"; done
    expect_same_as expected
    kill -QUIT "$hashing"
    code=0
    wait "$hashing" 2> /dev/null || code=$?
    expect_code 131
    expect_same_as expected
    ;;
  LinesAreWholeHoweverItIsEnded)
    mkdir many
    for ((i = 1000; i < 3000; ++i)); do : > "many/$i"; done
    b3sum many/* > expected
    for ((round = 0; round < rounds; ++round)); do
      for signal in HUP QUIT USR1 USR2 TERM INT ALRM; do
        : > out
        listening hash --device cpu many > out 2> err &
        hashing=$!
        # Another moment each time.
        until (($(wc -c < out) > 4500 * round)) || ! kill -0 "$hashing" 2> /dev/null; do :; done
        kill "-$signal" "$hashing" 2> /dev/null || true
        wait "$hashing" 2> /dev/null || true
        cmp -s out <(head -n "$(wc -l < out)" expected) || fail "$signal: torn, or not the first lines: $(tail -c 100 out)"
      done
    done
    ;;
  OutputThatFailsEndsTheWork)
    some_bytes 100 a
    # It would go on for hours.
    truncate -s 1T large
    code=0
    timeout 60 "$penstock" hash --device cpu a large > /dev/full 2> err || code=$?
    expect_code 1
    expect_err_of_one_line 'Standard output took less than all (No space left on device)'
    for words in --help --version 'hash --help'; do
      code=0
      # shellcheck disable=SC2086  # Several words are meant.
      "$penstock" $words > /dev/full 2> err || code=$?
      expect_code 1
      expect_err_of_one_line 'Standard output took less than all'
    done
    for words in doctor 'lab' 'tune --within 600' 'bench --repeats 100' 'hash large'; do
      code=0
      # shellcheck disable=SC2086  # Several words are meant.
      timeout 60 "$penstock" $words --device cpu >&- 2> err || code=$?
      expect_code 1
      expect_err_of_one_line 'Standard output took less than all (Bad file descriptor)'
    done
    ;;
  OutputWithoutAReaderEndsTheWork)
    some_bytes 100 a
    truncate -s 1T large
    for words in 'hash a large' 'tune --within 600' 'bench --window 60000' 'doctor --read large'; do
      for ignored in --default-signal --ignore-signal; do
        mkfifo pipe
        # shellcheck disable=SC2086  # Several words are meant.
        timeout 60 env "$ignored=PIPE" "$penstock" $words --device cpu > pipe 2> err &
        writing=$!
        exec 9< pipe
        exec 9<&-
        code=0
        wait "$writing" || code=$?
        rm pipe
        if [[ $ignored == --default-signal ]]; then
          expect_code 141
        else
          expect_code 1
          expect_err 'Standard output took less than all (Broken pipe)'
        fi
      done
    done
    ;;
  SignalsThatAreIgnoredStaySo)
    mkfifo pipe
    for signal in INT HUP TERM QUIT; do
      env "--ignore-signal=$signal" "$penstock" hash --device cpu --no-names pipe > out 2> err &
      hashing=$!
      exec 9> pipe
      await listens "$hashing"
      kill "-$signal" "$hashing"
      printf x >&9
      exec 9>&-
      code=0
      wait "$hashing" || code=$?
      expect_code 0
      [[ $(cat out) == "$(printf x | b3sum --no-names)" ]] || fail "$signal: $(cat out)"
    done
    ;;
  ChildrenDieWithTheirParent)
    listening bench --device cpu --window 60000 --repeats 3 --tile 4KiB > out 2> err &
    measuring=$!
    await fills "$measuring"
    child=$(cat "/proc/$measuring/task/$measuring/children")
    kill -KILL "$measuring"
    wait "$measuring" 2> /dev/null || true
    # It is gone, or was not yet reaped by another.
    for process in $child; do
      until [[ ! -e /proc/$process || $(cut -d ' ' -f 3 "/proc/$process/stat" 2> /dev/null) == [ZX] ]]; do :; done
    done
    ;;
  ScratchFilesAreRefusedBeforeAnythingIsMeasured)
    code=0
    TMPDIR=$PWD/nowhere timeout 60 "$penstock" compare --device cpu --window 60000 --trace trace > out 2> err || code=$?
    expect_code 2
    expect_err_of_one_line 'Let TMPDIR name a folder that can be written.'
    ;;
  *) fail "no case $2" ;;
esac
