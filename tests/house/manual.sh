#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016  # The programs that are written expand it.
# manual.sh SCRIPT CASE: how PenstockManual.cmake, SCRIPT, has a program write its manual that this machine can run, or cannot.
set -euo pipefail
script=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
# program LINE...: stands for penstock; the last line writes the manual.
program() {
  printf '%s\n' '#!/bin/sh' "$@" 'mkdir -p "$2/man" && echo "$1" >"$2/man/penstock.1"' >program
  chmod +x program
}
write() {
  cmake -D PROGRAM="$PWD/program" -D FOLDER="$PWD/manual" "$@" -P "$script" >said 2>&1 || fail "the build ends: $(cat said)"
}

RunsAProgramWhoseLibrariesAreInNoFolderOfTheSystem() {
  program 'case :$LD_LIBRARY_PATH: in *:/opt/tbb/lib:*) ;; *) echo "libtbb.so.12: cannot open" >&2; exit 127 ;; esac' \
    'case :$LD_LIBRARY_PATH: in *:/opt/own:*) ;; *) exit 126 ;; esac'
  LD_LIBRARY_PATH=/opt/own write -D LIBRARIES=/opt/tbb/lib:/opt/hwloc/lib
  [[ -s manual/man/penstock.1 ]] || fail "no manual: $(cat said)"
}
RunsAProgramOfAnotherMachineByItsEmulator() {
  program '[ "$EMULATED" = yes ] || exit 126'
  printf '%s\n' '#!/bin/sh' '[ "$1" = -cpu ] && shift 2' 'EMULATED=yes exec "$@"' >emulator
  chmod +x emulator
  write -D "EMULATOR=$PWD/emulator;-cpu;max"
  [[ -s manual/man/penstock.1 ]] || fail "no manual: $(cat said)"
}
GoesOnWithoutAManualAndSaysHowToGetOne() {
  program 'echo "cannot execute binary file" >&2' 'exit 126'
  write
  [[ ! -e manual && -e manual.written ]] || fail 'there is a manual of a program that did not run'
  tr -s ' \n' ' ' <said | grep -qF 'cannot execute binary file' || fail "the reason is missing: $(cat said)"
  tr -s ' \n' ' ' <said | grep -qF 'penstock --write-manual FOLDER' || fail "the remedy is missing: $(cat said)"
}

"$2"
