#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# flavours.sh INCLUDE CXX CASE [ARGUMENT...]: what users are told who mean another default stream by "0" than the penstock that
# they use. INCLUDE is a list of folders with colons between them. The cases with a kernel take nvcc as their ARGUMENT,
# those that link take the libraries that they link.
set -euo pipefail
include=() cxx=$2 case=$3 argument=${4:-}
while read -r -d: folder; do include+=(-I"$folder"); done <<<"$1:"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

per_thread=(-DPENSTOCK_PER_THREAD=1 -DCUDA_API_PER_THREAD_DEFAULT_STREAM=1)
legacy=(-DPENSTOCK_LEGACY=1)

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
write() { printf '%s\n' "$@" >"$file"; }
# compile FLAG...: the file that `write` wrote.
compile() {
  local compiler=("$cxx")
  if [[ $file == *.cu ]]; then compiler=("$argument" -ccbin "$cxx"); fi
  "${compiler[@]}" -std=c++20 "${include[@]}" "$file" -o made "$@" 2>said
}
# taken FLAG...: that what is in the headers compiles as well is seen wherever they are used.
taken() {
  compile -E "$@" || fail "with $*: refused: $(cat said)"
}
# refused SENTENCE FLAG...: with these flags not even the preprocessor may take it, and it must say why.
refused() {
  if compile -E "${@:2}"; then fail "with ${*:2}: compiled all the same"; fi
  grep -qF -- "$1" said || fail "with ${*:2}: does not say '$1' but: $(cat said)"
}
# object NAME FIRST_LINE SECOND_LINE FLAG...
object() {
  file=user.cpp
  write "$2" "$3"
  compile -c "${@:4}" || fail "$(cat said)"
  mv made "$1"
}
# not_linked PATTERN PART...: with these no program may be made, and the linker must say why.
not_linked() {
  if "$cxx" "${@:2}" -o program 2>said; then fail 'was linked'; fi
  grep -q "$1" said || fail "$(cat said)"
}

both='penstock: this file is compiled for both flavours.'
neither='penstock: this file does not say which default stream it means by 0.'
should_be_per_thread='penstock: CUDA means the legacy default stream in this file, but its penstock the per-thread ones.'
should_be_legacy='penstock: CUDA means per-thread default streams in this file, but its penstock the legacy one.'
too_late="penstock: CUDA's header came before CUDA_API_PER_THREAD_DEFAULT_STREAM"
has_none='penstock: this header is not the same in both flavours, and this file is compiled for none.'

# Where there is no nvcc its cases are skipped.
if [[ $case =~ WithKernels|StreamZero && -z $argument ]]; then
  echo 'no nvcc here'
  exit 77
fi

case $case in
  SourcesWithoutKernels)
    file=user.cpp
    for header in stages pipeline models/devices; do
      write "#include <penstock/$header.hpp>"
      taken "${per_thread[@]}"
      taken "${legacy[@]}"
      refused "$neither"
      refused "$both" "${per_thread[@]}" "${legacy[@]}"
      refused "$should_be_per_thread" -DPENSTOCK_PER_THREAD=1
      refused "$should_be_legacy" "${legacy[@]}" -DCUDA_API_PER_THREAD_DEFAULT_STREAM=1
    done
    ;;
  SourcesWithoutFlavour)
    file=user.cpp
    write '#include <penstock/pipeline.hpp>'
    taken -DPENSTOCK_NO_FLAVOUR=1
    write '#include <penstock/models/devices.hpp>'
    refused "$has_none" -DPENSTOCK_NO_FLAVOUR=1
    ;;
  SourcesWithKernels)
    file=user.cu
    write '#include <penstock/stages.hpp>' '__global__ void kernel() {}' 'void launch() { kernel<<<1, 1>>>(); }'
    taken -DPENSTOCK_PER_THREAD=1 --default-stream per-thread
    taken "${per_thread[@]}"
    taken "${legacy[@]}"
    taken "${legacy[@]}" --default-stream legacy
    refused "$should_be_per_thread" -DPENSTOCK_PER_THREAD=1
    refused "$should_be_legacy" "${legacy[@]}" --default-stream per-thread
    refused "$neither" -DPENSTOCK_NO_FLAVOUR=1
    refused "$neither" --default-stream per-thread
    write '#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1' '#include <penstock/stages.hpp>'
    refused "$too_late" -DPENSTOCK_PER_THREAD=1
    ;;
  ALaunchInStreamZeroInTheLibrary)
    file=library.cu
    write '__global__ void kernel() {}' 'void launch() { kernel<<<1, 1>>>(); }'
    for flavour in legacy per-thread; do
      if compile -c --default-stream $flavour --Werror default-stream-launch; then fail 'compiled all the same'; fi
      grep -qF 'explicit stream argument not provided' said || fail "$(cat said)"
    done
    ;;
  ALibraryOfTheOtherFlavour)
    object opener.o '#include <penstock/models/devices.hpp>' 'int main() { penstock::open_device(); }' "${per_thread[@]}"
    not_linked 'undefined reference to .penstock::per_thread::open_device' opener.o "${@:4}"
    object stage.o '#include <penstock/stages.hpp>' 'int main() {}' "${per_thread[@]}"
    not_linked 'undefined reference to .penstock::per_thread::link_with_penstock_penstock' stage.o "${@:4}"
    ;;
  ObjectsOfTwoFlavours)
    object one.o '#include <penstock/stages.hpp>' 'int main() {}' "${per_thread[@]}"
    object other.o '#include <penstock/stages.hpp>' '' "${legacy[@]}"
    "$cxx" one.o "${@:4}" -o program
    not_linked 'multiple definition of .penstock::a_program_has_one_flavour' one.o other.o "${@:4}"
    ;;
  *) fail "no case $case" ;;
esac
