// SPDX-License-Identifier: Apache-2.0
// Tests which tile lost a device, with several devices, too many culprits, a kernel that does not end, or a stop.
// Each test starts itself again by its filter, and its process ends where the pipeline runs.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/gate.hpp"
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"
#include "observe/replay.hpp"
#include "penstock/observe.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Tiles of 64 bytes that are all in flight before the first kernel ends, unless a test opens `all_there` before. Each
/// has its own number in each byte.
struct ADeviceIsLost : testing::Test {
  std::uint64_t tiles = 8;
  PipelineOptions options{
      .tile = {.input_bytes = 64, .output_bytes = 64},
      .producers = 1,
      .consumers = 1,
      .tuning = {.batch = 1, .transport = Transport::copies},
      .watching = {.hooks = {attribution()}},
  };
  /// No tile waits for others in a process that runs tiles again.
  bool const again = std::getenv(replay_variable) != nullptr;
  support::Gate all_there;
  /// Gate at which the kernel of a tile stays. A kernel may still be in it when the test's body ends.
  support::Gate held;
  std::atomic<std::uint64_t> launched{0};
  /// Is called before the kernel of a tile is launched.
  std::function<void(cpu::FaultyCpuDevice&, std::uint64_t sequence)> before = [](auto&, auto) {};
  /// Is called in the kernel with what the tile contains.
  std::function<void(std::byte)> within = [](std::byte) {};
  std::stop_source stop;
  /// They end first, since their kernels use the rest.
  std::vector<std::unique_ptr<cpu::FaultyCpuDevice>> devices;

  ADeviceIsLost() {
    auto const* const test = testing::UnitTest::GetInstance()->current_test_info();
    options.watching.hooks = {
        attribution({"/proc/self/exe", std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name()})};
  }
  void open(std::size_t count) {
    for (unsigned i = 0; i < count; ++i) {
      devices.push_back(std::make_unique<cpu::FaultyCpuDevice>(
          cpu::CpuOptions{.ordinal = static_cast<int>(i), .compute_threads = 1}));
    }
    options.lanes = static_cast<unsigned>(count);
    options.tuning.tiles = tiles;
    options.tuning.slots = static_cast<unsigned>(tiles / count);
    if (again) all_there.open();
  }
  struct Work final : Stage {
    Work(ADeviceIsLost& its_world, Device& its_device)
        : world(its_world), device(dynamic_cast<cpu::FaultyCpuDevice&>(its_device)) {}
    std::size_t run(DeviceTile const& tile, StreamRef stream) override {
      world.before(device, tile.sequence);
      stream.launch(1, [this, from = tile.input.address(), to = tile.output.address()](std::uint32_t) {
        world.all_there.pass();
        world.within(from[0]);
        to[0] = from[0];
      });
      if (world.launched.fetch_add(1) + 1 == world.tiles) world.all_there.open();
      return 64;
    }
    ADeviceIsLost& world;
    cpu::FaultyCpuDevice& device;
  };
  Stages stages() {
    return {.make = [this](StageContext const& context) { return std::make_unique<Work>(*this, context.device); }};
  }
  Report run() {
    std::vector<Device*> all;
    for (auto const& device : devices) all.push_back(device.get());
    Pipeline pipeline(std::move(all), options);
    auto const fill = [at = std::uint64_t{0}, this](Tile& tile) mutable -> std::optional<std::size_t> {
      if (at == tiles) return std::nullopt;
      std::ranges::fill(tile.input(), static_cast<std::byte>(at++));
      return 64;
    };
    Report report = pipeline.run(
        serial(fill), stages(), [](Completion&) {}, stop.get_token());
    EXPECT_EQ(pipeline.pool().on_loan(), 0U) << "a tile never came home";
    return report;
  }
  static std::vector<std::uint64_t> culprits(Report const& report) {
    std::vector<std::uint64_t> all;
    for (auto const& culprit : report.attribution->culprits) all.push_back(culprit.sequence);
    return all;
  }
};

TEST_F(ADeviceIsLost, AndItsTilesAreRunAgainOnThatDevice) {
  std::mutex mutex;
  std::vector<std::uint64_t> of_the_second;
  before = [&](cpu::FaultyCpuDevice& device, std::uint64_t sequence) {
    if (&device == devices.front().get()) return;
    device.inject(cpu::Fault::break_kernel, 1);
    {
      std::scoped_lock const lock(mutex);
      of_the_second.push_back(sequence);
    }
    // The second device is lost by its first kernel, and gets no more.
    all_there.open();
  };
  open(2);
  Report const report = run();
  ASSERT_NE(report.attribution, nullptr) << describe(report);
  EXPECT_THAT(of_the_second, testing::Not(IsEmpty()));
  // Also one whose upload met the loss already.
  EXPECT_THAT(culprits(report), testing::IsSupersetOf(of_the_second)) << describe(report);
  EXPECT_THAT(report.attribution->innocent, IsEmpty());
  EXPECT_THAT(report.attribution->not_tried, IsEmpty());
}

TEST_F(ADeviceIsLost, AndEightCulpritsAreEnough) {
  tiles = 11;
  before = [](cpu::FaultyCpuDevice& device, std::uint64_t sequence) {
    if (sequence > 0) device.inject(cpu::Fault::break_kernel, 1);
  };
  open(1);
  Report const report = run();
  ASSERT_NE(report.attribution, nullptr) << describe(report);
  EXPECT_THAT(culprits(report), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(report.attribution->not_tried, ElementsAre(9, 10));
  EXPECT_EQ(report.attribution->remark, "Enough tiles fail: the rest was left.");
}

TEST_F(ADeviceIsLost, AndTilesInPlaceCarryARemark) {
  options.tile = {.input_bytes = 64, .output_bytes = 64, .in_place = true};
  before = [](cpu::FaultyCpuDevice& device, std::uint64_t sequence) {
    if (sequence == 3) device.inject(cpu::Fault::break_kernel, 1);
  };
  open(1);
  Report const report = run();
  ASSERT_NE(report.attribution, nullptr) << describe(report);
  EXPECT_THAT(culprits(report), ElementsAre(3));
  EXPECT_THAT(report.attribution->remark, HasSubstr("Tiles are in place"));
}

/// Patience is so long that a machine which stands still for a moment finds no innocent tile guilty.
TEST_F(ADeviceIsLost, AndATileThatDoesNotEndIsFoundInItsBatch) {
  options.tuning.batch = static_cast<unsigned>(tiles);
  options.tuning.patience = std::chrono::seconds(3);
  all_there.open();
  within = [this](std::byte content) {
    if (content == std::byte{5}) held.pass();
  };
  open(1);
  Report const report = run();
  held.open();
  ASSERT_NE(report.attribution, nullptr) << describe(report);
  EXPECT_THAT(culprits(report), ElementsAre(5)) << describe(report);
  EXPECT_EQ(report.attribution->culprits[0].failure.stage, "stage");
  EXPECT_THAT(report.attribution->culprits[0].failure.reason, HasSubstr("finished none of a lane's tiles"));
  EXPECT_THAT(report.attribution->not_tried, IsEmpty());
}

/// A named pipe, by which a process that runs tiles again says that it has one.
struct Begins {
  Begins() {
    if (mkfifo(path.c_str(), 0600) != 0) throw Error(ErrorKind::system, "There is no named pipe to be had.");
  }
  Begins(Begins const&) = delete;
  Begins& operator=(Begins const&) = delete;
  ~Begins() { std::filesystem::remove(path); }
  /// Blocks: until another process says so. The descriptor reads the end of the pipe once that process has ended.
  Descriptor await() const { return Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

  std::string const path = std::filesystem::temp_directory_path() / ("penstock-begins-" + std::to_string(getpid()));
};

TEST_F(ADeviceIsLost, AndAStopEndsTheProcessThatRunsItsTiles) {
  Begins const begins;
  // It says that it began, and would never end.
  options.watching.hooks = {attribution({"/bin/sh", "-c", "echo > '" + begins.path + "'; exec tail -f /dev/null"})};
  before = [](cpu::FaultyCpuDevice& device, std::uint64_t sequence) {
    if (sequence == 7) device.inject(cpu::Fault::break_kernel, 1);
  };
  open(1);
  std::jthread const stopper([&] {
    Descriptor const begun = begins.await();
    stop.request_stop();
  });
  Report const report = run();
  ASSERT_NE(report.attribution, nullptr) << describe(report);
  EXPECT_EQ(report.attribution->not_tried.size(), report.tiles_failed);
  EXPECT_EQ(report.attribution->remark, "They were not tried because a stop was requested.");
}

/// Its tiles are run again by a process whose first kernel says that it runs, and never ends.
struct ADeviceWhoseTilesDoNotEnd : ADeviceIsLost {
  std::optional<Begins> begins;

  ADeviceWhoseTilesDoNotEnd() {
    before = [this](cpu::FaultyCpuDevice& device, std::uint64_t sequence) {
      if (!again && sequence == 7) device.inject(cpu::Fault::break_kernel, 1);
    };
    within = [this](std::byte) {
      if (!again) return;
      // It stays open until the process ends.
      static_cast<void>(::open(std::getenv(pipe_variable), O_WRONLY | O_CLOEXEC));
      held.pass();
    };
    if (std::getenv(pipe_variable) == nullptr) {
      begins.emplace();
      setenv(pipe_variable, begins->path.c_str(), 1);
    }
    open(1);
  }
  void TearDown() override {
    if (begins) unsetenv(pipe_variable);
  }
  static void expect_nothing_tried(Report const& report) {
    ASSERT_NE(report.attribution, nullptr) << describe(report);
    EXPECT_THAT(culprits(report), IsEmpty()) << describe(report);
    EXPECT_THAT(report.attribution->innocent, IsEmpty());
    EXPECT_EQ(report.attribution->not_tried.size(), report.tiles_failed);
    EXPECT_EQ(report.attribution->remark, "They were not tried because a stop was requested.");
  }

  static constexpr char const* pipe_variable = "PENSTOCK_TEST_BEGINS";
};

TEST_F(ADeviceWhoseTilesDoNotEnd, AndAStopFindsNoTileGuilty) {
  std::jthread const stopper([&] {
    if (again) return;
    Descriptor const begun = begins->await();
    stop.request_stop();
  });
  expect_nothing_tried(run());
}

TEST_F(ADeviceWhoseTilesDoNotEnd, AndAStopOfThePipelineEndsADrain) {
  Pipeline pipeline(*devices.front(), options);
  std::jthread const stopper([&] {
    if (again) return;
    Descriptor const begun = begins->await();
    pipeline.stop();
  });
  pipeline.start(stages(), [](Completion&) {});
  for (std::uint64_t at = 0; at < tiles; ++at) {
    Loan loan = pipeline.feed().borrow();
    std::ranges::fill(loan->input(), static_cast<std::byte>(at));
    loan->filled = 64;
    pipeline.feed().submit(std::move(loan));
  }
  expect_nothing_tried(pipeline.drain());
  EXPECT_EQ(pipeline.pool().on_loan(), 0U) << "a tile never came home";
}

TEST_F(ADeviceIsLost, AndCtrlCReachesNotTheProcessThatRunsItsTiles) {
  // The fifth word is the process group, to which a terminal sends its signals.
  options.watching.hooks = {attribution({"/bin/sh", "-c", "cut -d' ' -f5 /proc/$$/stat >&2; exit 3"})};
  before = [](cpu::FaultyCpuDevice& device, std::uint64_t sequence) {
    if (sequence == 7) device.inject(cpu::Fault::break_kernel, 1);
  };
  open(1);
  Report const report = run();
  ASSERT_NE(report.attribution, nullptr) << describe(report);
  EXPECT_THAT(report.attribution->remark, testing::MatchesRegex(".* It said: [0-9]+"));
  EXPECT_THAT(report.attribution->remark, testing::Not(testing::EndsWith(" " + std::to_string(getpgrp()))));
}

}  // namespace
}  // namespace penstock
