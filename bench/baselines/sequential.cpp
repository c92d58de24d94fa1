// SPDX-License-Identifier: Apache-2.0
#include "baselines.hpp"
#include "tile_on_gpu.hpp"

void baselines::sequential(Work& work) {
  TileOnGpu const on_gpu(work);
  Stream const stream;
  while (work.more()) {
    on_gpu.enqueue(work, 0, stream);
    stream.wait();
    work.done(0);
  }
}
