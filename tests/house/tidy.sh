#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tidy.sh BUILD FILE...: clang-tidy on those of the files that BUILD compiles.
#
# Most of its time goes into headers, so files that are compiled alike are written into one unit, eight at most, and read
# together. What it says is said of the files themselves. Files that do not compile together, since two of them use a name
# for different things, are read in smaller units.
# A name that a file declares with `using` and only another of its unit uses would count as used; so that is looked for here.
# A file that is compiled several times, for both flavours or for several programs, is read as the last time.
set -euo pipefail
build=$1
shift
most=8
folder=$build/tidy
rm -rf "$folder"
mkdir -p "$folder"

# A unit lies where the checks that are asked of its files hold for it.
git -c safe.directory="$PWD" ls-files --cached --others --exclude-standard '*.clang-tidy' | while read -r checks; do
  install -D -m 644 "$checks" "$folder/$checks"
done

# A line for each source: flags, a tab, its path. What g++ has precompiled is not clang's.
sed -nE 's/^ *"command": "(.*)",$/c \1/p; s/^ *"file": "(.*)",?$/f \1/p' "$build/compile_commands.json" |
  sed -E 's/ -Winvalid-pch -include [^ ]*cmake_pch.hxx//; s/ -o [^ ]+ -c .*$//' |
  awk -v here="$PWD/" '
    /^c / { flags = substr($0, 3) }
    /^f / && index($0, here) == 3 { of[substr($0, 3 + length(here))] = flags }
    END { for (path in of) print of[path] "\t" path }' >"$folder/sources"

# A line for each unit: its name, its flags, its files, a tab between them.
printf '%s\n' "$@" | awk -F '\t' 'NR == FNR { wanted[$1] = 1; next } $2 in wanted' - "$folder/sources" |
  awk -F '\t' '{ top = $2; sub("/.*", "", top); print top "\t" $1 "\t" $2 }' | sort |
  awk -F '\t' -v most="$most" '
    $1 "\t" $2 != alike || count == most {
      if (units) printf "\n"
      printf "%s/%d\t%s\t%s", $1, ++units, $2, $3
      alike = $1 "\t" $2
      count = 1
      next
    }
    { printf " %s", $3; ++count }
    END { if (units) printf "\n" }' >"$folder/units"

# write_unit UNIT FILE...: the files as one, each with a main of its own name. A header that a file before has included is
# left out, but for its line. Says what a file has no use for, which is not to be seen in the unit.
write_unit() {
  local unit=$1
  shift
  mkdir -p "$(dirname "$folder/$unit")"
  awk -v map="$folder/$unit.map" '
    function tell_unused(name) {
      for (name in declared) {
        if (gsub("[^A-Za-z0-9_]" name "[^A-Za-z0-9_]", "&", text) < 2) {
          print declared[name] ": error: nothing here uses " name > "/dev/stderr"
          failed = 1
        }
      }
      delete declared
      text = ""
    }
    FNR == 1 { tell_unused(); delete own; ++files; print NR - 1, FILENAME >map }
    { text = text " " $0 " " }
    /^ *using [A-Za-z0-9_:]+::[A-Za-z0-9_]+;$/ { name = $2; gsub(/.*::|;/, "", name); declared[name] = FILENAME ":" FNR }
    /^#include / {
      if ($2 in own) { print FILENAME ":" FNR ": error: included twice: " $2 > "/dev/stderr"; failed = 1 }
      own[$2] = 1
      if ($2 in seen) { print ""; next }
      seen[$2] = 1
    }
    files > 1 { sub(/^int main\(/, "int main_" files "(") }
    files > 1 && /^BENCHMARK_MAIN\(/ { print ""; next }
    { print }
    END { tell_unused(); exit failed }' "$@" >"$folder/$unit.cpp"
}

# Says of the files what was said of their unit.
told_of_files() {
  awk -v unit="$folder/$1.cpp" '
    NR == FNR { first[++files] = $1; path[files] = $2; next }
    index($0, unit ":") == 1 {
      rest = substr($0, length(unit) + 2)
      line = rest + 0
      for (file = files; file > 1 && first[file] >= line; --file);
      sub(/^[0-9]+/, line - first[file], rest)
      $0 = path[file] ":" rest
    }
    /^[0-9]+ (warning|error)s? .*generated|^Error while processing|^$/ { next }
    { print }' "$folder/$1.map" -
}

# read_unit UNIT FLAGS FILE...
read_unit() {
  local unit=$1 flags=$2 said status=0 path
  local -a beside=()
  shift 2
  write_unit "$unit" "$@" || return 1
  for path in "$@"; do beside+=(-iquote "$PWD/$(dirname "$path")"); done
  mkdir "$folder/$unit"
  printf '[{"directory": "%s", "command": "%s %s -c %s", "file": "%s"}]\n' \
    "$PWD" "$flags" "${beside[*]}" "$folder/$unit.cpp" "$folder/$unit.cpp" >"$folder/$unit/compile_commands.json"
  # The flags are those of g++, some of which clang does not know.
  said=$(clang-tidy --quiet -p "$folder/$unit" --extra-arg=-Wno-unknown-warning-option "$folder/$unit.cpp" 2>&1) || status=1
  if ((status)) && (($# > 1)) && grep -qF '[clang-diagnostic-' <<<"$said"; then
    status=0
    read_unit "$unit-1" "$flags" "${@:1:$#/2}" || status=1
    read_unit "$unit-2" "$flags" "${@:$#/2+1}" || status=1
    return $status
  fi
  told_of_files "$unit" <<<"$said"
  return $status
}
export -f read_unit write_unit told_of_files
export folder

echo "clang-tidy on $(cut -f 3 "$folder/units" | wc -w) files in $(wc -l <"$folder/units") units"
# shellcheck disable=SC2016  # Expanded by the shell that is started.
tr '\n' '\0' <"$folder/units" | xargs -0 -P "$(nproc)" -n 1 bash -c '
  set -uo pipefail
  IFS=$'"'\t'"' read -r unit flags files <<<"$1"
  read -ra files <<<"$files"
  read_unit "$unit" "$flags" "${files[@]}"' -
