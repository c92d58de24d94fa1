// SPDX-License-Identifier: Apache-2.0
// The work of tiles.c and tiles.py: the sum of a tile, added to a number of the GPU.
extern "C" __global__ void sum(float const* input, unsigned count, float* total) {
  float mine = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) mine += input[i];
  for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
  if (threadIdx.x % 32 == 0) atomicAdd(total, mine);
}
