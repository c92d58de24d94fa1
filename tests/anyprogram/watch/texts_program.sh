#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# texts_program.sh PENSTOCK CASE TEXTS: penstock watch on a GPU, on the programs of the texts: each fault comes first in its list,
# and overlap is what the trace gives.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/../../programs/program_world.sh"
texts=$(realpath "$3")
nvidia-smi > /dev/null 2>&1 || exit 77

# figure EXPRESSION: of the results in out, as Python has it.
figure() { python3 -c "import json; process = json.load(open('out'))['processes'][0]; print($1)"; }
# watch CASE: watches it, and compares its overlap with one that is calculated from the trace.
watch() {
  run watch --json --trace trace.json -- "$texts" "$1"
  expect_code 0
  python3 - << 'EOP' || fail "$1: the overlap is not that of the trace"
import json
process = json.load(open('out'))['processes'][0]
works = {'upload': [], 'download': [], 'kernel': []}
for event in json.load(open('trace.json'))['traceEvents']:
    if event['ph'] == 'X' and event['cat'] == 'device':
        kind = event['name'] if event['name'] in works else 'kernel'
        if event['name'].startswith('memset'): continue
        works[kind].append((event['ts'], event['ts'] + event['dur']))
def length(stretches):
    total, end = 0, float('-inf')
    for begin, last in sorted(stretches):
        total += max(0, last - max(begin, end)); end = max(end, last)
    return total
lengths = [length(one) for one in works.values()]
together = length(sum(works.values(), []))
overlap = (sum(lengths) - together) / (sum(lengths) - max(lengths))
print(overlap, process['overlap'])
assert abs(overlap - process['overlap']) <= 0.02
EOP
}
expect_first() {
  local first
  first=$(figure 'process["faults"][0]["fault"] if process["faults"] else "none"')
  [[ $first == "$1" ]] || fail "the first fault is $first, not $1: $(figure 'json.dumps(process["faults"], indent=1)')"
}

case $2 in
  Serial) watch serial && expect_first one_stream ;;
  Pageable) watch pageable && expect_first pageable ;;
  Stray) watch stray && expect_first legacy ;;
  HostBlocks) watch host_blocks && expect_first host_blocks ;;
  DepthFirst | BreadthFirst)
    if [[ $2 == DepthFirst ]]; then watch depth_first; else watch breadth_first; fi
    [[ $(figure 'process["overlap"] > 0.6') == True ]] || fail "overlap is $(figure 'process["overlap"]')"
    [[ $(figure '[fault["fault"] for fault in process["faults"] if fault["fault"] in ("pageable", "one_stream", "legacy", "host_blocks")]') == '[]' ]] ||
      fail "it is accused: $(figure 'process["faults"]')"
    ;;
  Hazard)
    run watch --json -- "$texts" hazard
    expect_code 0
    [[ $(figure 'process["hazards"]["count"]') == 1 ]] || fail "$(figure 'process["hazards"]')"
    run watch --json -- "$texts" ordered
    [[ $(figure 'process["hazards"]["count"]') == 0 ]] || fail "$(figure 'process["hazards"]')"
    ;;
  Graphs)
    run watch --json -- "$texts" graphs
    expect_code 0
    # Each of the three launches with the copy of its tile.
    [[ $(figure 'process["hazards"]["count"]') == 3 ]] || fail "$(figure 'process["hazards"]')"
    [[ $(figure 'process["hazards"]["unknown_bytes"]') == 0 ]] || fail "$(figure 'process["hazards"]')"
    ;;
  *) fail "no such case: $2" ;;
esac
