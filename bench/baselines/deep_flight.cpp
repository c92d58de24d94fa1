// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <functional>
#include <future>
#include <vector>

#include "baselines.hpp"
#include "tile_on_gpu.hpp"

namespace {

using namespace baselines;

struct Slot {
  explicit Slot(Work const& work) : on_gpu(work) {}
  TileOnGpu on_gpu;
  Event landed;
};

struct Share {
  Share(Work const& work, std::size_t first, unsigned depth) : first_tile(first) {
    for (unsigned i = 0; i < depth; ++i) slots.emplace_back(work);
  }
  std::size_t const first_tile;
  std::deque<Slot> slots;
  Stream stream;
};

void one_thread(Work& work, Share const& share) {
  std::size_t const depth = share.slots.size();
  std::uint64_t put = 0, back = 0;
  while (work.more() || back < put) {
    if (work.more() && put < back + depth) {
      Slot const& slot = share.slots[put % depth];
      slot.on_gpu.enqueue(work, share.first_tile + put % depth, share.stream);
      slot.landed.record(share.stream);
      ++put;
    } else if (back < put && share.slots[back % depth].landed.passed()) {
      work.done(share.first_tile + back % depth);
      ++back;
    }
  }
}

}  // namespace

void baselines::deep_flight(Work& work, unsigned threads, unsigned depth) {
  std::deque<Share> shares;
  for (unsigned thread = 0; thread < threads; ++thread) shares.emplace_back(work, std::size_t{thread} * depth, depth);
  std::vector<std::future<void>> all;
  for (Share const& share : shares) {
    all.push_back(std::async(std::launch::async, one_thread, std::ref(work), std::cref(share)));
  }
  for (auto& each : all) each.get();
}
