#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: try_program.sh PENSTOCK CASE FOLDER
# Holds `penstock try` to its promises, with programs and a stand-in for a CUDA driver that are in FOLDER.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/../../programs/program_world.sh"
folder=$3
export LD_LIBRARY_PATH=$folder
tried() { run try --repeats 3 "$@"; }
# tried_behind LIBRARY WORDS...: the address sanitizer of `penstock` itself must let another library stand before it.
tried_behind() { LD_PRELOAD=$1 ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 tried "${@:2}"; }
victim=$folder/penstock-victim
# Of a program that says by which entry points its kernels came to the driver.
expect_turned() {
  expect_code 1
  expect_out "(line 2: 'legacy 8, per-thread 0' and 'legacy 0, per-thread 8')"
  expect_out '32 calls of it name no stream, and mean the legacy default stream.'
}
# processes: those of the victim that work here.
processes() {
  local process
  for process in /proc/[0-9]*; do
    [[ $(readlink "$process/cwd") != "$world" || $(tr '\0' ' ' < "$process/cmdline") != "$victim"* ]] || echo "${process##*/}"
  done 2> /dev/null
}
expect_no_child() { [[ -z $(processes) ]] || fail "left: $(processes)"; }

case $2 in
  TurnsProgramsHoweverTheyComeToTheDriver)
    for how in asks asks-v1 names; do
      tried -- "$victim" "$how" tells
      expect_turned
    done
    tried -- "$folder/penstock-victim-linked" linked tells
    expect_turned
    tried_behind "$folder/libcuda.so.1" -- "$victim" next tells
    expect_turned
    tried -- "$victim" plugin "$folder/libpenstock-victim-plugin.so"
    expect_turned
    tried -- "$victim" asks child
    expect_turned
    ;;
  StandsBeforeOtherLibrariesThatDoSo)
    tried_behind "$folder/libpenstock-victim-plugin.so" -- "$victim" asks tells
    expect_turned
    ;;
  ComparesWhatItTakes)
    tried -- "$victim" asks threads
    expect_code 0
    expect_out 'with per-thread default streams '
    expect_out ' times as fast with per-thread default streams ('
    expect_out 'It is right: the exit code and standard output were the same in all 8 runs.'
    ;;
  TellsAProgramThatNeedsTheLegacyStream)
    tried -- "$victim" asks fence
    expect_code 1
    expect_out "It is not right with per-thread default streams: standard output differs from what it is as it is (line 1: '7' and '0')."
    ;;
  NamesThePairThatOnlyTheLegacyStreamOrders)
    tried -- "$victim" asks fence
    expect_code 1
    expect_out "Nothing but the legacy default stream keeps two copies or memsets on the same bytes in order: cuMemcpyHtoDAsync_v2 of thread 2"
    # Though all is as it was, by chance.
    tried -- "$victim" asks lucky
    expect_code 1
    expect_out 'It is not right with per-thread default streams, though the exit code and standard output were the same in all 8 runs. Nothing but the legacy default stream'
    expect_out 'then cuMemcpyDtoHAsync_v2 of thread 1 (penstock-victim) in stream 0x101, which reads (correlation 3), on 8192 bytes they share'
    tried -- "$victim" asks event
    expect_code 0
    expect_out 'The legacy default stream alone keeps nothing in order among its copies, memsets and launches.'
    ;;
  ShowsHowLongTheDeviceWasBusy)
    tried --json -- "$victim" asks threads
    expect_code 0
    python3 - << 'PYTHON'
import json
all = json.load(open('out'))
# Eight kernels of 1 ms and 16 copies of 20 us, one after the other, and at once.
legacy, per_thread = [side['gpu_s'] for side in all['sides']]
assert abs(legacy - 0.00832) < 1e-5 and 0.001 < per_thread < legacy, all['sides']
assert abs(all['gpu_ratio'] - legacy / per_thread) < 1e-9, all['gpu_ratio']
watched = all['watched']
assert watched['hazards'] == 0 and watched['launches'] > 0 and watched['remarks'] == [] and len(watched['processes']) == 1, watched
# What was watched is not counted.
assert all['calls']['legacy_default'] == 32 and all['repeats'] == 3, all
PYTHON
    tried --json -- "$victim" asks fence
    expect_code 1
    python3 - << 'PYTHON'
import json
all = json.load(open('out'))
pair = all['watched']['processes'][0]['hazards']['pairs'][0]
assert all['right'] is False and all['watched']['hazards'] == 1 and pair['bytes'] == 4 and pair['first']['writes'] and not pair['second']['writes'], pair
PYTHON
    tried --no-watch --json -- "$victim" asks lucky
    expect_code 0
    python3 -c "import json; all = json.load(open('out')); assert all['watched'] is None and 'gpu_s' not in all['sides'][0] and all['gpu_ratio'] is None"
    ;;
  DoesWithoutWatchingWhereThatFails)
    STAND_IN_CUPTI_REFUSES=35 tried -- "$victim" asks lucky
    expect_code 0
    expect_out 'It could not be watched as it is: CUPTI refuses to watch, with error 35: only administrators may profile here'
    ulimit -S -f 100
    tried --json -- "$victim" asks lucky
    ulimit -S -f unlimited
    expect_code 0
    expect_out 'used the driver and could make no log: File too large. '
    expect_out '"hazards": null'
    tried -- "$victim" asks fails-watched
    expect_code 0
    expect_out 'It could not be watched as it is: it ends in another way then. It ended with exit code 3.'
    tried --within 4 -- "$victim" asks hangs-watched
    expect_code 0
    expect_out 'It could not be watched as it is: it then took far longer, or more than a quarter of the time that was left: raise --within.'
    expect_no_child
    ;;
  TellsAProgramThatIsBuiltForPerThreadStreams)
    tried -- "$victim" asks per-thread
    expect_code 1
    expect_err 'None of its look-ups of the driver could be turned'
    expect_err 'It is built for per-thread default streams already: all its 32 calls that name no stream mean them.'
    ;;
  TellsAProgramThatNamesNoDefaultStream)
    tried -- "$victim" asks own
    expect_code 0
    expect_out 'All its calls name a stream, so another default stream makes no difference to it: what differs is noise.'
    ;;
  TellsAProgramThatGivesNoStreamWork)
    tried -- "$victim" names idle
    expect_code 0
    expect_out 'No call of it gives a stream any work, so another default stream makes no difference to it: what differs is noise.'
    ! grep -q 'name a stream' out err || fail "it says something of streams that it names: $(cat out err)"
    ;;
  TellsAProgramWithoutGpu)
    tried -- "$victim" asks nothing
    expect_code 1
    expect_err 'uses no GPU: no process of it asked the CUDA driver for anything. If it should'
    # Without a driver that says more.
    if [[ $(ldconfig -p) != *libcuda.so.1* ]]; then
      LD_LIBRARY_PATH='' tried -- "$victim" asks nothing
      expect_code 1
      expect_err 'there is no CUDA driver (libcuda.so.1): install'
    fi
    tried -- /bin/sh -c 'echo no such model >&2; exit 3'
    expect_code 1
    expect_err 'It ended with exit code 3. It said: no such model'
    ;;
  TellsAProgramThatIsNotTheSameFromRunToRun)
    # A number that differs between runs of the same program is left out.
    tried -- "$victim" asks strays
    expect_code 0
    tried --ignore '(' -- "$victim" asks strays
    expect_code 2
    expect_err "'(' is no extended regular expression, as of grep -E: "
    ;;
  LooksAgainWhereOnlyTheOutputDiffers)
    # Runs are counted from 0: two to warm up, and three rounds. Run 1 is one with per-thread default streams.
    cat > odd << 'END'
n=$(cat number); echo $((n + 1)) > number
case " $odd " in *" $n "*) echo odd ;; esac
exec "$@"
END
    echo 0 > number
    odd='1 9' tried --no-watch -- /bin/sh odd "$victim" asks threads
    expect_code 0
    expect_out "lines that are other from run to run, such as line 1: "
    [[ $(< number) == 10 ]] || fail "$(< number) runs"
    echo 0 > number
    odd=1 tried --no-watch -- /bin/sh odd "$victim" asks threads
    expect_code 1
    expect_out "It is not right with per-thread default streams: standard output differs"
    [[ $(< number) == 14 ]] || fail "$(< number) runs"
    # What a default stream cannot be the cause of is no verdict.
    echo 0 > number
    odd=1 tried --no-watch -- /bin/sh odd "$victim" asks own
    expect_code 1
    expect_out 'Whether it is right cannot be told: standard output differs from what it is as it is (line 1: '
    expect_out '), but no call of it means a default stream.'
    ;;
  ComparesTheFilesThatItWrites)
    tried --result there -- "$victim" asks file there
    expect_code 0
    expect_out 'It is right: the exit code, standard output and the result there were the same in all 8 runs.'
    tried --result elsewhere --result there -- "$victim" asks file there
    expect_code 1
    expect_out 'Whether it is right cannot be told: no run left a file as the result elsewhere. Let --result name what'
    expect_out 'Otherwise the exit code, standard output and the result there were the same in all 8 runs.'
    touch elsewhere
    tried --json --result elsewhere -- "$victim" asks file there
    expect_code 1
    expect_out 'Whether it is right cannot be told: no run wrote the result elsewhere.'
    expect_out '"right": null'
    ;;
  ReadsItsInput)
    echo text > input
    tried --input input -- /bin/sh -c "read word; echo \$word; $victim asks tells"
    expect_code 1
    expect_out "(line 3: 'legacy 8, per-thread 0' and 'legacy 0, per-thread 8')"
    run try --input nowhere -- "$victim" asks threads
    expect_code 2
    expect_err '--input nowhere: No such file or directory'
    ;;
  PrintsJson)
    tried --json -- "$victim" asks threads
    expect_code 0
    python3 - << 'PYTHON'
import json
all = json.load(open('out'))
assert all['kind'] == 'try' and all['repeats'] == 3 and all['effect'] in ('gains', 'loses', 'no difference') and all['right'] is True and all['error'] is None, all
assert len(all['sides']) == 2 and len(all['sides'][0]['samples']['wall_s']) == 3, all
assert all['ratio']['median'] > 0 and all['turned'] > 0 and all['calls']['legacy_default'] == 32, all
PYTHON
    run try --repeats 1 --html page.html -- "$victim" asks own
    expect_code 0
    grep -q '"kind":"try"' page.html || fail 'no results in the page'
    tried --json -- "$victim" asks nothing
    expect_code 1
    grep -q '"error": ".*uses no GPU' out || fail "$(cat out)"
    ;;
  ComparesTwoPrograms)
    run compare --programs "$victim" "$folder/penstock-victim-linked" --repeats 3 --json -- asks own
    expect_code 0
    python3 - << 'PYTHON'
import json
all = json.load(open('out'))
assert all['kind'] == 'compare programs' and all['repeats'] == 3 and all['right'] is True and len(all['programs']) == 2, all
PYTHON
    run compare --programs "$victim" "$folder/penstock-victim-linked" --repeats 3 --csv -- asks own
    expect_code 0
    [[ $(head -n 1 out) == side,run,wall_s,cpu_s && $(wc -l < out) == 7 ]] || fail "$(cat out)"
    run compare --programs /bin/true /bin/false --html page.html
    expect_code 1
    expect_out 'It is not right with /bin/false: the exit code differs from what it is with /bin/true'
    grep -q '"kind":"compare programs"' page.html || fail 'no results in the page'
    run compare --programs sleep sleep --expect 'speed_up >= 1.5' -- 0.01
    expect_code 1
    expect_err "--expect 'speed_up >= 1.5' does not hold. "
    for words in '--programs ls' '--programs ls nowhere' '--programs ls ls --producers 2' '--within 3' '-- words'; do
      # shellcheck disable=SC2086  # Several words are meant.
      run compare $words
      expect_code 2
      [[ $(wc -l < err) == 1 ]] || fail "$words: not one line: $(cat err)"
    done
    ;;
  RefusesInOneLine)
    printf text > plain
    cp /bin/ls with-rights
    chmod 4755 with-rights
    for words in '' '--' '-- nowhere' '-- ./plain' '-- .' '-- ./with-rights' '--repeats 0 -- ls' '--within 0 -- ls'; do
      # shellcheck disable=SC2086  # Several words are meant.
      run try $words
      expect_code 2
      [[ $(wc -l < err) == 1 ]] || fail "$words: not one line: $(cat err)"
      [[ ! -s out ]] || fail "$words: something on standard output"
    done
    for option in --result --input; do
      run try "$option" '' -- ls
      expect_code 2
      expect_err "'' names no file"
    done
    ;;
  TellsProgramsThatFail)
    tried -- "$victim" asks crashes
    expect_code 1
    expect_err 'It cannot be compared. It was ended by SIGABRT.'
    tried -- "$victim" asks fails
    expect_code 0
    tried --within 2 -- "$victim" asks hangs
    expect_code 1
    expect_err 'It did not end in its time, as it is: raise --within'
    expect_no_child
    tried -- /bin/sh -c "exec >&- 2>&- <&-; $victim asks threads"
    expect_code 0
    run try --repeats 1 -- /bin/sh -c "$victim asks own; head -c 300000000 /dev/zero"
    expect_code 0
    # It has no work for a stream, so nothing is said of its streams.
    tried -- "$victim" asks gives-up
    expect_code 1
    expect_err 'penstock-victim fails by itself, as it is, before it gives a default stream any work.'
    expect_err 'Let it succeed by itself first.'
    ! grep -q 'name a stream' out err || fail "it says something of streams: $(cat out err)"
    ;;
  LeavesNoProcessWhenItIsInterrupted)
    for signal in INT TERM HUP; do
      listening try -- "$victim" asks hangs > out 2> err &
      trying=$!
      until [[ -n $(processes) ]] || ! kill -0 "$trying" 2> /dev/null; do :; done
      kill "-$signal" "$trying"
      code=0
      wait "$trying" || code=$?
      expect_code 130
      expect_err 'Interrupted'
      expect_no_child
    done
    ;;
  LeavesNothingOfARunThatIsWatchedWhenItIsInterrupted)
    is_watched() {
      local process
      for process in $(processes); do
        grep -qz '^CUDA_INJECTION64_PATH=' "/proc/$process/environ" 2> /dev/null && return
      done
      return 1
    }
    mkdir "$world/scratch"
    TMPDIR=$world/scratch listening try -- "$victim" asks hangs-watched > out 2> err &
    trying=$!
    until is_watched || ! kill -0 "$trying" 2> /dev/null; do :; done
    kill -INT "$trying"
    code=0
    wait "$trying" || code=$?
    expect_code 130
    expect_err 'Interrupted'
    expect_no_child
    [[ -z $(ls -A "$world/scratch") ]] || fail "left: $(ls -A "$world/scratch")"
    ;;
  WorksFromAFolderWithABlankInItsName)
    mkdir 'a folder: here'
    cp "$penstock" "$(dirname "$penstock")/libpenstock-turn.so" 'a folder: here/'
    penstock="a folder: here/$(basename "$penstock")"
    tried -- "$victim" asks tells
    expect_turned
    expect_out 'It could not be watched as it is: '
    ;;
  *) fail "no case $2" ;;
esac
