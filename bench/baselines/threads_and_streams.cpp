// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <functional>
#include <future>
#include <vector>

#include "baselines.hpp"
#include "tile_on_gpu.hpp"

namespace {

using namespace baselines;

struct Turn {
  explicit Turn(Work const& work) : on_gpu(work) {}
  TileOnGpu on_gpu;
  Stream stream;
};

struct Share {
  Share(Work const& work, std::size_t first, unsigned streams) : first_tile(first) {
    for (unsigned i = 0; i < streams; ++i) turns.emplace_back(work);
  }
  std::size_t const first_tile;
  std::deque<Turn> turns;
};

void one_thread(Work& work, Share const& share) {
  auto const& [first_tile, turns] = share;
  std::size_t const streams = turns.size();
  for (std::size_t i = 0; i < streams; ++i) turns[i].on_gpu.enqueue(work, first_tile + i, turns[i].stream);
  for (std::size_t i = 0; work.more(); i = i + 1 == streams ? 0 : i + 1) {
    turns[i].stream.wait();
    work.done(first_tile + i);
    turns[i].on_gpu.enqueue(work, first_tile + i, turns[i].stream);
  }
  for (std::size_t i = 0; i < streams; ++i) {
    turns[i].stream.wait();
    work.done(first_tile + i);
  }
}

}  // namespace

void baselines::threads_and_streams(Work& work, unsigned threads, unsigned streams) {
  std::deque<Share> shares;
  for (unsigned thread = 0; thread < threads; ++thread) {
    shares.emplace_back(work, std::size_t{thread} * streams, streams);
  }
  std::vector<std::future<void>> all;
  for (Share const& share : shares) {
    all.push_back(std::async(std::launch::async, one_thread, std::ref(work), std::cref(share)));
  }
  for (auto& each : all) each.get();
}
