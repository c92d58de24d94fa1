#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# components.sh COMMAND: what a step of ./dev check has to look at again. It runs in the root of the repository.
#
#   parts                   prints the parts that a step is divided into, lowest first
#   tests PART...           prints the option of ctest that chooses the tests of these parts, and its regular expression
#   begins PART...          prints a regular expression of what the names of these tests begin with; the rest has none
#   programs PART...        prints those of the targets of standard input that are test programs of these parts; none stands for all
#   reach                   prints what read_parts, below, finds
#   parts_of STEP           prints those that have a share in a step
#   rows STEP [PART]        prints what the step depends on, by hash: "STEP PART HASH" or, of a step that reads files one by one,
#                           "STEP FILE HASH"; for these build/tidy is configured
#   unchecked STEP          prints the parts, the engine always, whose rows are not recorded
#   files [--unchecked] STEP [PART...]
#                           prints the files that the step reads, or those of them whose rows are not recorded
#   record STEP [PART]      puts the rows of standard input in the place of those that are recorded for this step, or for this part
#
# A part is a component, or several that are tested together. The last part, rest, is all that is no other part's: programs,
# examples, and tests across components. The record is .ci/checked. A row says that the step passed on inputs with this hash.
set -euo pipefail
export LC_ALL=C

record=.ci/checked
last=rest
# Test programs that are not named after a layer.
declare -A also=([engine]='failed_allocations flow_failures refused_engines refused_output_calls' [egress]=refused_sink_calls [records]=records_failures)
# Steps that are one part's.
declare -A only=([demo]=rest)
# Steps that read one file at a time, with the patterns of their files.
declare -A files_of=([tidy]="*.cpp :!tests" [tidy_tests]='tests/*.cpp')

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "components.sh: $1" >&2
  exit 2
}

# Puts into the file `parts`: "part COMPONENT PART", "layer PART LAYER", and "below PART OTHER" for all that this part needs, itself
# included. A component without a folder tests/NAME is tested with the one that has tests/OTHER/NAME; one that has both with
# kernels, whose tests are one program, if that is OTHER. All parts
# but the engine need models: their tests have devices of them.
read_parts() {
  cat >"$scratch/facts.cmake" <<'END'
function(penstock_add_component name)
  cmake_parse_arguments(PARSE_ARGV 1 it "DIVIDED;BY_NAME_ONLY;ONE_NAME;SHARED;WITHOUT_LIBRARY" "SENTENCE;FOLDER;REMEDY" "NEEDS;LAYERS;PACKAGES;PKG_CONFIG")
  message("component ${name}")
  foreach(below IN LISTS it_NEEDS)
    message("needs ${name} ${below}")
  endforeach()
  foreach(layer IN LISTS it_LAYERS)
    message("layer ${name} ${layer}")
  endforeach()
endfunction()
include("${CMAKE_SOURCE_DIR}/cmake/PenstockComponents.cmake")
END
  cmake -P "$scratch/facts.cmake" >"$scratch/facts" 2>&1 || true
  grep -q '^component engine$' "$scratch/facts" || fail "cmake/PenstockComponents.cmake has no engine: $(<"$scratch/facts")"
  find tests -mindepth 1 -maxdepth 2 -type d | sort >"$scratch/folders"
  awk -F '[ /]' -v last="$last" '
    FILENAME ~ /folders$/ { if (NF == 2) part[$2] = $2; else if (!($3 in below)) below[$3] = $2; next }
    $1 == "component" {
      it = ($2 in below && below[$2] == "kernels") ? "kernels" : $2 in part ? part[$2] : $2 in below ? below[$2] : last
      print $2, $2 ~ /^(programs|jobs)$/ ? last : it
    }' "$scratch/folders" "$scratch/facts" >"$scratch/part_of"
  awk -v last="$last" '
    NR == FNR { part[$1] = $2; if ($2 != last && !known[$2]++) order[++parts] = $2; print "part", $1, $2; next }
    FNR == 1 { order[++parts] = last }
    $1 == "layer" { print "layer", part[$2], $3 }
    $1 == "needs" { below[part[$2], part[$3]] = 1 }
    END {
      for (i = 1; i <= parts; ++i) {
        below[order[i], order[i]] = below[last, order[i]] = 1
        if (known["models"] && order[i] != "engine") below[order[i], "models"] = 1
      }
      for (k = 1; k <= parts; ++k) for (i = 1; i <= parts; ++i) for (j = 1; j <= parts; ++j)
        if ((order[i], order[k]) in below && (order[k], order[j]) in below) below[order[i], order[j]] = 1
      for (i = 1; i <= parts; ++i) for (j = 1; j <= parts; ++j) if ((order[i], order[j]) in below) print "below", order[i], order[j]
    }' "$scratch/part_of" "$scratch/facts" >"$scratch/parts"
  mapfile -t parts < <(awk '$1 == "below" && !seen[$2]++ { print $2 }' "$scratch/parts")
}

parts_of() {
  printf '%s\n' "${only[$1]:-${parts[@]}}"
}

expect_parts() {
  local part
  for part in "$@"; do
    [[ " ${parts[*]} " == *" $part "* ]] || fail "no such part: $part; there are: ${parts[*]}"
  done
}

# layers PART...: prints what their test programs are named after, and their tests begin with.
layers() {
  local part
  for part in "$@"; do
    awk -v part="$part" -v last="$last" '$1 == "layer" && $2 == part && part != last { print $3 }' "$scratch/parts"
    tr ' ' '\n' <<<"${also[$part]:-}"
  done | sed '/^$/d'
}

begins() {
  expect_parts "$@"
  # The scripts of cupti and nvtx run the command, which is the rest's.
  layers "$@" | sed -E 's/$/\\./; s/^((cupti|nvtx).*)/\1[A-Z]/' | paste -sd '|' | sed 's/^$/no test/; t; s/.*/^(&)/'
}

tests() {
  expect_parts "$@"
  local option=--tests-regex part
  local -a chosen=("$@")
  if [[ " $* " == *" $last "* ]]; then
    # What no other part has: all but the tests of those that are not asked for.
    option=--exclude-regex
    chosen=()
    for part in "${parts[@]}"; do [[ " $* " == *" $part "* ]] || chosen+=("$part"); done
  fi
  echo "$option"
  begins "${chosen[@]}"
}

programs() {
  expect_parts "$@"
  [[ " $* " != *" $last "* ]] || return 0
  layers "$@" | sed 's/.*/penstock_&_tests/; /^penstock_lane_/p; s/^penstock_lane_tests$/penstock_lane_soak/' >"$scratch/programs"
  grep -xFf "$scratch/programs" || fail "no test program of $* is in this build"
}

# blobs: prints "BLOB<tab>PATH" of each file that git holds or would hold, as it is now.
blobs() {
  local path
  git -c safe.directory="$PWD" -c core.quotePath=off ls-files --cached --others --exclude-standard | sort -u |
    while IFS= read -r path; do if [[ -f $path ]]; then printf '%s\n' "$path"; fi; done >"$scratch/paths"
  git hash-object --no-filters --stdin-paths <"$scratch/paths" >"$scratch/hashes"
  paste "$scratch/hashes" "$scratch/paths"
}

# tools STEP: prints the versions of what the step is done with.
tools() {
  case $1 in
    tidy*) clang-tidy --version | grep -i version ;;
    clang) clang++ --version | sed -n 1p ;;
  esac
  g++ -dumpfullversion
}

# parts_of_paths: prints each line of blobs with its part before it; "all" stands for every part. It leaves out pages, and what only
# steps that run on every commit read.
parts_of_paths() {
  awk -F '\t' -v OFS='\t' -v last="$last" '
    NR == FNR { split($0, fact, " "); if (fact[1] == "part") part[fact[2]] = fact[3]; next }
    {
      folders = split($2, folder, "/")
      name = folder[2]
      sub(/\.hpp$/, "", name)
      it = "all"
      if ($2 ~ /^(docs|debian|packaging)\/|\.md$|^LICENSE|\.clang-|^\.[^\/]*$|^\.ci\//) next
      else if ($2 ~ /^include\/penstock\//) {
        name = folder[3]
        sub(/\.hpp$/, "", name)
        it = name in part ? part[name] : "engine"
      }
      else if (folder[1] == "kernels") it = folders > 2 && name in part ? part[name] : "kernels"
      else if (folder[1] == "examples" || folder[1] == "bench" && !(name in part)) it = last
      else if (folder[1] ~ /^(src|tests|bench)$/ && folders > 2 && name != "support") it = name in part ? part[name] : last
      print it, $0
    }' "$scratch/parts" -
}

# rows_by_part STEP
rows_by_part() {
  local step=$1 part
  local -a chosen
  mapfile -t chosen < <(parts_of "$step")
  blobs | parts_of_paths >"$scratch/blobs"
  tools "$step" >"$scratch/tools"
  mkdir "$scratch/inputs"
  awk -F '\t' -v chosen="${chosen[*]}" -v folder="$scratch/inputs/" '
    FILENAME ~ /parts$/ { split($0, fact, " "); if (fact[1] == "below") reached[fact[2], fact[3]] = 1; next }
    FNR == 1 { parts = split(chosen, part, " ") }
    FILENAME ~ /tools$/ { for (i = 1; i <= parts; ++i) print >(folder part[i]); next }
    { for (i = 1; i <= parts; ++i) if ($1 == "all" || (part[i], $1) in reached) print $2, $3 >(folder part[i]) }
  ' "$scratch/parts" "$scratch/tools" "$scratch/blobs"
  printf "$scratch/inputs/%s\n" "${chosen[@]}" | git hash-object --no-filters --stdin-paths | cut -c 1-16 |
    paste -d ' ' <(printf "$step %s\n" "${chosen[@]}") -
}

# rows_by_file STEP: what clang-tidy says of a file depends on it, on the own headers that it includes, on how it is compiled, and on
# what is checked. An include that is not beside its file can be any file whose path ends so. Folders of the system's headers do not
# count, so that a machine with CUDA can record for one without.
rows_by_file() {
  local step=$1
  local -a patterns
  read -ra patterns <<<"${files_of[$step]}"
  [[ -f build/tidy/compile_commands.json ]] || fail 'build/tidy is not configured'
  blobs >"$scratch/blobs"
  {
    tools "$step"
    awk '$2 ~ /\.clang-tidy$|^tests\/house\/tidy\.sh$/' "$scratch/blobs"
  } >"$scratch/common"
  sed -nE 's/^ *"command": "(.*)",$/c \1/p; s/^ *"file": "(.*)",?$/f \1/p' build/tidy/compile_commands.json |
    sed -E 's/ -isystem [^ ]+//g; s/ -Winvalid-pch -include [^ ]*cmake_pch.hxx//; s/ -o [^ ]+ -c .*$//; s/^c [^-]*[^ -] -/c -/' |
    awk -v here="$PWD/" '
      /^c / { flags = substr($0, 3); while (i = index(flags, here)) flags = substr(flags, 1, i - 1) substr(flags, i + length(here)) }
      /^f / && index($0, here) == 3 { print substr($0, 3 + length(here)) "\t" flags }' >"$scratch/flags"
  git -c safe.directory="$PWD" ls-files --cached --others --exclude-standard -- "${patterns[@]}" | sort -u >"$scratch/wanted"
  grep -E '\.(hpp|cpp|h|cuh|cu)$' "$scratch/paths" | xargs grep -HE '^ *# *include +["<]' /dev/null |
    sed -E 's/^([^:]+):[^"<]*["<]([^">]+)[">].*/\1\t\2/' >"$scratch/includes"
  mkdir "$scratch/inputs"
  awk -F '\t' -v folder="$scratch/inputs" '
    function add(path) { if (!(path in seen)) { seen[path] = 1; reached[++count] = path } }
    FILENAME ~ /blobs$/ {
      blob[$2] = $1
      rest = $2
      while (i = index(rest, "/")) { rest = substr(rest, i + 1); ending[rest] = ending[rest] "\t" $2 }
      next
    }
    FILENAME ~ /flags$/ { flags[$1] = $2; next }
    FILENAME ~ /includes$/ {
      beside = $1
      sub(/[^\/]*$/, "", beside)
      name = $2
      if (beside name in blob) { includes[$1] = includes[$1] "\t" beside name; next }
      sub(/^(\.\.?\/)+/, "", name)
      if (name in blob) includes[$1] = includes[$1] "\t" name
      if (name in ending) includes[$1] = includes[$1] ending[name]
      next
    }
    $1 in flags && $1 in blob {
      delete seen
      count = 0
      add($1)
      file = folder "/" ++files
      print flags[$1] >file
      for (k = 1; k <= count; ++k) {
        print blob[reached[k]], reached[k] >file
        others = split(includes[reached[k]], other, "\t")
        for (j = 2; j <= others; ++j) add(other[j])
      }
      close(file)
      print file "\t" $1
    }' "$scratch/blobs" "$scratch/flags" "$scratch/includes" "$scratch/wanted" >"$scratch/sources"
  cut -f 1 "$scratch/sources" | while read -r file; do cat "$scratch/common" "$file" >"$file.all" && echo "$file.all"; done |
    git hash-object --no-filters --stdin-paths | cut -c 1-16 | paste -d ' ' <(cut -f 2 "$scratch/sources") - | sed "s/^/$step /"
}

rows() {
  if [[ ! ${files_of[$1]:-} ]]; then
    rows_by_part "$1" | awk -v part="${2:-}" 'part == "" || $2 == part'
  elif [[ ! ${2:-} ]]; then
    rows_by_file "$1"
  else
    rows_by_file "$1" >"$scratch/rows"
    cut -d ' ' -f 2 "$scratch/rows" | parts_of_files | paste "$scratch/rows" - | awk -F '\t' -v part="$2" '$2 == part { print $1 }'
  fi
}

# new_rows STEP: those that are not recorded.
new_rows() {
  rows "$1" | if [[ -s $record ]]; then grep -vxFf "$record" || true; else cat; fi
}

# parts_of_files: puts before each path of standard input its part. What every part depends on is the engine's to look at.
parts_of_files() {
  sed 's/^/-\t/' | parts_of_paths | awk -F '\t' '{ print ($1 == "all" ? "engine" : $1) "\t" $3 }'
}

unchecked() {
  local part
  new_rows "$1" | cut -d ' ' -f 2 | if [[ ${files_of[$1]:-} ]]; then parts_of_files | cut -f 1; else cat; fi >"$scratch/unchecked"
  for part in $(parts_of "$1"); do
    if [[ $part == engine ]] || grep -qx "$part" "$scratch/unchecked"; then echo "$part"; fi
  done
}

files() {
  local which=rows part
  if [[ $1 == --unchecked ]]; then
    which=new_rows
    shift
  fi
  local step=$1
  shift
  expect_parts "$@"
  (($#)) || set -- "${parts[@]}"
  "$which" "$step" | cut -d ' ' -f 2 | parts_of_files >"$scratch/files"
  for part in "$@"; do awk -F '\t' -v part="$part" '$1 == part { print $2 }' "$scratch/files"; done
}

record() {
  grep "^$1 " >"$scratch/new"
  {
    # Of a whole step also rows of what there is no more.
    if [[ ${2:-} ]]; then
      awk 'NR == FNR { new[$1, $2]; next } !(($1, $2) in new)' "$scratch/new" "$record" 2>/dev/null || true
    else
      grep -v "^$1 " "$record" 2>/dev/null || true
    fi
    cat "$scratch/new"
  } | sort >"$scratch/record"
  cat "$scratch/record" >"$record"
}

command=${1:-}
case $command in
  parts) read_parts && printf '%s\n' "${parts[@]}" ;;
  reach) read_parts && cat "$scratch/parts" ;;
  parts_of | begins | tests | programs | rows | unchecked | files) read_parts && "$command" "${@:2}" ;;
  record) record "${@:2}" ;;
  *) fail "no such command: $command" ;;
esac
