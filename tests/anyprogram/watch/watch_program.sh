#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# watch_program.sh PENSTOCK CASE STAND_IN: penstock watch on programs that use the stand-ins of the driver and of CUPTI.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/../../programs/program_world.sh"
stand_in=$(realpath "$3")
export LD_LIBRARY_PATH=$stand_in
watched=$stand_in/watched
scratch=$world/scratch
mkdir "$scratch"
export TMPDIR=$scratch

# watch ARGUMENT... CASE: watches that program.
watch() { run watch "${@:1:$#-1}" -- "$watched" "${@: -1}"; }
# figure EXPRESSION: of the results in out, as Python has it.
figure() { python3 -c "import json, sys; all = json.load(open('out')); print($1)"; }
expect_figure() { [[ $(figure "$1") == "$2" ]] || fail "$1 is $(figure "$1"), not $2"; }
nothing_is_left() { [[ -z $(ls -A "$scratch") ]] || fail "left behind: $(ls -A "$scratch")"; }

case $2 in
  ShowsWhatKeepsWorkFromRunningAtOnce)
    watch serial
    expect_code 0
    expect_out 'one after the other'
    expect_out '1. all work in one stream'
    expect_out 'asynchronous copies of memory that is not pinned'
    expect_out 'cuMemcpyHtoDAsync_v2'
    expect_out 'a_kernel_with_a_name_that_is_longer_than_what_a_single_recor'
    watch --json serial
    expect_code 0
    expect_figure 'len(all["processes"])' 1
    expect_figure 'all["processes"][0]["works"]' 60
    # 60 works of 20 us each.
    expect_figure 'all["processes"][0]["serial_ns"]' 1200000
    expect_figure 'all["processes"][0]["possible_ns"]' 400000
    expect_figure 'all["processes"][0]["overlap"]' 0.0
    expect_figure 'all["processes"][0]["ended"]' True
    expect_figure '[row["count"] for row in all["processes"][0]["copies"]]' '[20, 20]'
    expect_figure 'all["processes"][0]["fault_counts"]["pageable"]' 20
    ;;
  ShowsWhatWouldLoseItsOrder)
    watch hazard
    expect_code 0
    expect_out '1 time: cuMemcpyHtoDAsync_v2 of thread 1'
    expect_out 'on 100 bytes they share'
    watch --expect 'hazards <= 0' hazard
    expect_code 1
    ;;
  FollowsGraphsIntoTheirChildrenAndThroughUpdates)
    watch --json graphs
    expect_code 0
    # Each of the three launches, with the copy behind it; none with the copy to where a graph would have copied.
    expect_figure 'all["processes"][0]["hazards"]["count"]' 3
    expect_figure '{pair["first"]["call"] for pair in all["processes"][0]["hazards"]["pairs"]}' "{'graph launch'}"
    expect_figure 'all["processes"][0]["hazards"]["unknown_bytes"]' 0
    ;;
  TakesWhatIsCapturedForNoWork)
    watch --json capture
    expect_code 0
    expect_figure 'all["processes"][0]["calls_listed"]' 7
    expect_figure 'all["processes"][0]["hazards"]["count"]' 0
    ;;
  FailsIfAClaimDoesNotHold)
    watch --expect 'overlap > 0.6' serial
    expect_code 1
    expect_err "--expect 'overlap > 0.6' does not hold: it is 0."
    watch --expect 'overlap <= 0.1' --expect 'pageable > 3' serial
    expect_code 0
    ;;
  KeepsLogsAndReadsThem)
    watch --json --logs kept serial
    expect_code 0
    [[ $(find kept -name '*.watch' | wc -l) == 1 ]] || fail 'there is not one log'
    cp out results.json
    run watch --read kept/*.watch
    expect_code 0
    cp out by_log
    run watch --read results.json
    expect_code 0
    expect_same_as by_log
    # A log that ends too early has what is there, or is none.
    for length in 0 100 65536 66000 70000; do
      head -c $length kept/*.watch > part
      run watch --read part
      [[ $code == 1 || $code == 2 || $code == 0 ]] || fail "of $length bytes: $code"
      [[ $(wc -l < err) -le 1 ]] || fail "of $length bytes: $(cat err)"
    done
    run watch --read results.json --expect 'overlap > 0.6'
    expect_code 1
    ;;
  WritesATrace)
    watch --trace trace.json serial
    expect_code 0
    python3 -c 'import json; events = json.load(open("trace.json"))["traceEvents"]
assert sum(event["ph"] == "X" and event["cat"] == "device" for event in events) == 60'
    ;;
  WritesAPage)
    watch --html page.html serial
    expect_code 0
    expect_out 'one after the other'
    [[ $(stat -c %s page.html) -gt 100000 ]] || fail 'the page is short'
    results_of() { python3 -c "import json, re; all = json.loads(re.search('id=\"results\">(.*?)</script>', open('page.html').read(), re.S)[1]); print($1)"; }
    expect_result() { [[ $(results_of "$1") == "$2" ]] || fail "$1 is $(results_of "$1"), not $2"; }
    expect_result 'all["kind"]' watch
    # Each of 80 calls, and each of 60 works.
    expect_result 'len(all["processes"][0]["timeline"]["passages"])' 140
    expect_result '[row["kind"] for row in all["processes"][0]["timeline"]["rows"]]' "['thread', 'stream']"
    # What was printed before has no single calls.
    watch --json serial
    cp out results.json
    run watch --html page.html --read results.json
    expect_code 0
    expect_result '"timeline" in all["processes"][0]' False
    watch --html page.html nothing
    expect_code 1
    expect_result 'all["processes"]' '[]'
    ;;
  PrintsALineForEachProcess)
    watch --csv --html page.html fork
    expect_code 0
    python3 - << 'PYTHON'
import csv, json, re
lines = list(csv.DictReader(open('out', newline='')))
assert sorted(line['works'] for line in lines) == ['6', '60'], lines
of_60 = next(line for line in lines if line['works'] == '60')
assert of_60['serial_ns'] == '1200000' and of_60['overlap'] == '0.0' and of_60['pageable'] == '20' and of_60['hazards'] == '0', of_60
page = json.loads(re.search('id="results">(.*?)</script>', open('page.html').read(), re.S)[1])
assert [str(row['works']) for row in page['lines']] == [line['works'] for line in lines], page['lines']
PYTHON
    watch --csv --json fork
    expect_code 2
    watch --csv nothing
    expect_code 1
    [[ ! -s out ]] || fail "$(cat out)"
    ;;
  HasWhatAProgramDidThatDies)
    watch --json crash
    expect_code 1
    expect_err 'was ended by signal 11'
    expect_figure 'all["processes"][0]["ended"]' False
    # All but what CUPTI had not handed over, which is less than a hundred here.
    expect_figure 'all["processes"][0]["works"] > 500' True
    expect_figure 'all["processes"][0]["calls_listed"] == 800' True
    watch --json exit
    expect_code 1
    expect_err 'ended with exit code 7'
    expect_figure 'all["processes"][0]["calls_listed"] == 800' True
    ;;
  ClosedDescriptorsAreNoMatter)
    watch --json closed
    expect_code 0
    expect_figure 'all["processes"][0]["works"]' 60
    ;;
  ChildrenHaveLogsOfTheirOwn)
    watch --json fork
    expect_code 0
    expect_figure 'sorted(process["works"] for process in all["processes"])' '[6, 60]'
    ;;
  ThreadsThatComeAndGo)
    watch --json --logs kept threads
    expect_code 0
    expect_figure 'all["processes"][0]["works"]' 600
    expect_figure 'all["processes"][0]["calls_listed"]' 800
    # Four at a time, which take the room that others left.
    [[ $(stat -c %s kept/*.watch) -le $((8 * 65536)) ]] || fail "the log has $(stat -c %s kept/*.watch) bytes"
    ;;
  AFullLogCountsOn)
    watch --json --limit 256KiB --logs kept long
    expect_code 0
    [[ $(stat -c %s kept/*.watch) -le 262144 ]] || fail "the log has $(stat -c %s kept/*.watch) bytes"
    expect_figure 'all["processes"][0]["full_after_ns"] > 0' True
    expect_figure 'all["processes"][0]["calls_listed"] + all["processes"][0]["counted_only"]["calls"]' 8000
    expect_figure 'all["processes"][0]["works"] + all["processes"][0]["counted_only"]["works"]' 6000
    watch --limit 256KiB long
    expect_out 'The log was full after'
    ;;
  LeavesTheOutputToTheResults)
    watch --json print
    expect_code 0
    expect_figure 'all["processes"][0]["works"]' 6
    [[ $(stat -c %s err) == 67108864 ]] || fail "$(stat -c %s err) bytes of the program's output"
    ;;
  EndsWithTheProgramThatIsInterrupted)
    listening watch -- "$watched" hang > out 2> err &
    child=$!
    until grep -qs ready err || ! kill -0 $child 2> /dev/null; do :; done
    kill -INT $child
    code=0
    wait $child || code=$?
    expect_code 130
    expect_out 'one after the other'
    expect_err 'Interrupted'
    ! pgrep -f "$watched hang" > /dev/null || fail 'the program is still there'
    ;;
  SaysThatNothingUsesAGpu)
    watch nothing
    expect_code 1
    expect_err 'The program gave a GPU nothing to do'
    run watch -- /bin/true
    expect_code 1
    ;;
  SaysWhyThereIsNoLog)
    watch short-files
    expect_code 1
    expect_err 'used the driver and could make no log: File too large. A file of its may not be as long as 128 KiB: raise its ulimit -f.'
    mkdir "$scratch/inner"
    TMPDIR=$scratch/inner watch no-folder
    expect_code 1
    expect_err 'used the driver and could make no log: No such file or directory. Let --logs or TMPDIR name a folder that'
    ! grep -q 'gave a GPU nothing to do' err || fail "the program is blamed: $(cat err)"
    rm -r "$scratch/inner-gone"
    # The other one is still shown.
    watch --json half
    expect_code 1
    expect_figure '[process["works"] for process in all["processes"]]' '[6]'
    expect_figure 'all["missing"][0].split(" ", 2)[2]' 'used the driver and could make no log: File too large. A file of its may not be as long as 128 KiB: raise its ulimit -f.'
    cp out results.json
    run watch --read results.json
    expect_code 1
    expect_out 'one after the other'
    expect_err 'could make no log'
    ;;
  ShowsTheOthersIfALogIsDamaged)
    watch --expect 'overlap <= 1' damaged
    expect_code 1
    expect_out 'one after the other'
    expect_err '/1.watch: This is no log of penstock watch'
    [[ $(wc -l < err) == 1 ]] || fail "not one line: $(cat err)"
    ;;
  RefusesAFolderInWhichNoFileCanBeMade)
    mkdir -m 555 locked
    folder=locked
    if [[ -w locked ]]; then
      # The superuser may write everywhere, but in some folders of the system there can be no file.
      for folder in /proc/sys/fs/binfmt_misc /sys/kernel/debug /sys/kernel/security /sys/fs/pstore none; do
        [[ ! -d $folder || -n $(ls -A "$folder") ]] || break
      done
      [[ $folder != none ]] || exit 77
    fi
    run watch --logs "$folder" -- "$watched" serial
    expect_code 2
    expect_err "--logs $folder: no file can be made there: "
    ;;
  RefusesALimitWithWhichNoLogCanBeWrittenOrRead)
    for size in 100KiB 131071 0 5GiB; do
      run watch --limit "$size" -- "$watched" serial
      expect_code 2
      expect_err "--limit $size: a log takes at least 128 KiB, and can be read up to 4 GiB. Name a size between these."
    done
    watch --limit 128KiB serial
    expect_code 0
    ;;
  SaysThatCuptiRefuses)
    export STAND_IN_CUPTI_REFUSES=35
    watch serial
    expect_code 4
    expect_err 'only administrators may profile here'
    export STAND_IN_CUPTI_REFUSES=39
    watch serial
    expect_code 4
    expect_err 'Another profiler has CUPTI'
    ;;
  RefusesBadOptionsInOneLine)
    mkdir full
    touch full/file text
    chmod -x text
    expect_bad_options watch << 'EOF'

--read
--read missing
--read text
--read .
--read text -- /bin/true
--expect overlap -- /bin/true
--limit much -- /bin/true
--logs full -- /bin/true
--nonsense
-- ./missing
-- ./text
-- ./full
EOF
    ;;
  *) fail "no such case: $2" ;;
esac
nothing_is_left
