#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: library_program.sh PENSTOCK CASE LIBRARY
# Holds the command to where it looks for what it loads when it runs. LIBRARY is tests/support/marked_library.cpp.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"
unset LD_LIBRARY_PATH CUDA_HOME NVTX_INJECTION64_PATH
some_bytes 100000 a

# A library under each name that the command, or a library of its, is known to ask the loader for.
folders=(. lib lib64 extras/CUPTI/lib64)
mkdir -p "${folders[@]}"
for folder in "${folders[@]}"; do
  for name in libcuda.so libcuda.so.1 libcupti.so libcupti.so.1{2,3} libnccl.so.2 libnvidia-ml.so.1 libhwloc.so.15 \
    libtbb.so.12 libtbbmalloc.so.2 libtbbbind.so.3 libtbbbind_2_0.so.3 libtbbbind_2_5.so.3 libgcc_s.so.1 libstdc++.so.6 libm.so.6 libc.so.6; do
    ln -s "$3" "$folder/$name"
  done
done

# loads_nothing_here ARGUMENT...
loads_nothing_here() {
  run "$@"
  [[ $code == 0 ]] || fail "$*: exit code $code: $(cat err)"
  [[ ! -e loaded_from_here ]] || fail "$*: a library of the current directory was loaded"
}
everything_that_loads() {
  loads_nothing_here hash a
  loads_nothing_here hash --device cpu --tile 64KiB --trace trace.json --trace-with cupti a
  loads_nothing_here doctor --no-probe
}

case $2 in
  NothingIsLoadedFromTheCurrentDirectory)
    everything_that_loads
    # Nor does the loader look there for a name that is not in the list above.
    export LD_DEBUG=libs LD_DEBUG_OUTPUT=$world/loader
    everything_that_loads
    unset LD_DEBUG LD_DEBUG_OUTPUT
    grep -h 'trying file=' loader.* > tried || fail 'the loader tells nothing'
    ! grep -v 'trying file=/' tried > relative || fail "the loader looked where the current directory decides: $(head -n 1 relative)"
    ! grep -F "$world" tried > here || fail "the loader looked in the current directory: $(head -n 1 here)"
    ;;
  ARelativePathInTheEnvironmentIsNotFollowed)
    for home in . lib64/.. "../${world##*/}"; do
      CUDA_HOME=$home everything_that_loads
    done
    ;;
  *) fail "no case $2" ;;
esac
