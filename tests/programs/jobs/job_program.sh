#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# job_program.sh JOB CASE STAND_IN: what is of a job's program alone, held on watched_job.cpp. STAND_IN is a folder with the stand-ins
# of the driver and of CUPTI.
here=$(realpath "$0")
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/../program_world.sh"
LD_LIBRARY_PATH=$(realpath "$3")
export LD_LIBRARY_PATH
scratch=$world/scratch
mkdir "$scratch"
export TMPDIR=$scratch
name=$(basename "$penstock")
# Three tiles.
head -c 190000 /dev/zero > input
job=(--device cpu --input input)
figure() { python3 -c "import json, sys; all = json.load(open('out')); print($1)"; }
expect_figure() { [[ $(figure "$1") == "$2" ]] || fail "$1 is $(figure "$1"), not $2"; }
# changed FROM TO: the profile with other words, as the file changed.
changed() {
  sed "s/$1/$2/" profile > changed
  ! cmp -s profile changed || fail "the profile has no $1"
}
# expect_refused WORDS COMMAND: refuses the profile changed in one line.
expect_refused() {
  run "$2" "${job[@]}" --profile changed
  expect_code 2
  [[ $(wc -l < err) == 1 ]] || fail "$2: not one line: $(cat err)"
  expect_err "$name: changed: $1: make a new one with $name tune --save."
}

case $2 in
  WatchesARun)
    run watch "${job[@]}" --copies 2
    expect_code 0
    expect_out "$name"
    expect_out 'asynchronous copies of memory that is not pinned'
    # What the run prints.
    expect_err 'copies 2'
    run watch --json --expect 'pageable > 1' "${job[@]}" --copies 2 --producers 2 --no-bind
    expect_code 0
    expect_figure '[process["works"] for process in all["processes"]]' '[6]'
    expect_figure 'all["program"][1:]' "['run', '--device=cpu', '--producers=2', '--no-bind', '--input=input', '--copies=2']"
    run watch --expect 'pageable <= 1' "${job[@]}" --copies 2
    expect_code 1
    expect_err "$name: --expect 'pageable <= 1' does not hold"
    ;;
  WritesWhatItWatched)
    run watch --html page.html --trace trace.json --logs kept "${job[@]}" --copies 2
    expect_code 0
    grep -qF "<title>$name watch</title>" page.html || fail 'the page has another title'
    python3 -c 'import json; json.load(open("trace.json"))'
    run watch --read kept/*.watch
    expect_code 0
    expect_out 'asynchronous copies of memory that is not pinned'
    ;;
  ShowsItsSpansInTraceTableAndJson)
    run run --json --trace trace.json "${job[@]}"
    expect_code 0
    expect_figure '[(span["name"], span["calls"], span["kernel_us"]) for span in all["spans"]]' "[('copies', 3, None)]"
    expect_figure 'all["spans"][0]["self_us"] == all["spans"][0]["total_us"]' True
    expect_err 'copies      3 '
    python3 - <<'END' || fail 'the trace has other spans'
import json
events = json.load(open("trace.json"))["traceEvents"]
spans = [event for event in events if event.get("cat") == "span"]
sinks = {event["args"]["tile"]: event for event in events if event.get("name") == "sink"}
assert sorted(span["args"]["tile"] for span in spans) == [0, 1, 2], spans
for span in spans:
    sink = sinks[span["args"]["tile"]]
    assert (span["name"], span["tid"]) == ("copies", sink["tid"]) and span["ts"] >= sink["ts"], (span, sink)
END
    run run --json "${job[@]}"
    expect_figure 'all["spans"]' None
    run bench --json "${job[@]}" --lanes 1 --window 10 --repeats 1 --load 0 --no-ceilings
    expect_code 0
    expect_figure '(all["timeline"]["steps"][10:], all["timeline"]["spans"][0]["name"])' "(['sink', 'copies'], 'copies')"
    expect_figure 'len([one for one in all["timeline"]["passages"] if one[1] == 11]) > 0' True
    ;;
  PrintsItsFiguresInALineAndAPage)
    run run --csv --html page.html "${job[@]}" --copies 2
    expect_code 0
    expect_err 'bound: '
    python3 - << 'PYTHON'
import csv, json, re
[line] = csv.DictReader(open('out', newline=''))
assert line['bytes_in'] == '190000' and line['copies'] == '2' and line['failed'] == '0' and float(line['wall_s']) > 0, line
assert abs(float(line['gb_per_s']) * float(line['wall_s']) * 1e9 - 190000) < 1, line
page = json.loads(re.search('id="results">(.*?)</script>', open('page.html').read(), re.S)[1])
assert page['kind'] == 'run' and list(page['lines'][0]) == list(line) and page['bytes_in'] == 190000, page
PYTHON
    run run --csv --json "${job[@]}"
    expect_code 2
    run run --html input "${job[@]}"
    expect_code 2
    expect_err '--html input would overwrite what is to be read: name another file.'
    ;;
  FindsTheTileThatLosesTheDevice)
    run run --json --attribute "${job[@]}" --broken 1 --tile 16KiB
    expect_code 4
    expect_figure '[culprit["sequence"] for culprit in all["attribution"]["culprits"]]' '[1]'
    expect_figure 'all["attribution"]["culprits"][0]["stage"]' stage
    expect_figure 'all["attribution"]["not_tried"]' '[]'
    expect_figure '1 in all["attribution"]["innocent"]' False
    run run --attribute "${job[@]}" --broken 1 --tile 16KiB
    expect_code 4
    expect_err 'tile 1 fails by itself, at stage: '
    # Without the option, and where all goes well, there is nothing to say.
    run run --json "${job[@]}" --broken 1 --tile 16KiB
    expect_code 4
    expect_figure 'all["attribution"]' None
    run run --json --attribute "${job[@]}"
    expect_code 0
    expect_figure 'all["attribution"]' None
    ;;
  SaysWhereThreadsAndTilesWere)
    run run --json "${job[@]}" --no-bind --producers 2 --lanes 1
    expect_code 0
    expect_figure 'all["placement"].split("Pages")[0]' 'Threads: 2 producers, 1 lane, 1 consumer not bound. '
    run bench --json --one-process --window 20 --repeats 1 "${job[@]}" --producers 2 --lanes 1
    expect_code 0
    expect_figure 'all["points"][0]["placement"].split(" on")[0]' 'Threads: 2 producers, 1 lane'
    ;;
  SaysThatARunUsedNoGpu)
    run watch "${job[@]}"
    expect_code 1
    [[ ! -s out ]] || fail "there are results: $(cat out)"
    expect_err "$name: The run gave a GPU nothing to do. If it should, name a GPU with --device cuda"
    ;;
  SaysWhatASizeInThousandsIs)
    run run "${job[@]}" --tile 64KB
    expect_code 0
    expect_err "$name: --tile 64KB is 64000 bytes; 64KiB is 65536."
    run run "${job[@]}" --tile 64KiB --memory 1MB
    expect_err "$name: --memory 1MB is 1000000 bytes; 1MiB is 1048576."
    run run "${job[@]}" --tile 64KiB
    ! grep -q 'bytes; ' err || fail "$(cat err)"
    ;;
  RefusesPointsThatCannotBe)
    # The command names options as they are given, and measures nothing.
    for command in bench compare; do
      run "$command" "${job[@]}" --run-to-completion no,yes --producers 1,2
      expect_code 2
      expect_err "$name: With --run-to-completion yes lanes are the producers"
      [[ ! -s out ]] || fail "something was measured: $(cat out)"
    done
    for options in '--run-to-completion yes' '--run-to-completion yes --no-bind'; do
      # shellcheck disable=SC2086  # Several words are meant.
      run run "${job[@]}" $options --producers 1
      expect_code 2
      expect_err 'leave out --producers'
      # shellcheck disable=SC2086  # Several words are meant.
      run run "${job[@]}" --json $options
      expect_code 0
      expect_figure '"producer" in all["placement"]' False
    done
    run run "${job[@]}" --run-to-completion no --producers 1
    expect_code 0
    # Older versions took it without a word.
    for options in --run-to-completion '--run-to-completion --no-bind'; do
      # shellcheck disable=SC2086  # Several words are meant.
      run run "${job[@]}" --json $options
      expect_code 0
      expect_err '--run-to-completion is now written --run-to-completion yes'
      expect_figure '"producer" in all["placement"]' False
    done
    run run "${job[@]}" --run-to-completion perhaps
    expect_code 2
    expect_err 'give yes or no'
    run tune "${job[@]}" --run-to-completion yes --within 0.2 --tile 64KiB --lanes 1,2 --signal callback --shape split
    expect_code 0
    expect_out 'lanes  tried as'
    run tune "${job[@]}" --run-to-completion no,yes --within 0.2
    expect_code 2
    expect_err 'run it once for each'
    run watch --json "${job[@]}" --copies 2 --run-to-completion yes
    expect_code 0
    expect_out '"--run-to-completion='
    ;;
  RefusesWhatItCannotWatch)
    # It is said before anything runs.
    expect_bad_options watch << 'EOF'
--device cpu
--device cpu --input missing
--device cpu --input input --copies 101
--device cpu --input input --nonsense
--device cpu --input input --html input
--device cpu --input input --expect overlap
--device cpu --input input --limit much
--device cpu --input input --read input
EOF
    run watch --read nowhere --input input
    expect_err "$name: --read runs nothing: leave out --input=input, or --read."
    ;;
  SaysItsNameInMessagesAndTitles)
    run bench
    expect_code 2
    expect_err "$name: --input is missing"
    run bench "${job[@]}" --window 10 --repeats 1 --html page.html --tile 4kb
    expect_code 0
    expect_err "$name: --tile 4kb is 4000 bytes"
    grep -qF "<title>$name bench</title>" page.html || fail 'the page has another title'
    run run "${job[@]}" --trace trace.json
    expect_code 0
    expect_err "$name: trace.json shows every tile"
    grep -qF "\"$name run\"" trace.json || fail 'the trace has another name'
    ! grep -q '^penstock' err || fail "$(cat err)"
    for command in run bench compare tune watch; do
      run "$command" --help
      ! grep -F 'penstock tune' out || fail "--help of $command names another program"
    done
    ;;
  ReadsOptionsFromAFile)
    mv input 'in#put'
    printf 'style = "strict" # not loose\n[bench]\nnone = 1\n[run]\njson = true\nproducers = 2\ninput = "in#put"\n' > options.toml
    run run --device cpu --config options.toml
    expect_code 0
    expect_figure '(all["options"]["style"], all["tiles"], "2 producers" in all["placement"])' "('strict', 3, True)"
    run run --device cpu --config options.toml --style loose --no-bind
    expect_figure 'all["options"]["style"]' loose
    mv 'in#put' input
    printf 'tile = [\n  "64KiB", # Small.\n  "1MiB"\n]\n' > options.toml
    run run "${job[@]}" --config options.toml
    expect_err '64KiB,1MiB'
    for bad in 'none = 1' 'producers = "x"' 'copies = 101' '[run' 'config = "input"' 'copies = 1979-05-27' 'copies = [[1]]'; do
      echo "$bad" > bad.toml
      run run "${job[@]}" --config bad.toml
      expect_code 2
      [[ $(wc -l < err) == 1 ]] || fail "$bad: not one line: $(cat err)"
    done
    # toml++ would go down as deep, and end by a signal.
    for form in '%s = 1' '[%s]' 'x = { %s = 1 }' 'x = [ { "a" . %s = 1 } ]'; do
      # shellcheck disable=SC2059 # A format.
      printf "$form\n" "$(head -c 200000 /dev/zero | tr '\0' a | sed 's/aa/a./g')a" >deep.toml
      run run "${job[@]}" --config deep.toml
      expect_code 2
      expect_err 'deep.toml: line 1: a name of so many parts is no option: leave it out'
    done
    run run "${job[@]}" --config missing.toml
    expect_code 2
    expect_err missing.toml
    ;;
  IsOperatedAsAService)
    run run "${job[@]}" --metrics ''
    expect_code 2
    expect_err "'' is no address"
    run run "${job[@]}" --metrics nowhere
    expect_code 2
    expect_err 'Metrics cannot be served at "nowhere": that is no address; give'
    "$(dirname "$here")/operated_job.py" "$penstock"
    ;;
  KeepsItsOwnOptionsInAProfile)
    run tune "${job[@]}" --copies 3 --style strict --within 1 --tile 64KiB --producers 1,2 --lanes 1 --slots 2 --signal callback --shape split --save profile
    expect_code 0
    run run "${job[@]}" --profile profile --json
    expect_code 0
    expect_figure '(all["options"]["copies"], all["options"]["style"])' "('3', 'strict')"
    run run "${job[@]}" --profile profile --copies 1
    expect_out 'copies 1'
    run bench "${job[@]}" --profile profile --window 10 --repeats 1 --json
    expect_code 0
    expect_figure 'all["points"][0]["axes"].get("copies", all["options"].get("copies"))' 3
    run watch --json "${job[@]}" --profile profile
    expect_code 0
    expect_figure 'all["processes"][0]["works"]' 9
    run tune "${job[@]}" --profile profile --within 1 --tile 64KiB --producers 1 --lanes 1 --slots 2 --signal callback --shape split --save again
    expect_code 0
    grep -qF '"copies": "3"' again || fail 'a search from the profile has other values'
    ;;
  RefusesAProfileOfAnotherJob)
    run tune "${job[@]}" --copies 3 --within 1 --tile 64KiB --producers 1 --lanes 1 --slots 2 --signal callback --shape split --save profile
    expect_code 0
    changed "\"name\": \"$name\"" '"name": "sum"'
    for command in run bench compare tune watch; do
      expect_refused "It was made for the job 'sum', and not for the job '$name'" "$command"
    done
    changed '"copies"' '"colour"'
    expect_refused 'It has a value of --colour, which is no option of this job that takes a list' run
    changed '"copies": "3"' '"copies": "101"'
    expect_refused "It has --copies '101': give a whole number from 0 to 100" run
    # Of before jobs had names.
    python3 -c 'import json
profile = json.load(open("profile"))
del profile["job"]["name"], profile["job"]["options"]
json.dump(profile, open("older", "w"))'
    run run "${job[@]}" --profile older
    expect_code 0
    expect_out 'copies 0'
    # Of the work of penstock.
    sed 's/"work": ""/"work": "copy"/' older > changed
    expect_refused "It was made for penstock's own work, and not for the job '$name'" run
    ;;
  *) fail "no such case: $2" ;;
esac
[[ -z $(ls -A "$scratch") ]] || fail "left behind: $(ls -A "$scratch")"
