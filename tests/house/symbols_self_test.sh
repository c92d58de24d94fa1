#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# symbols_self_test.sh CC NM: symbols.sh must find every mistake that is made on purpose here, in a build of nothing else.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cc=$1 nm=$2
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cd "$build"

# object PATH NAME...: one that calls what has these names.
object() {
  local path=$1 name
  shift
  mkdir -p "$(dirname "$path")"
  for name in "$@"; do echo "void $name(void);"; done >"$path.c"
  { echo 'void all(void) {' && printf '%s();' "$@" && echo '}'; } >>"$path.c"
  "$cc" -x c -c "$path.c" -o "$path"
  echo "build $path: C_COMPILER__x $path.c" >>build.ninja
}
# library PATH OBJECT..., program PATH PART...
library() {
  ar rcs "$@"
  echo "build $1: C_STATIC_LIBRARY_LINKER__x ${*:2}" >>build.ninja
}
program() {
  touch "$1"
  echo "build $1: C_EXECUTABLE_LINKER__x $2 | ${*:3}" >>build.ninja
}
printf 'rule C_%s__x\n  command = false\n' COMPILER STATIC_LIBRARY_LINKER EXECUTABLE_LINKER >build.ninja

cat >runtime.c <<'C'
void cudaMemcpy(void) {}
void cudaMemcpy_ptds(void) {}
void cudaMemcpyAsync(void) {}
void cudaMemcpyAsync_ptsz(void) {}
void cudaMalloc(void) {}
void cudaLaunchKernel(void) {}
void cudaLaunchKernel_ptsz(void) {}
void __cudaLaunchKernel(void) {}
void __cudaLaunchKernel_ptsz(void) {}
void cudaLaunchCooperativeKernel(void) {}
void cudaLaunchCooperativeKernel_ptsz(void) {}
C
"$cc" -x c -c runtime.c -o runtime.o

open_per_thread=_ZN8penstock10per_thread4openEv # penstock::per_thread::open()
open_legacy=_ZN8penstock3lab6legacy4openEv      # penstock::lab::legacy::open()
object right.o cudaMemcpyAsync_ptsz cudaMalloc $open_per_thread
object right_legacy.o cudaMemcpyAsync cudaMalloc $open_legacy
object two_calls.o cudaMemcpyAsync_ptsz cudaMemcpyAsync
object two_names.o cudaMemcpyAsync $open_per_thread
object launch.o __cudaPushCallConfiguration cudaMemcpyAsync_ptsz
object zero.o cudaMemcpy_ptds
object kernels/CMakeFiles/launches.o cudaLaunchKernel __cudaLaunchKernel cudaLaunchCooperativeKernel
object kernels/CMakeFiles/copies.o cudaLaunchKernel cudaMemcpyAsync
object right_once.dir/wrong.o cudaMemcpyAsync
library libpenstock_right.a right.o launch.o zero.o right_once.dir/wrong.o
library libpenstock_right_legacy.a right_legacy.o right.o
library libpenstock_single.a right_legacy.o
library libpenstock_kernels.a kernels/CMakeFiles/launches.o kernels/CMakeFiles/copies.o
program right right.o
program right_legacy right_legacy.o libpenstock_single.a
program mixed right.o libpenstock_single.a

diff -u --label expected --label found - <("$here/symbols.sh" . "$nm" runtime.o 2>&1) <<'EXPECTED'
launch.o: launches by <<<>>>, which may mean stream 0; use launch_kernel
libpenstock_kernels.a: is built once, but kernels/CMakeFiles/copies.o has cudaMemcpyAsync
libpenstock_right.a: should be per-thread, but right_once.dir/wrong.o has cudaMemcpyAsync
libpenstock_right_legacy.a: should be legacy, but right.o has penstock::per_thread
libpenstock_single.a: is built once, but right_legacy.o has penstock::lab::legacy
mixed: mixes flavours: right.o is per-thread, libpenstock_single.a is legacy
right_once.dir/wrong.o: is built once, but has cudaMemcpyAsync; name its file under FILES
two_calls.o: is of two flavours: it has cudaMemcpyAsync_ptsz and cudaMemcpyAsync
two_names.o: is of two flavours: it has penstock::per_thread and cudaMemcpyAsync
zero.o: calls cudaMemcpy_ptds, which is always in stream 0
9 objects, 4 libraries, 3 programs
EXPECTED
