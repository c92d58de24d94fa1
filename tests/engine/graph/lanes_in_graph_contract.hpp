// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>

#include "engine/device/device_contract.hpp"
#include "penstock/graph.hpp"

namespace penstock {

/// The results that came to a node, which any threads may note.
class SeenResults {
 public:
  void note(TileResult<std::byte> const& tile) {
    std::lock_guard const lock(mutex_);
    ++times_[tile.tag()];
    outcomes_[tile.outcome()]++;
  }
  void expect_each_once(std::uint64_t count) const {
    std::lock_guard const lock(mutex_);
    EXPECT_EQ(times_.size(), count);
    for (auto const& [tag, times] : times_) EXPECT_EQ(times, 1U) << tag;
  }
  std::uint64_t of(Outcome outcome) const {
    std::lock_guard const lock(mutex_);
    auto const found = outcomes_.find(outcome);
    return found == outcomes_.end() ? 0 : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, unsigned> times_;
  std::map<Outcome, std::uint64_t> outcomes_;
};

/// A device, a graph, and lanes in it that add one to each byte. Each test ends with every tile home.
class LanesInGraphContract : public testing::TestWithParam<DeviceUnderTest> {
 protected:
  using Bytes = Tiles<std::byte>;
  using ByteLanes = Lanes<std::byte>;
  using BytesNode = oneapi::tbb::flow::function_node<Bytes>;
  static constexpr std::size_t tile_bytes = 512, tiles = 8;

  void SetUp() override;
  void TearDown() override;

  Device& device() { return *device_; }
  support::Kernels const& kernels() const { return *GetParam().kernels; }
  oneapi::tbb::flow::graph& graph() { return graph_; }
  static PipelineOptions usual() {
    return {.tile = {.input_bytes = tile_bytes, .output_bytes = tile_bytes, .in_place = true},
            .lanes = 2,
            .tuning = {.tiles = tiles, .slots = 2}};
  }
  Stages add_one();
  /// Lanes in the graph, with these options and that stage, or a stage that adds one.
  ByteLanes& open(PipelineOptions options = usual(), std::optional<Stages> stages = std::nullopt);
  ByteLanes& lanes() { return *lanes_; }
  void close() { lanes_.reset(); }
  /// Returns a borrowed tile, filled with the low byte of `number`, which is its tag.
  Bytes filled(std::uint64_t number);
  static void fill(Bytes const& message, std::size_t which, std::uint64_t number);
  /// Expects what a tile of that number has behind the lanes.
  static void expect_added(TileResult<std::byte> const& tile);
  /// A node's body, of which a sanitizer sees that it came behind its message and ended before `wait` did: it does not
  /// see into oneTBB.
  template <class Body>
  auto body(Body work) {
    return [this, work](auto const& message) {
      take(message);
      struct Give {
        std::atomic<std::uint64_t>& ended;
        ~Give() { ended.fetch_add(1, std::memory_order_release); }
      } const give{ended_};
      return work(message);
    };
  }
  /// Waits for all that is in the graph.
  void wait() {
    try {
      graph_.wait_for_all();
    } catch (...) {
      static_cast<void>(ended_.load(std::memory_order_acquire));
      throw;
    }
    static_cast<void>(ended_.load(std::memory_order_acquire));
  }
  /// All tiles can be borrowed at once: none is out.
  void expect_all_home();

 private:
  static void take(Bytes const& message) { static_cast<void>(message.size()); }
  static void take(std::tuple<Bytes, Bytes> const& pair) {
    take(std::get<0>(pair));
    take(std::get<1>(pair));
  }

  std::atomic<std::uint64_t> ended_{0};
  std::unique_ptr<Device> device_;
  oneapi::tbb::flow::graph graph_;
  std::unique_ptr<ByteLanes> lanes_;
};

}  // namespace penstock
