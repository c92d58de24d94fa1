// SPDX-License-Identifier: Apache-2.0
#include <deque>

#include "baselines.hpp"
#include "tile_on_gpu.hpp"
#include <tbb/concurrent_queue.h>
#include <tbb/parallel_pipeline.h>

void baselines::tbb_pipeline(Work& work, unsigned tokens) {
  struct Token {
    explicit Token(Work const& work) : on_gpu(work) {}
    TileOnGpu on_gpu;
    Stream stream;
  };
  std::deque<Token> all;
  tbb::concurrent_queue<unsigned> idle;
  for (unsigned tile = 0; tile < tokens; ++tile) {
    all.emplace_back(work);
    idle.push(tile);
  }
  auto const next = [&](tbb::flow_control& control) {
    unsigned tile = 0;
    if (!work.more() || !idle.try_pop(tile)) control.stop();
    return tile;
  };
  auto const pass = [&](unsigned tile) {
    all[tile].on_gpu.enqueue(work, tile, all[tile].stream);
    all[tile].stream.wait();
    work.done(tile);
    idle.push(tile);
  };
  tbb::parallel_pipeline(tokens, tbb::make_filter<void, unsigned>(tbb::filter_mode::serial_out_of_order, next) &
                                     tbb::make_filter<unsigned, void>(tbb::filter_mode::parallel, pass));
}
