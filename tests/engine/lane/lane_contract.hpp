// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/pool.hpp"
#include "engine/device/device_contract.hpp"
#include "engine/lane/completion_taker.hpp"
#include "engine/lane/holding.hpp"
#include "engine/lane/lane.hpp"
#include "engine/machine/slab.hpp"

namespace penstock {

/// Watchdog that is to find nothing: a thread that calls the lane may be held up, but not for that long.
constexpr std::chrono::seconds no_honest_delay{60};

/// A lane to hold to the contract: on which device, by which signal, on which streams, by which transport.
struct LaneUnderTest {
  DeviceUnderTest device;
  SignalKind signal = SignalKind::callback;
  StreamMode streams = StreamMode::thread_default;
  LaneShape shape = LaneShape::split;
  Transport transport = Transport::copies;
};

/// Every signal with every mode and shape, by copies.
std::vector<LaneUnderTest> every_lane_on(DeviceUnderTest const& device);
/// Lanes of `every_lane_on`, and every signal with every other transport, each with some modes and shapes.
std::vector<LaneUnderTest> every_transport_on(DeviceUnderTest const& device);
/// "callback_thread_default_split", and behind it the transport, unless these are copies.
std::string name_of_lane(testing::TestParamInfo<LaneUnderTest> const& info);
void PrintTo(LaneUnderTest const& lane, std::ostream* out);

/// A tile that came back, as a test wants to look at it.
struct Seen {
  std::uint64_t sequence = 0;
  Outcome outcome = Outcome::done;
  std::string stage;  ///< Step at which it failed.
  std::string reason;
  bool content_right = false;  ///< Every byte is one more than what was put in, and no other tile had.
};

/// One device, eight pinned tiles worked on in place unless a test wants others, and room for lanes; each test ends
/// with all of it handed back, but for what was left to a device that was abandoned.
///
/// The usual stage adds one to each byte. `support::Kernels` has what tests launch.
class LaneContract : public testing::TestWithParam<LaneUnderTest>, private CompletionTaker {
 protected:
  explicit LaneContract(std::size_t bytes_of_a_tile = 4096, std::size_t tiles_of_the_pool = 8)
      : tile_bytes(bytes_of_a_tile), tiles(tiles_of_the_pool) {}
  void SetUp() override;
  void TearDown() override;

  Device& device() { return *device_; }
  Pool& pool() { return *pool_; }
  support::Kernels const& kernels() const { return *GetParam().device.kernels; }
  /// The spin, for a lane that is to sleep after it with tiles in flight: one that is not called would look for ever.
  std::chrono::nanoseconds before_sleep(std::chrono::nanoseconds spin) const;
  /// Returns true if `bytes` lie where the lane's tiles are, and not on the device.
  bool lies_in_pool(DeviceSpan<std::byte const> bytes) const;
  /// A stage of one pass that adds one to each byte and calls `also` before, with the tile and the stream.
  Stages add_one(std::function<void(DeviceTile const&, StreamRef)> also = {});
  /// A stage like `add_one` that also holds the device at some tiles.
  Stages add_one_and_hold(Holding& holding);
  /// The lane under test; there is one at a time. Its signal, streams, shape and transport are the parameter's.
  Lane& open_lane(Stages const& stages, LaneOptions options = {});
  Lane& lane() { return *lane_; }
  /// Closes the lane and destroys it.
  void close_lane();
  /// Destroys the lane as it is.
  void destroy_lane() { lane_.reset(); }
  /// Fills a tile with what belongs to `sequence` and submits it.
  void submit(std::uint64_t sequence) { submit(sequence, tile_bytes); }
  /// Fills and submits the first `bytes` of a tile, a multiple of eight.
  void submit(std::uint64_t sequence, std::size_t bytes);
  /// Submits like `submit`; returns false if the lane left the tile to the test.
  bool try_submit(std::uint64_t sequence) { return try_submit(sequence, tile_bytes); }
  bool try_submit(std::uint64_t sequence, std::size_t bytes);
  /// Returns what has come back so far, in that order.
  std::vector<Seen> seen();
  /// Blocks: until `count` have come back.
  std::vector<Seen> await_seen(std::size_t count);
  /// Times that a lane said that its device was lost.
  int losses() const { return losses_.load(); }
  /// Expects `all` without the first `before` to be tiles 0 to `count` - 1, in order, done and with their own content.
  static void expect_all_done(std::vector<Seen> const& all, std::size_t count, std::size_t before = 0);

  std::size_t const tile_bytes;  ///< A multiple of eight.
  std::size_t const tiles;

 private:
  void take(Completion completion, bool more) override;
  void lost() noexcept override { ++losses_; }

  std::unique_ptr<Device> device_;
  std::optional<Slab> slab_;
  Pinned pinned_;
  std::optional<Pool> pool_;
  std::unique_ptr<Lane> lane_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Seen> seen_;
  std::atomic<int> losses_{0};
};

}  // namespace penstock
