// SPDX-License-Identifier: Apache-2.0
#include <deque>

#include "baselines.hpp"
#include "tile_on_gpu.hpp"

void baselines::round_robin(Work& work, unsigned streams) {
  struct Turn {
    explicit Turn(Work const& work) : on_gpu(work) {}
    TileOnGpu on_gpu;
    Stream stream;
  };
  std::deque<Turn> turns;
  for (unsigned tile = 0; tile < streams; ++tile) {
    turns.emplace_back(work);
    turns[tile].on_gpu.enqueue(work, tile, turns[tile].stream);
  }
  for (unsigned tile = 0; work.more(); tile = tile + 1 == streams ? 0 : tile + 1) {
    turns[tile].stream.wait();
    work.done(tile);
    turns[tile].on_gpu.enqueue(work, tile, turns[tile].stream);
  }
  for (unsigned tile = 0; tile < streams; ++tile) {
    turns[tile].stream.wait();
    work.done(tile);
  }
}
