// SPDX-License-Identifier: Apache-2.0
#include "lane/lane_contract.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sstream>
#include <thread>

#include "support/thread_state.hpp"
#include <unistd.h>

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

void PrintTo(LaneUnderTest const& lane, std::ostream* out) {
  *out << to_string(lane.signal) << (lane.streams == StreamMode::own ? "_own" : "_thread_default")
       << (lane.shape == LaneShape::split ? "_split" : "_single");
}

std::string name_of_lane(testing::TestParamInfo<LaneUnderTest> const& info) {
  std::ostringstream name;
  PrintTo(info.param, &name);
  return name.str();
}

void LaneContract::SetUp() {
  device_ = GetParam().device.make();
  if (device_ == nullptr) GTEST_SKIP() << "There is no such device here.";
  device_->attach();
  constexpr TileShape shape{.input_bytes = tile_bytes, .output_bytes = tile_bytes, .in_place = true};
  slab_.emplace(Pool::slab_bytes(shape, tiles), std::nullopt, 1);
  pinned_ = device_->pin(slab_->bytes());
  pool_.emplace(slab_->bytes(), shape, tiles);
}

void LaneContract::TearDown() {
  if (device_ == nullptr) return;
  lane_.reset();
  EXPECT_EQ(pool_->on_loan(), 0u) << "a tile never came home";
  pool_.reset();
  pinned_ = {};
  GetParam().device.expect_nothing_lent(*device_);
}

std::chrono::nanoseconds LaneContract::before_sleep(std::chrono::nanoseconds spin) const {
  bool const called = GetParam().signal != SignalKind::event_poll && GetParam().signal != SignalKind::flag;
  return called ? spin : std::chrono::nanoseconds(0);
}

Stages LaneContract::add_one(std::function<void(DeviceTile const&, StreamRef)> also) {
  return each_tile([this, also = std::move(also)](DeviceTile const& tile, StreamRef stream) {
    if (also) also(tile, stream);
    kernels().add_one(stream, tile.input);
    return tile.input.size();
  });
}

Lane& LaneContract::open_lane(Stages const& stages, LaneOptions options) {
  options.signal = GetParam().signal;
  options.flight.streams = GetParam().streams;
  options.flight.shape = GetParam().shape;
  lane_ = std::make_unique<Lane>(*device_, pool_->shape(), tiles, std::move(options), 0, stages,
                                 [this](Completion completion) { note(std::move(completion)); });
  return *lane_;
}

void LaneContract::close_lane() {
  lane_->close();
  lane_.reset();
}

void LaneContract::submit(std::uint64_t sequence) {
  Loan loan = pool_->borrow();
  loan->sequence = sequence;
  loan->filled = tile_bytes;
  std::ranges::fill(loan->input(), static_cast<std::byte>(sequence));
  ASSERT_TRUE(lane_->submit(loan));
}

void LaneContract::note(Completion completion) {
  Tile const& tile = *completion.loan;
  Seen now{.sequence = tile.sequence, .outcome = completion.outcome, .stage = {}, .reason = {}, .content_right = true};
  if (completion.failure != nullptr) {
    now.stage = completion.failure->stage;
    now.reason = completion.failure->reason;
  }
  if (completion.ok()) now.content_right = tile.produced == tile.filled;
  auto const expected = static_cast<std::byte>(tile.sequence + 1);
  for (std::byte const byte : tile.produced_output()) now.content_right = now.content_right && byte == expected;
  completion.loan.give_back();  // Before it is seen, so that who awaits it can borrow.
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

namespace {

TEST_P(LaneContract, CompletesEachTileOnceAndInTheOrderItCameWithItsOwnContent) {
  open_lane(add_one());
  constexpr std::size_t count = 300;
  for (std::size_t i = 0; i < count; ++i) submit(i);
  close_lane();
  auto const all = seen();
  ASSERT_EQ(all.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_EQ(all[i].outcome, Outcome::done) << all[i].reason;
    EXPECT_TRUE(all[i].content_right) << "tile " << i;
  }
}

TEST_P(LaneContract, CompletesEachTileOnceWhileItSpins) {
  open_lane(add_one(), {.spin = std::chrono::milliseconds(1)});
  for (std::size_t i = 0; i < 200; ++i) submit(i);
  close_lane();
  auto const all = seen();
  ASSERT_EQ(all.size(), 200u);
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_TRUE(all[i].content_right) << "tile " << i;
  }
}

TEST_P(LaneContract, CompletesNothingThatTheDeviceStillWorksOn) {
  std::optional<support::Hold> held;
  std::atomic<pid_t> thread{0};
  std::atomic<std::size_t> enqueued{0};
  // It asks the device itself before it sleeps, so that it has every occasion to be wrong.
  open_lane(add_one([&](DeviceTile const& tile, StreamRef stream) {
              thread = gettid();
              if (tile.sequence == 1) held.emplace(kernels().hold(stream));
              enqueued.fetch_add(1);
            }),
            {.spin = before_sleep(std::chrono::microseconds(100))});
  for (std::uint64_t i = 0; i < 4; ++i) submit(i);
  await_seen(1);
  while (enqueued < 4) std::this_thread::yield();
  held->await_reached();
  support::await_asleep(thread);
  EXPECT_EQ(seen().size(), 1u) << "tile 1 is held on the device, and the others are behind it";
  held->open();
  EXPECT_EQ(await_seen(4).size(), 4u);
  close_lane();
  for (Seen const& tile : seen()) EXPECT_TRUE(tile.content_right) << "tile " << tile.sequence;
}

TEST_P(LaneContract, IsCalledByItsDeviceWhenItSleeps) {
  for (auto const spin : {std::chrono::milliseconds(0), std::chrono::milliseconds(50)}) {
    SCOPED_TRACE(spin.count());
    std::size_t const before = seen().size();
    std::optional<support::Hold> held;
    std::atomic<pid_t> thread{0};
    std::atomic<bool> holding{false};
    open_lane(add_one([&](DeviceTile const& tile, StreamRef stream) {
                thread = gettid();
                if (tile.sequence != 1) return;
                held.emplace(kernels().hold(stream));
                holding = true;
              }),
              {.spin = before_sleep(spin), .watchdog = std::chrono::seconds(5)});
    submit(0);
    await_seen(before + 1);
    submit(1);
    while (!holding) std::this_thread::yield();
    support::await_asleep(thread);
    held->open();
    await_seen(before + 2);
    lane().close();
    EXPECT_EQ(lane().summary().found_by_watchdog, 0u) << "nobody called it";
  }
}

TEST_P(LaneContract, EnqueuesAsManyTilesAsItHasSlotsAndNoMore) {
  std::optional<support::Hold> held;
  std::atomic<pid_t> thread{0};
  std::atomic<std::size_t> enqueued{0};
  open_lane(add_one([&](DeviceTile const& tile, StreamRef stream) {
              thread = gettid();
              if (tile.sequence == 0) held.emplace(kernels().hold(stream));
              enqueued.fetch_add(1);
            }),
            {.flight = {.slots = 3}});
  for (std::size_t i = 0; i < 6; ++i) submit(i);
  while (enqueued < 3) std::this_thread::yield();
  support::await_asleep(thread);
  EXPECT_EQ(lane().load(), 6u);
  EXPECT_EQ(enqueued, 3u);
  EXPECT_TRUE(seen().empty());
  held->open();
  await_seen(6);
  EXPECT_EQ(enqueued, 6u);
}

TEST_P(LaneContract, FailsATileThatClaimsToHoldMoreThanItCan) {
  open_lane(add_one());
  Loan loan = pool().borrow();
  loan->filled = tile_bytes + 1;
  ASSERT_TRUE(lane().submit(loan));
  close_lane();
  ASSERT_EQ(seen().size(), 1u);
  EXPECT_EQ(seen()[0].stage, "upload");
}

TEST_P(LaneContract, CompletesAnEmptyTile) {
  open_lane(each_tile([](DeviceTile const& tile, StreamRef) { return tile.input.size(); }));
  Loan loan = pool().borrow();
  ASSERT_TRUE(lane().submit(loan));
  close_lane();
  ASSERT_EQ(seen().size(), 1u);
  EXPECT_EQ(seen()[0].outcome, Outcome::done) << seen()[0].reason;
}

TEST_P(LaneContract, CancelsWhatHasNotStartedAndCompletesWhatHas) {
  std::optional<support::Hold> held;
  std::atomic<std::size_t> enqueued{0};
  open_lane(add_one([&](DeviceTile const& tile, StreamRef stream) {
              if (tile.sequence == 0) held.emplace(kernels().hold(stream));
              enqueued.fetch_add(1);
            }),
            {.flight = {.slots = 2}});
  for (std::size_t i = 0; i < 6; ++i) submit(i);
  while (enqueued < 2) std::this_thread::yield();
  lane().cancel();
  auto const cancelled = await_seen(4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(cancelled[i].sequence, i + 2);
    EXPECT_EQ(cancelled[i].outcome, Outcome::cancelled);
  }
  held->open();
  close_lane();
  auto const all = seen();
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[4].outcome, Outcome::done);
  EXPECT_EQ(all[5].outcome, Outcome::done);
}

TEST_P(LaneContract, LeavesTheLoanToItsHolderOnceItIsClosed) {
  open_lane(add_one()).close();
  Loan loan = pool().borrow();
  EXPECT_FALSE(lane().submit(loan));
  EXPECT_TRUE(loan);
  EXPECT_EQ(lane().load(), 0u);
}

TEST_P(LaneContract, SaysInItsConstructorThatItHasNoSlot) {
  EXPECT_THROW(open_lane(add_one(), {.flight = {.slots = 0}}), Error);
}

TEST_P(LaneContract, TakesTilesFromManyThreads) {
  open_lane(add_one());
  constexpr std::size_t threads = 4, each = 200;
  {
    std::vector<std::jthread> submitters;
    for (std::size_t t = 0; t < threads; ++t) {
      submitters.emplace_back([&, t] {
        for (std::size_t i = 0; i < each; ++i) submit(t * each + i);
      });
    }
  }
  close_lane();
  auto all = seen();
  std::ranges::sort(all, {}, &Seen::sequence);
  ASSERT_EQ(all.size(), threads * each);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_TRUE(all[i].content_right) << "tile " << i;
  }
}

}  // namespace
}  // namespace penstock
