// SPDX-License-Identifier: Apache-2.0
#include "baselines.hpp"
#include "tile_on_gpu.hpp"

void baselines::double_buffered(Work& work) {
  TileOnGpu const buffers[2] = {TileOnGpu(work), TileOnGpu(work)};
  Stream const streams[2];
  buffers[0].enqueue(work, 0, streams[0]);
  unsigned current = 0;
  while (work.more()) {
    unsigned const next = 1 - current;
    buffers[next].enqueue(work, next, streams[next]);
    streams[current].wait();
    work.done(current);
    current = next;
  }
  streams[current].wait();
  work.done(current);
}
