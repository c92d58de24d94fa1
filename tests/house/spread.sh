#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# spread.sh SPREAD: what bench/spread.sh tells of sweeps whose figures are made up.
set -euo pipefail
spread=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Prints the figures that stand in the file `sweep.N` in its Nth run: median, least and most of each of its two points.
cat > "$scratch/penstock" <<'EOP'
#!/usr/bin/env bash
here=${0%/*}
echo "$*" >> "$here/calls"
turn=$(wc -l < "$here/calls")
echo 'threads,tile,repeats,gb_per_s,gb_per_s_min,gb_per_s_max,tiles_per_s'
[[ -e $here/sweep.$turn ]] || exit 4
{ read -r one && echo "1,4096,7,$one,1" && read -r two && echo "2,4096,7,$two,1"; } < "$here/sweep.$turn"
EOP
chmod +x "$scratch/penstock"
# sweeps "POINT POINT"...: what the next sweeps print.
sweeps() {
  rm -f "$scratch"/sweep.* "$scratch/calls"
  local i=0 one
  for one in "$@"; do
    i=$((i + 1))
    tr ' ' '\n' <<< "$one" > "$scratch/sweep.$i"
  done
}
failed=0
# expect CODE PATTERN: what it ends with, and a line that it tells.
expect() {
  local code=0
  "$spread" "$scratch/penstock" 3 --tile 4KiB > "$scratch/told" 2>&1 || code=$?
  if [[ $code != "$1" ]] || ! grep -qE -- "$2" "$scratch/told"; then
    echo "code $code instead of $1, or no line like: $2" && cat "$scratch/told"
    failed=1
  fi
}
sweeps '1.0,0.9,1.1 5,4,6' '1.05,1.0,1.1 5,5,5' '1.0,0.5,1.5 5,4,6'
expect 0 '^12 of 12 held, 100\.0 %'
[[ $(sort -u "$scratch/calls") == 'bench --csv --tile 4KiB' ]] || { cat "$scratch/calls" && failed=1; }
# The second sweep's median of the first point is in neither of the others' spreads.
sweeps '1.0,0.9,1.1 5,4,6' '1.2,1.0,1.3 5,5,5' '1.0,0.95,1.15 5,4,6'
expect 1 '^10 of 12 held, 83\.3 %'
grep -qE '^ *4 of +6 held, spread .* %.*: 1,4096; medians 1 1\.2 1$' "$scratch/told" || { cat "$scratch/told" && failed=1; }
sweeps '1,1,1 5,5,5'
expect 4 'failed'
exit $failed
