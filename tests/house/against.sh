#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# against.sh AGAINST: what bench/against.sh tells of bench programs that take times as they are told.
set -euo pipefail
against=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# program PATH "CASE TIME TIME TIME"...: a bench program whose cases take the first time in their first run, and so on.
program() {
  mkdir -p "${1%/*}"
  {
    echo '#!/usr/bin/env bash'
    echo "here=$1"
    printf 'all=('
    printf '%q ' "${@:2}"
    echo ')'
    cat <<'EOF'
if [[ $* == *list_tests* ]]; then printf '%s\n' "${all[@]%% *}"; exit; fi
echo "${here##*/} $(basename "$(dirname "$here")")" >>"$(dirname "$here")/../calls"
echo run >>"$here.runs"
turn=$(wc -l <"$here.runs")
only=${1#*=}
echo '{ "context": { "name": "none" },'
echo '  "benchmarks": ['
for one in "${all[@]}"; do
  read -ra words <<<"$one"
  [[ ${words[0]} =~ $only ]] || continue
  printf '      "name": "%s",\n      "real_time": 1e+00,\n      "cpu_time": %s,\n      "time_unit": "us"\n' "${words[0]}" "${words[turn]}"
done
EOF
  } >"$1"
  chmod +x "$1"
}

program "$scratch/before/penstock_core_pool_bench" 'steady 100 110 105' 'slow/a:1 100 101 102' 'quick 100 99 98' 'gone 1 1 1'
program "$scratch/after/penstock_core_pool_bench" 'steady 109 101 104' 'slow/a:1 103 110 120' 'quick 50 49 97' 'new 1 1 1'
program "$scratch/before/penstock_lane_lane_bench" 'other 1 1 1'
program "$scratch/after/penstock_lane_lane_bench" 'other 1 1 1'
"$against" "$scratch/before" "$scratch/after" 3 core/pool >"$scratch/told"

failed=0
# expect PATTERN: a line of what was told.
expect() {
  grep -qE "$1" "$scratch/told" || {
    echo "no line like: $1"
    failed=1
  }
}
expect '^core/pool/steady +105\.0 us +104\.0 us +0\.99 \(0\.92\.\.1\.09\)$'
expect '^core/pool/slow/a:1 .* 1\.09 \(1\.03\.\.1\.18\)  SLOWER$'
expect '^core/pool/quick .*  faster$'
expect '^2 of 3 differ'
expect '^only before: penstock_core_pool_bench gone$'
expect '^only after: penstock_core_pool_bench new$'
if grep -q other "$scratch/told"; then echo 'a bench that nobody asked for was run' && failed=1; fi
[[ $(cut -d ' ' -f 2 "$scratch/calls" | paste -sd ' ') == 'before after before after before after' ]] || {
  echo 'they did not take turns:' && cat "$scratch/calls" && failed=1
}
if "$against" "$scratch/before" "$scratch/after" 3 core/none >/dev/null 2>&1; then echo 'nothing to compare is well' && failed=1; fi
((failed == 0)) || cat "$scratch/told"
exit $failed
