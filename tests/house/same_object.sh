#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# same_object.sh BUILD COMPILER ARGUMENT...: a compiler launcher for a build beside BUILD. An object that BUILD made by the
# same command, of files that have not changed since, is taken from there; everything else is compiled.
set -euo pipefail
build=$1
shift

# same_command OBJECT COMMAND...: true if BUILD, which lies elsewhere, makes OBJECT in that way.
same_command() {
  local object=$1 theirs
  shift
  theirs=$(ninja -C "$build" -t commands -s "$object" 2>/dev/null) || return 1
  # A launcher of its own stands before the compiler.
  theirs="$1 ${theirs#*"$1 "}"
  [[ ${theirs//"$build"/"$PWD"} == "$*" ]]
}

# inputs OBJECT: what BUILD made it of; nothing if that is not known for the object as it is.
inputs() {
  ninja -C "$build" -t deps "$1" 2>/dev/null |
    awk -v build="$build" 'NR == 1 && !/\(VALID\)/ { exit } /^    / { print ($1 ~ /^\// ? $1 : build "/" $1) }'
}

object='' depfile=''
for ((i = 1; i < $#; ++i)); do
  next=$((i + 1))
  case ${!i} in
    -o) object=${!next} ;;
    -MF) depfile=${!next} ;;
  esac
done
if [[ -n $object && -n $depfile ]] && same_command "$object" "$@"; then
  mapfile -t files < <(inputs "$object")
  for file in "${files[@]}"; do
    if [[ ! -e $file || $file -nt $build/$object ]]; then files=(); fi
  done
  if ((${#files[@]})); then
    cp "$build/$object" "$object"
    printf '%s:' "$object" >"$depfile"
    printf ' \\\n  %s' "${files[@]}" >>"$depfile"
    echo >>"$depfile"
    exit 0
  fi
fi
exec "$@"
