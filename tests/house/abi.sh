#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# abi.sh SOURCE CC [--write]: the C interface of SOURCE is the one in tests/house/abi, or has more functions. --write puts it into the
# place of that one: for a release, and where members were added behind the last of a structure. 77 where libabigail is not installed.
set -euo pipefail
source=$1 cc=$2
known=$source/tests/house/abi
command -v abidiff >/dev/null || { echo 'abidiff is not installed (abigail-tools)' && exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# library FOLDER EDIT: a library of the functions and structures of penstock.h, edited by a command of sed. They do nothing.
library() {
  mkdir "$scratch/$1"
  sed -E "$2" "$source/include/penstock/penstock.h" >"$scratch/$1/penstock.h"
  {
    echo '#include "penstock.h"'
    awk '/^PENSTOCK_API / { reading = 1; text = "" }
      reading { text = text " " $0 }
      reading && /;/ { reading = 0; sub(/^ *PENSTOCK_API/, "", text); sub(/;[^;]*$/, " { __builtin_trap(); }", text); print text }' "$scratch/$1/penstock.h"
  } >"$scratch/$1/functions.c"
  sed 's/penstock_run;/& penstock_more;/' "$source/src/c/penstock.map" >"$scratch/$1/map"
  # By its name alone: what --write writes has no path of this machine.
  (cd "$scratch/$1" && "$cc" -std=c11 -g -O0 -w -shared -fPIC functions.c -Wl,--version-script=map -Wl,-soname,libpenstock.so.0 \
    -o libpenstock.so.0)
}
# compares FOLDER: what has changed for programs; nothing is a success.
compares() { abidiff --no-added-syms "$known/libpenstock.so.0.abi" "$scratch/$1/libpenstock.so.0"; }

library here ''
if [[ ${3:-} == --write ]]; then
  abidw --no-show-locs --no-corpus-path --no-comp-dir-path "$scratch/here/libpenstock.so.0" >"$known/libpenstock.so.0.abi"
fi
compares here
library more 's/^(PENSTOCK_API .*penstock_stop\(.*)/\1\nPENSTOCK_API int penstock_more(void);/'
compares more
nm --dynamic "$scratch/more/libpenstock.so.0" | grep -F penstock_more
# Each must be found: a member that is wider, one in the middle, one at the end, and a parameter.
library wider 's/int32_t outcome;/int64_t outcome;/'
library inserted 's/(int32_t outcome;.*)/int32_t before;\n  \1/'
library grown 's/^(\} penstock_completion;)/  uint64_t more;\n\1/'
library parameter 's/^(PENSTOCK_API .*penstock_stop\()/\1int how, /'
for changed in wider inserted grown parameter; do
  cmp -s "$scratch/here/penstock.h" "$scratch/$changed/penstock.h" && echo "$changed: the header has not changed" && exit 1
  if compares "$changed" >"$scratch/said"; then echo "$changed: it was not found" && exit 1; fi
done
