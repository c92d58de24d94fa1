#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hardening.sh build FOLDER      holds each program in FOLDER to what cmake/PenstockHardening.cmake promises
# hardening.sh bundle FOLDER     the same for the programs of a bundle, whose run path is its lib and nothing else
# hardening.sh libraries FOLDER  for the libraries of a bundle: only their run paths
# hardening.sh paths FOLDER      for the programs of a build with a sanitizer: only their run paths
# hardening.sh commands FILE     each source in this compile_commands.json is compiled with what a program does not show
#
# Prints one line for each broken promise and exits 1 if there is one.
set -euo pipefail
export LC_ALL=C
kind=$1 where=$2
broken=0

complain() {
  printf '%s\n' "$*"
  broken=1
}

# check_paths PROGRAM TABLES: the elements of its run path, which the loader takes before the system's folders.
check_paths() {
  local path element
  while read -r path; do
    while read -r -d: element; do
      # shellcheck disable=SC2016  # The loader replaces $ORIGIN by the folder of the file.
      case $kind:$element in
        *:) complain "$1: its run path '$path' has an empty element, which is the current directory" ;;
        'bundle:$ORIGIN/../lib' | 'libraries:$ORIGIN' | 'libraries:$ORIGIN/../lib') ;;
        bundle:* | libraries:*) complain "$1: its run path '$path' has the element $element, which is no part of the bundle" ;;
        *:/*) ;;
        *) complain "$1: its run path '$path' has the element $element; a program of a build needs absolute ones" ;;
      esac
    done <<<"$path:" # The colon ends the last element, which may be empty.
  done < <(sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\]$/\2/p' <<<"$2")
}

# check_program PROGRAM TABLES
check_program() {
  local name=${1##*/}
  [[ $name == *.so ]] || grep -qE '\(FLAGS_1\).*\<PIE\>' <<<"$2" || complain "$1: has a fixed address (no PIE)"
  grep -qE '^ *GNU_RELRO ' <<<"$2" || complain "$1: its relocations stay writable (no RELRO)"
  grep -qE '\(FLAGS(_1)?\).*\<(BIND_NOW|NOW)\>' <<<"$2" || complain "$1: binds symbols late (no BIND_NOW)"
  grep -qE '^ *GNU_STACK .* RW +0x' <<<"$2" || complain "$1: has an executable stack"
  grep -qE 'UND __stack_chk_fail(@|$)' <<<"$2" || complain "$1: has functions without a stack protector"
  if [[ $name == penstock || $name == penstock-legacy ]] && ! grep -qE 'UND __[a-z]+printf_chk(@|$)' <<<"$2"; then
    complain "$1: prints without the checks of _FORTIFY_SOURCE"
  fi
}

check_folder() {
  local program tables programs=0
  for program in "$where"/*; do
    if [[ ! -f $program || $(head -c 4 "$program" | tr -d '\0') != $'\x7fELF' ]]; then continue; fi
    programs=$((programs + 1))
    tables=$(readelf -hldW --dyn-syms "$program")
    check_paths "$program" "$tables"
    if [[ $kind == build || $kind == bundle ]]; then check_program "$program" "$tables"; fi
  done
  ((programs)) || complain "$where: there is no program in it"
}

# each_has OPTION COMMANDS
each_has() {
  local command
  while read -r command; do
    complain "compiled without $1: ${command##* }"
  done < <(grep -vF -e "$1" <<<"$2" | tr -d '",')
}

check_commands() {
  local commands
  commands=$(grep '^ *"command": ' "$where") || complain "$where: there are no commands in it"
  each_has -fstack-protector-strong "$commands"
  each_has -fstack-clash-protection "$commands"
  each_has -D_GLIBCXX_ASSERTIONS "$(grep -E '\.cpp",?$' <<<"$commands")"
  each_has -D_FORTIFY_SOURCE= "$(grep -E '\.cpp",?$' <<<"$commands")"
}

case $kind in
  build | bundle | libraries | paths) check_folder ;;
  commands) check_commands ;;
  *) complain "no such kind: $kind" ;;
esac
exit $broken
