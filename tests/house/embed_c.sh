#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# embed_c.sh BUILD CC: installs the C interface of BUILD into a fresh prefix, and nothing else, and compiles the example in C against
# that copy: by the command of docs/c.md, by pkg-config, and by find_package.
set -euo pipefail
build=$1 cc=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
example=$root/examples/060_c.c
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
cmake --install "$build" --prefix "$prefix" --component c >/dev/null
others=$(find "$prefix" \( -name '*.hpp' -o -name '*.a' \) | head)
[[ -z $others ]] || { printf 'installed with it:\n%s\n' "$others" && exit 1; }
libraries=$(dirname "$(find "$prefix" -name libpenstock.so)")

# runs PROGRAM: it works, with the library of the prefix. The folders that make it find that are those it was linked with.
runs() {
  env -u LD_LIBRARY_PATH "$1" | tail -n 1
  [[ $(ldd "$1") == *"$libraries/libpenstock.so.0 "* ]] || { echo "$1 has another libpenstock.so" && exit 1; }
}
command=$(grep -E '^cc .*program\.c' "$root/docs/c.md")
read -ra words <<<"$command"
words=("${words[@]/#cc/$cc}")
words=("${words[@]/#program.c/$example}")
words=("${words[@]//\/opt\/penstock\/lib/$libraries}")
words=("${words[@]//\/opt\/penstock/$prefix}")
"${words[@]}" -o "$scratch/by_hand"
runs "$scratch/by_hand"

read -ra flags < <(PKG_CONFIG_PATH=$libraries/pkgconfig pkg-config --cflags --libs penstock-c)
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror "$example" "${flags[@]}" -Wl,-rpath,"$libraries" -o "$scratch/by_pkg_config"
runs "$scratch/by_pkg_config"

cmake -S "$root/tests/house/embed_c" -B "$scratch/build" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" \
  -DSOURCE="$example" >"$scratch/said" 2>&1 || { cat "$scratch/said" && exit 1; }
cmake --build "$scratch/build" >"$scratch/said" 2>&1 || { cat "$scratch/said" && exit 1; }
runs "$scratch/build/outside_c"
