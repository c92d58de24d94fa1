// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/lane_contract.hpp"

#include <cstring>
#include <functional>
#include <sstream>
#include <utility>

#include <unistd.h>

#include "engine/core/pool.hpp"

namespace penstock {

std::vector<LaneUnderTest> every_lane_on(DeviceUnderTest const& device) {
  std::vector<LaneUnderTest> lanes;
  for (SignalKind const signal : all_signal_kinds) {
    for (StreamMode const streams : {StreamMode::thread_default, StreamMode::own}) {
      for (LaneShape const shape : {LaneShape::split, LaneShape::single}) {
        lanes.push_back({device, signal, streams, shape});
      }
    }
  }
  return lanes;
}

std::vector<LaneUnderTest> every_transport_on(DeviceUnderTest const& device) {
  auto lanes = every_lane_on(device);
  for (SignalKind const signal : all_signal_kinds) {
    lanes.push_back({device, signal, StreamMode::thread_default, LaneShape::split, Transport::mapped});
    lanes.push_back({device, signal, StreamMode::own, LaneShape::single, Transport::mapped});
    lanes.push_back({device, signal, StreamMode::own, LaneShape::split, Transport::automatic});
    lanes.push_back({device, signal, StreamMode::thread_default, LaneShape::single, Transport::automatic});
  }
  return lanes;
}

void PrintTo(LaneUnderTest const& lane, std::ostream* out) {
  *out << to_string(lane.signal) << (lane.streams == StreamMode::own ? "_own" : "_thread_default") << '_'
       << to_string(lane.shape);
  if (lane.transport != Transport::copies) *out << '_' << to_string(lane.transport);
}

std::string name_of_lane(testing::TestParamInfo<LaneUnderTest> const& info) {
  std::ostringstream name;
  PrintTo(info.param, &name);
  return name.str();
}

namespace {

/// Returns what eight bytes of a tile hold before the stage, different for each tile and place.
std::uint64_t word_of(std::uint64_t sequence, std::size_t at) {
  return (sequence + 1) * 0x9e37'79b9'7f4a'7c15u ^ at * 0xbf58'476d'1ce4'e5b9u;
}

/// Adds one to each byte; none carries into the next.
std::uint64_t one_more_in_each_byte(std::uint64_t word) {
  constexpr std::uint64_t top_bits = 0x8080'8080'8080'8080u;
  return ((word & ~top_bits) + 0x0101'0101'0101'0101u) ^ (word & top_bits);
}

bool holds_what_was_computed(Tile const& tile) {
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= tile.produced; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, tile.output().data() + at, sizeof word);
    if (word != one_more_in_each_byte(word_of(tile.sequence, at))) return false;
  }
  return true;
}

}  // namespace

void LaneContract::SetUp() {
  device_ = GetParam().device.make();
  if (device_ == nullptr) GTEST_SKIP() << "There is no such device here.";
  device_->attach();
  TileShape const shape{.input_bytes = tile_bytes, .output_bytes = tile_bytes, .in_place = true};
  constexpr std::size_t page = 4096;
  slab_.emplace((Pool::slab_bytes(shape, tiles) + page - 1) / page * page, std::nullopt, 1);
  pinned_ = device_->pin(slab_->bytes());
  pool_.emplace(slab_->bytes(), shape, tiles);
}

void LaneContract::TearDown() {
  if (device_ == nullptr) return;
  lane_.reset();
  EXPECT_EQ(pool_->on_loan(), 0u) << "a tile never came home";
  pool_.reset();
  pinned_ = {};
  if (device_->abandoned()) return device_->keep(std::make_shared<Slab>(std::move(*slab_)));
  GetParam().device.expect_nothing_lent(*device_);
}

std::chrono::nanoseconds LaneContract::before_sleep(std::chrono::nanoseconds spin) const {
  bool const called = GetParam().signal != SignalKind::event_poll && GetParam().signal != SignalKind::flag;
  return called ? spin : std::chrono::nanoseconds(0);
}

bool LaneContract::lies_in_pool(DeviceSpan<std::byte const> bytes) const {
  auto const pool = device_->mapped(slab_->bytes()).value_or(std::span<std::byte>());
  std::less_equal<> const no_later;
  return no_later(pool.data(), bytes.address()) && no_later(bytes.address() + bytes.size(), pool.data() + pool.size());
}

Stages LaneContract::add_one(std::function<void(DeviceTile const&, StreamRef)> also) {
  return on_device(
      [this, also = std::move(also)](DeviceTile const& tile, StreamRef stream) {
        if (also) also(tile, stream);
        kernels().add_one(stream, tile.input);
        return tile.input.size();
      },
      {.reads_once = true});
}

Stages LaneContract::add_one_and_hold(Holding& holding) {
  return add_one([this, &holding](DeviceTile const& tile, StreamRef stream) {
    holding.thread = gettid();
    if (holding.at.contains(tile.sequence)) holding.hold.emplace(kernels().hold(stream));
    holding.came.fetch_add(1);
  });
}

Lane& LaneContract::open_lane(Stages const& stages, LaneOptions options) {
  options.signal = GetParam().signal;
  options.flight.streams = GetParam().streams;
  options.flight.shape = GetParam().shape;
  options.flight.transport = GetParam().transport;
  options.flight.mapped_bytes = most_mapped_bytes;  // The bound is a GPU's, on each device.
  CompletionTaker& completions = *this;
  lane_ = std::make_unique<Lane>(*device_, pool_->shape(), tiles, std::move(options), 0, stages, completions);
  return *lane_;
}

void LaneContract::close_lane() {
  lane_->close();
  lane_.reset();
}

void LaneContract::submit(std::uint64_t sequence, std::size_t bytes) {
  ASSERT_TRUE(try_submit(sequence, bytes));
}

bool LaneContract::try_submit(std::uint64_t sequence, std::size_t bytes) {
  Loan loan = pool_->borrow();
  loan->sequence = sequence;
  loan->filled = bytes;
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t const word = word_of(sequence, at);
    std::memcpy(loan->input().data() + at, &word, sizeof word);
  }
  return lane_->submit(loan);
}

void LaneContract::take(Completion completion, bool /*more*/) {
  Tile const& tile = *completion.loan;
  Seen now{.sequence = tile.sequence, .outcome = completion.outcome, .stage = {}, .reason = {}, .content_right = true};
  if (completion.failure != nullptr) {
    now.stage = completion.failure->stage;
    now.reason = completion.failure->reason;
  }
  if (completion.ok()) now.content_right = tile.produced == tile.filled && holds_what_was_computed(tile);
  completion.loan.give_back();  // The tile is home before it is seen, so that a thread that awaits it can borrow.
  std::scoped_lock const lock(mutex_);
  seen_.push_back(std::move(now));
  arrived_.notify_all();
}

std::vector<Seen> LaneContract::seen() {
  std::scoped_lock const lock(mutex_);
  return seen_;
}

std::vector<Seen> LaneContract::await_seen(std::size_t count) {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [&] { return seen_.size() >= count; });
  return seen_;
}

void LaneContract::expect_all_done(std::vector<Seen> const& all, std::size_t count, std::size_t before) {
  ASSERT_EQ(all.size(), before + count);
  for (std::size_t i = 0; i < count; ++i) {
    Seen const& tile = all[before + i];
    EXPECT_EQ(tile.sequence, i);
    EXPECT_EQ(tile.outcome, Outcome::done) << tile.reason;
    EXPECT_TRUE(tile.content_right) << "tile " << i;
  }
}

}  // namespace penstock
