#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# embed_job.sh BUILD CXX: installs BUILD into a fresh prefix, builds the example of a job against that copy in each flavour that was
# built, and has it run, measured, compared, tuned and watched on the CPU device. What watching finds of a GPU is held on a job that
# uses the stand-in of the driver, of BUILD. CXXFLAGS, if set, are the outside project's.
set -euo pipefail
export LC_ALL=C
build=$1 cxx=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
export TSAN_OPTIONS=halt_on_error=1:suppressions=$prefix/share/penstock/tsan.supp

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  [[ ! -e err ]] || cat out err >&2
  exit 1
}

cmake --install "$build" --prefix "$prefix" >/dev/null
source=$root/examples/050_job.cpp
(($(wc -l <"$source") <= 60)) || fail 'the example has more than 60 lines'
# The package asks for neither CLI11 nor a JSON library.
cmake -S "$root/tests/house/embed_job" -B "$scratch/build" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_BUILD_TYPE=Release -DJOB="$source" -DWATCHED_JOB="$root/tests/programs/jobs/watched_job.cpp"
cmake --build "$scratch/build"
cd "$scratch"
job=$scratch/build/job
head -c 3000001 /dev/zero | tr '\0' 'a' >input

# does ARGUMENT...: with success, and what it says is in out and err.
does() { "$job" "$@" >out 2>err || fail "$*: exit code $?"; }
says() { grep -qF -- "$1" out || fail "it does not say '$1'"; }
refuses() {
  local code=0
  "$job" "${@:2}" >out 2>err || code=$?
  [[ $code == 2 && $(wc -l <err) == 1 ]] || fail "${*:2}: exit code $code"
  grep -qF -- "$1" err || fail "it does not say '$1'"
}
on_cpu=(--device cpu --input input)

does --help
for command in run bench compare tune watch; do says "$command "; done
does --version
says 'penstock 0.2'
does run "${on_cpu[@]}" --tile 64KiB
says '3000001 bytes, compressed 0'
does run "${on_cpu[@]}" --json
says '"kind": "run"'
says '"bytes_in": 3000001'
head -c 999999 /dev/zero | tr '\0' 'b' >second
: >empty
does run "${on_cpu[@]}" --input empty second --tile 64KiB
says '4000000 bytes, compressed'
does run --device cpu --input second empty --input input --json
says '"bytes_in": 4000000'
does bench --device cpu --input input second --producers 2 --window 20 --repeats 1 --json
says '"error": null'
if [[ -e $job-legacy ]]; then
  does compare --device cpu --input input second --window 20 --repeats 1
else
  refuses "$job-legacy is not there" compare --device cpu --input input second --window 20 --repeats 1
fi
refuses "'nowhere': No such file" run --device cpu --input input nowhere
does run "${on_cpu[@]}" --json
digest=$(grep -o '"digest": "0x[0-9a-f]*"' out)
refuses '--input is missing' run --device cpu
refuses "'nowhere': No such file" bench --input nowhere
refuses 'There is no command' hash

does bench "${on_cpu[@]}" --producers 1,2 --tile 64KiB --window 20 --repeats 2 --html page.html
says 'producers'
says 'Results: the same at 2 points'
[[ -s page.html ]] || fail 'no page'
does bench "${on_cpu[@]}" --tile 64KiB,256KiB --window 20 --repeats 1 --json
[[ $(grep -cF "$digest" out) == 2 ]] || fail "not twice $digest"
does tune "${on_cpu[@]}" --within 2 --save profile
says 'best'
does run "${on_cpu[@]}" --profile profile
refuses 'would overwrite what is to be read' bench "${on_cpu[@]}" --html input
refuses 'would overwrite what is to be read' watch "${on_cpu[@]}" --html input

# Neither program has the library beside it that is loaded into what is watched.
code=0
"$job" watch "${on_cpu[@]}" >out 2>err || code=$?
[[ $code == 1 && ! -s out ]] || fail "watch on the CPU device: exit code $code"
grep -qF 'job: The run gave a GPU nothing to do.' err || fail 'it does not say that no GPU was used'
job=$scratch/build/watched LD_LIBRARY_PATH=$build/tests/programs/stand_in does watch "${on_cpu[@]}" --copies 1 --json
says '"works": 46'
grep -qF 'copies 1' err || fail 'what the run prints is not on standard error'
# Nor is it where the package has it, if that was moved. The sanitizer's list moves, too.
sanitizer=$TSAN_OPTIONS
export TSAN_OPTIONS=${TSAN_OPTIONS//"$prefix"/"$prefix-moved"}
mv "$prefix" "$prefix-moved"
code=0
"$job" watch "${on_cpu[@]}" >out 2>err || code=$?
[[ $code == 4 ]] || fail "watch without its library: exit code $code"
grep -qF "libpenstock-watch.so is in none of these folders: $scratch/build, " err || fail 'it does not say where it looked'
mv "$prefix-moved" "$prefix"
export TSAN_OPTIONS=$sanitizer

if [[ -e $job-legacy ]]; then
  "$job-legacy" --version | grep -q legacy || fail 'job-legacy is not of the legacy flavour'
  does compare "${on_cpu[@]}" --producers 1,2 --tile 64KiB --window 20 --repeats 1
  says 'legacy GB/s'
  # Of another build of the job, whose results differ.
  mv "$job-legacy" "$job-other"
  printf '#!/bin/sh\n"%s-other" "$@" | sed "s/digest\\": \\"0x./digest\\": \\"0x_/"\n' "$job" >"$job-legacy"
  chmod +x "$job-legacy"
  code=0
  "$job" compare "${on_cpu[@]}" --producers 1 --tile 64KiB --window 20 --repeats 1 >out 2>err || code=$?
  [[ $code == 1 ]] || fail "other results: exit code $code"
  says 'Its results are not those of the legacy build'
fi
