// SPDX-License-Identifier: Apache-2.0
#include "penstock/run_hook.hpp"

#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"
#include "penstock/error.hpp"
#include "penstock/observe.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A run whose hooks note what they were called for, in order; one run at a time.
struct ARunWithHooks : testing::Test {
  class Listener final : public RunHook {
   public:
    Listener(std::vector<std::string>& heard, std::string name) : heard_(heard), name_(std::move(name)) {}
    void before_run(HookedRun const& run) override {
      heard_.push_back(name_ + " before, lanes " + std::to_string(run.options.lanes));
      if (refuses) throw Error(ErrorKind::bad_argument, "Not now.");
    }
    void lost(Tile const& tile, unsigned) noexcept override {
      heard_.push_back(name_ + " lost " + std::to_string(tile.sequence));
    }
    void after_run(Report& report, HookedRun const& run) override {
      heard_.push_back(name_ + " after " + std::to_string(report.tiles_done) + (run.one_lane ? ", one lane" : ""));
      report.remarks.push_back("Seen by " + name_ + ".");
      if (breaks) throw std::runtime_error("no place for it");
    }
    bool refuses = false, breaks = false;

   private:
    std::vector<std::string>& heard_;
    std::string const name_;
  };

  RunHookMaker listener(std::string const& name, bool refuses = false, bool breaks = false) {
    return [=, this](PipelineOptions&) {
      auto hook = std::make_unique<Listener>(heard, name);
      hook->refuses = refuses;
      hook->breaks = breaks;
      return hook;
    };
  }
  Report run(Pipeline& pipeline, std::stop_token stop = {}) {
    return pipeline.run(
        generate(3, [](TilePlace, std::span<std::byte> input) { return input.size(); }),
        on_device([](DeviceTile const&, StreamRef) {}), [](Completion&) {}, std::move(stop));
  }
  std::vector<std::string> heard;
  cpu::FaultyCpuDevice device{cpu::CpuOptions{.compute_threads = 1}};
  PipelineOptions options{.tile = {.input_bytes = 64}, .producers = 1, .lanes = 1, .consumers = 1};
};

TEST_F(ARunWithHooks, CallsThemInTheirOrderBeforeAndAfterEachRun) {
  options.watching.hooks = {listener("a"), listener("b"), RunHookMaker()};
  Pipeline pipeline(device, options);
  for (int k = 0; k < 2; ++k) {
    heard.clear();
    Report const report = run(pipeline);
    EXPECT_TRUE(report.ok()) << describe(report);
    EXPECT_THAT(heard, ElementsAre("a before, lanes 1", "b before, lanes 1", "a after 3", "b after 3"));
    EXPECT_THAT(report.remarks, testing::IsSupersetOf({"Seen by a.", "Seen by b."}));
  }
}

/// Seen to fail if a run that has ended stops itself when it dies.
TEST_F(ARunWithHooks, SaysThatItIsStoppedOnlyIfItWas) {
  struct KeepsStopped final : RunHook {
    explicit KeepsStopped(std::stop_token& of) : stopped(of) {}
    void after_run(Report&, HookedRun const& run) override { stopped = run.stopped; }
    std::stop_token& stopped;
  };
  std::stop_token stopped;
  options.watching.hooks = {[&](PipelineOptions&) { return std::make_unique<KeepsStopped>(stopped); }};
  Pipeline pipeline(device, options);
  EXPECT_TRUE(run(pipeline).ok());
  EXPECT_FALSE(stopped.stop_requested());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(run(pipeline, stop.get_token()).ok());
  EXPECT_TRUE(stopped.stop_requested());
}

TEST_F(ARunWithHooks, BelongsToHooksOfItsPipelineAlone) {
  int made = 0;
  options.watching.hooks = {[&](PipelineOptions&) {
    ++made;
    return std::unique_ptr<RunHook>();
  }};
  Pipeline one(device, options), other(device, options);
  EXPECT_EQ(made, 2);
  EXPECT_TRUE(run(one).ok());
  EXPECT_TRUE(run(other).ok());
}

TEST_F(ARunWithHooks, MayBeWatchedByARecorderOfAHook) {
  Recorder recorder({.capacity = 100});
  options.watching.hooks = {[&](PipelineOptions& all) {
    all.watching.recorder = &recorder;
    return std::make_unique<Listener>(heard, "a");
  }};
  Pipeline pipeline(device, options);
  EXPECT_TRUE(run(pipeline).ok());
  EXPECT_FALSE(recorder.take().passages.empty());
}

TEST_F(ARunWithHooks, DoesNotBeginIfOneThrows) {
  options.watching.hooks = {listener("a", true)};
  Pipeline pipeline(device, options);
  EXPECT_THROW(static_cast<void>(run(pipeline)), Error);
  EXPECT_FALSE(pipeline.running());
  EXPECT_EQ(pipeline.pool().on_loan(), 0U);
}

TEST_F(ARunWithHooks, IsReportedAlsoIfOneThrowsBehindIt) {
  static std::string said;
  said.clear();
  auto const before = set_message_hook([](std::string_view sentence) noexcept { said += sentence; });
  options.watching.hooks = {listener("a", false, true)};
  Pipeline pipeline(device, options);
  Report const report = run(pipeline);
  set_message_hook(before);
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(report.tiles_done, 3U);
  EXPECT_THAT(said, HasSubstr("no place for it"));
}

TEST_F(ARunWithHooks, TellsThemOfTheTilesThatALostDeviceHad) {
  options.tuning.transport = Transport::copies;
  options.watching.hooks = {listener("a")};
  Pipeline pipeline(device, options);
  device.inject(cpu::Fault::break_kernel, 1);
  Report const report =
      pipeline.run(generate(1, [](TilePlace, std::span<std::byte> input) { return input.size(); }),
                   on_device([](DeviceTile const&, StreamRef stream) { stream.launch(1, [](std::uint32_t) {}); }),
                   [](Completion&) {});
  EXPECT_FALSE(report.ok());
  EXPECT_THAT(heard, ElementsAre("a before, lanes 1", "a lost 0", "a after 0"));
}

}  // namespace
}  // namespace penstock
