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

# is_program FILE
is_program() {
  local magic=''
  [[ -f $1 ]] && { IFS= read -r -N 4 magic <"$1" || true; } 2>/dev/null && [[ $magic == $'\x7fELF' ]]
}

# check_tables: what readelf says of programs, each behind a line "program PATH". The elements of a run path are those which
# the loader takes before the system's folders; it replaces $ORIGIN by the folder of the file.
check_tables() {
  awk -v kind="$kind" '
    function complain(text) { print program ": " text; broken = 1 }
    function check_paths(path,  count, element, i) {
      count = split(path, element, ":")
      if (count == 0) element[count = 1] = ""
      for (i = 1; i <= count; ++i) {
        if (element[i] == "") complain("its run path \047" path "\047 has an empty element, which is the current directory")
        else if (kind == "bundle" || kind == "libraries") {
          if (element[i] != "$ORIGIN/../lib" && (kind != "libraries" || element[i] != "$ORIGIN"))
            complain("its run path \047" path "\047 has the element " element[i] ", which is no part of the bundle")
        }
        else if (element[i] !~ /^\//)
          complain("its run path \047" path "\047 has the element " element[i] "; a program of a build needs absolute ones")
      }
    }
    function check_program() {
      if (program == "" || (kind != "build" && kind != "bundle")) return
      if (program !~ /\.so$/ && !pie) complain("has a fixed address (no PIE)")
      if (!relro) complain("its relocations stay writable (no RELRO)")
      if (!now) complain("binds symbols late (no BIND_NOW)")
      if (!stack) complain("has an executable stack")
      if (!protector) complain("has functions without a stack protector")
      if (program ~ /\/penstock(-legacy)?$/ && !fortified) complain("prints without the checks of _FORTIFY_SOURCE")
    }
    /^program / { check_program(); program = substr($0, 9); pie = relro = now = stack = protector = fortified = 0; next }
    /\((RPATH|RUNPATH)\).*\[.*\]$/ { path = $0; sub(/^.*\((RPATH|RUNPATH)\).*\[/, "", path); sub(/\]$/, "", path); check_paths(path) }
    /\(FLAGS_1\).* PIE( |$)/ { pie = 1 }
    /^ *GNU_RELRO / { relro = 1 }
    /\(FLAGS(_1)?\).* (BIND_NOW|NOW)( |$)/ { now = 1 }
    /^ *GNU_STACK .* RW +0x/ { stack = 1 }
    /UND __stack_chk_fail(@|$)/ { protector = 1 }
    /UND __[a-z]+printf_chk(@|$)/ { fortified = 1 }
    END { check_program(); exit broken }'
}

check_folder() {
  local program
  local -a programs=()
  for program in "$where"/*; do
    if is_program "$program"; then programs+=("$program"); fi
  done
  ((${#programs[@]})) || complain "$where: there is no program in it"
  for program in "${programs[@]}"; do
    echo "program $program"
    readelf -hldW --dyn-syms "$program"
  done | check_tables || broken=1
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
