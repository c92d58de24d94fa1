// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "engine/machine/bound_thread.hpp"
#include "engine/machine/cpu_set.hpp"
#include "engine/machine/topology.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

/// CPUs that sched_getaffinity gave within the functions of the user, of each thread but those of the test.
class Seen {
 public:
  void note(std::string const& where) {
    std::scoped_lock const lock(mutex_);
    if (tests_.contains(std::this_thread::get_id())) return;
    threads_[where].insert_or_assign(std::this_thread::get_id(), affinity_of_this_thread());
  }
  void is_of_the_test() {
    std::scoped_lock const lock(mutex_);
    tests_.insert(std::this_thread::get_id());
  }
  /// Returns the CPUs of each thread that came there.
  std::vector<CpuSet> in(std::string const& where) const {
    std::vector<CpuSet> all;
    if (auto const found = threads_.find(where); found != threads_.end()) {
      for (auto const& [thread, cpus] : found->second) all.push_back(cpus);
    }
    return all;
  }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> tests_;
  std::map<std::string, std::map<std::thread::id, CpuSet>> threads_;
};

/// A pipeline on a CPU device, whose source, stage and sink look which CPUs their thread may run on.
struct APipelineThatIsBound : testing::Test {
  CpuSet const usable = affinity_of_this_thread();
  CpuSet const first{std::vector{*usable.begin()}};
  Seen seen;
  cpu::CpuDevice device{{.compute_threads = 1}};
  PipelineOptions wanted{.tile = {.input_bytes = 64, .output_bytes = 64},
                         .producers = 2,
                         .lanes = 1,
                         .consumers = 2,
                         .parallel_sink = true};

  /// Calls `work` on a thread of the test that may run on these CPUs alone; so do those that it starts.
  void limited_to(CpuSet const& cpus, std::function<void()> const& work) {
    BoundThread thread("ps-test", cpus, [&](std::stop_token const&) {
      seen.is_of_the_test();
      work();
    });
    ASSERT_EQ(thread.binding_error(), std::nullopt);
    thread.join();
  }
  Stages stages() {
    return on_device([this](DeviceTile const& tile, StreamRef) {
      seen.note("stage");
      return tile.input.size();
    });
  }
  Sink sink() {
    return [this](Completion&) { seen.note("sink"); };
  }
  /// Producers fill, and a consumer beside the thread of the test takes results until both had tiles.
  void pull(Pipeline& pipeline) {
    auto const fill = [this](TilePlace, std::span<std::byte> input) {
      seen.note("fill");
      return input.size();
    };
    Report const report = pipeline.run(generate(400, fill), stages(), sink());
    ASSERT_EQ(report.tiles_done, 400u) << describe(report);
  }
  /// All consumers are threads of penstock.
  void push(Pipeline& pipeline) {
    pipeline.start(stages(), sink());
    for (int i = 0; i < 100; ++i) {
      Loan loan = pipeline.feed().borrow();
      loan->filled = loan->input().size();
      pipeline.feed().submit(std::move(loan));
    }
    Report const report = pipeline.drain();
    ASSERT_EQ(report.tiles_done, 100u) << describe(report);
  }
  /// Does both with a pipeline that is made on `made_with`, and run by a thread that may run on `run_with`.
  void through(CpuSet const& made_with, CpuSet const& run_with) {
    limited_to(made_with, [&] {
      Pipeline pipeline(device, wanted);
      limited_to(run_with, [&] {
        pull(pipeline);
        push(pipeline);
      });
    });
  }
  /// Expects that each thread that came to a function of the user may run there.
  void expect_everywhere(CpuSet const& cpus) const {
    for (char const* const where : {"fill", "stage", "sink"}) {
      EXPECT_THAT(seen.in(where), testing::AllOf(testing::Not(testing::IsEmpty()), testing::Each(cpus))) << where;
    }
  }
};

/// Seen to fail where producers, lanes and consumers are bound.
TEST_F(APipelineThatIsBound, HasThreadsWhereTheyWereMadeIfTheyAreNot) {
  wanted.tuning.bind = Bind::none;
  through(usable, first);
  expect_everywhere(first);
}

TEST_F(APipelineThatIsBound, HasThreadsOnTheirNodeIfNothingElseIsSaid) {
  Topology const topology = Topology::detect();
  if (topology.nodes().size() > 1) GTEST_SKIP() << "a CPU device hangs on no node";
  EXPECT_EQ(wanted.tuning.bind, Bind::node);
  through(usable, first);
  expect_everywhere(usable);
}

/// Seen to fail where one of the three is left as it was.
TEST_F(APipelineThatIsBound, HasThreadsOnOneCpuEachIfThatIsAskedFor) {
  wanted.tuning.bind = Bind::cpu;
  wanted.producers = 1;
  through(usable, usable);
  for (char const* const where : {"fill", "stage", "sink"}) {
    EXPECT_THAT(seen.in(where), testing::AllOf(testing::Not(testing::IsEmpty()), testing::Each(testing::SizeIs(1))))
        << where;
  }
  if (usable.size() < 2) GTEST_SKIP() << "there is one CPU";
  EXPECT_NE(seen.in("stage").front(), seen.in("fill").front()) << "there is a CPU for each";
}

TEST_F(APipelineThatIsBound, StaysOnTheCpusThatItsProcessMayUse) {
  for (Bind const bind : all_binds) {
    wanted.tuning.bind = bind;
    through(first, first);
    expect_everywhere(first);
    if (testing::Test::HasFailure()) FAIL() << "with bind " << to_string(bind);
  }
}

TEST_F(APipelineThatIsBound, SaysInItsReportWhereItsThreadsWere) {
  wanted.tuning.bind = Bind::cpu;
  Pipeline pipeline(device, wanted);
  pipeline.start(stages(), sink());
  Report const report = pipeline.drain();
  EXPECT_THAT(report.placement, testing::HasSubstr(" on CPUs " + first.text()));
  if (usable.size() > 1) {
    EXPECT_THAT(report.placement, testing::Not(testing::HasSubstr(" on CPUs " + usable.text())));
  }
}

}  // namespace
}  // namespace penstock
