#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpus.sh ROOT: the build has code for the GPUs of its machine, as nvidia-smi names them, or for every one that nvcc knows of.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/ask.cmake" <<END
set(PENSTOCK_CUDA OFF)
set(PENSTOCK_NVIDIA_SMI $scratch/nvidia-smi)
set(CMAKE_CUDA_COMPILER $scratch/nvcc)
include($(cd "$1" && pwd)/cmake/PenstockCuda.cmake)
penstock_gpus_here(here)
penstock_every_gpu(every)
message("here: \${here}; every: \${every}.")
END

# says WANTED
says() {
  local said
  said=$(cmake -P "$scratch/ask.cmake" 2>&1 | tail -n 1) || true
  [[ $said == "$1" ]] || { echo "expected: $1" && echo "but it is: $said" && exit 1; }
}
# program NAME EXIT_CODE LINE...
program() {
  { echo '#!/bin/sh' && printf 'echo "%s"\n' "${@:3}" && echo "exit $2"; } >"$scratch/$1"
  chmod +x "$scratch/$1"
}

program nvidia-smi 0 9.0 9.0 8.0
program nvcc 0 compute_{75,80,86,87,88,89,90,100,110,103,120,121}
says 'here: 90;80; every: 75-real;80-real;86-real;89-real;90;100-real;120.'
# As of CUDA 12.4.
program nvidia-smi 9 "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver 580.1"
program nvcc 0 compute_{50,52,53,60,61,62,70,72,75,80,86,87,89,90}
says 'here: ; every: 75-real;80-real;86-real;89-real;90.'
program nvidia-smi 0 12.0
program nvcc 1 'nvcc fatal: unknown option'
says 'here: 120; every: .'
rm "$scratch/nvidia-smi"
says 'here: ; every: .'
