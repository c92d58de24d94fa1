// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <vector>

#include "support/cpu_device_under_test.hpp"

#include "engine/cpu/cpu_device.hpp"
#include "engine/flow/ordered_stage_contract.hpp"
#include "engine/flow/pipeline_contract.hpp"
#include "models/faults.hpp"

namespace penstock {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, PipelineContract,
                         testing::Values(support::cpu_device_under_test(),
                                         support::cpu_device_under_test(Flavour::legacy)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Cpu, PipelineBySignal, testing::ValuesIn(every_pipeline_on(support::cpu_device_under_test())),
                         name_of_pipeline);
INSTANTIATE_TEST_SUITE_P(LegacyCpu, PipelineBySignal,
                         testing::ValuesIn(every_pipeline_on(support::cpu_device_under_test(Flavour::legacy))),
                         name_of_pipeline);

INSTANTIATE_TEST_SUITE_P(Cpu, OrderedStageContract,
                         testing::Values(support::cpu_device_under_test(),
                                         support::cpu_device_under_test(Flavour::legacy),
                                         support::modelled_gpu_under_test()),
                         name_of);

INSTANTIATE_TEST_SUITE_P(CpuToCompletion, PipelineBySignal,
                         testing::Values(PipelineUnderTest{.device = support::cpu_device_under_test(),
                                                           .run_to_completion = true}),
                         name_of_pipeline);

TEST(AnOrderedStageOfManyTiles, SeesThemInTheirSequenceWhateverProducersThereAre) {
  constexpr std::uint64_t tiles = 100'000;
  cpu::FaultyCpuDevice device({.compute_threads = 2});
  for (unsigned const producers : {1U, 8U}) {
    for (bool const by_key : {false, true}) {
      Pipeline pipeline(device, {.tile = {.input_bytes = 64},
                                 .producers = producers,
                                 .lanes = 2,
                                 .tuning = {.tiles = 64, .streams = StreamMode::own, .sink_on_lanes = true}});
      std::array<std::uint64_t, 2> next{0, by_key ? 1U : 0U};
      std::atomic<std::uint64_t> wrong{0};
      // One lane writes to the number of each key.
      Stages const plain = on_device([&](DeviceTile const& tile, StreamRef) {
        std::uint64_t& expected = next.at(by_key ? tile.sequence % 2 : 0);
        if (tile.sequence != expected) wrong.fetch_add(1);
        expected = tile.sequence + (by_key ? 2 : 1);
        return std::size_t{0};
      });
      CountingSource source(tiles);
      Report const report = pipeline.run(source, by_key ? in_order_by(&Tile::sequence, plain) : in_order(plain),
                                         [](Completion const&) {});
      EXPECT_EQ(report.tiles_done, tiles);
      EXPECT_EQ(wrong, 0U) << producers << " producers, by key " << by_key;
    }
  }
}

/// A pipeline on a CPU device that can be told to have faults.
struct PipelineOnAFaultyDevice : PipelineContract {
  cpu::FaultyCpuDevice& cpu() { return dynamic_cast<cpu::FaultyCpuDevice&>(device()); }
};

TEST_P(PipelineOnAFaultyDevice, EndsTheRunWhenTheDeviceIsLostAndFailsAllThatWasUnderWay) {
  for (auto const fault : {cpu::Fault::break_upload, cpu::Fault::break_kernel, cpu::Fault::break_download}) {
    for (bool const ordered : {false, true}) {
      SCOPED_TRACE(static_cast<int>(fault));
      TearDown();
      SetUp();
      auto options = usual();
      options.ordered = ordered;
      options.tuning.transport = Transport::copies;  // Mapped tiles leave little that can break.
      open(options);
      cpu().inject(fault, 100);
      CountingSource source(1'000'000);
      Report const report = pipeline().run(source, add_one(), note());
      EXPECT_GT(report.tiles_failed, 0u);
      EXPECT_GE(report.tiles_done, 90u);
      EXPECT_LT(report.tiles(), 200u) << "the run ends";
      EXPECT_FALSE(report.stopped) << "no stop was requested";
      ASSERT_TRUE(report.first_failure);
      EXPECT_EQ(report.first_failure->failure.kind, ErrorKind::device_lost);
      EXPECT_TRUE(report.first_failure->sequence);
    }
  }
}

/// Returns the signal by which a fault can strike a pipeline.
SignalKind signal_for(cpu::Fault fault) {
  if (fault == cpu::Fault::lost_write || fault == cpu::Fault::early_write) return SignalKind::flag;
  if (fault == cpu::Fault::early_wakeup || fault == cpu::Fault::false_wakeup) return SignalKind::event_block;
  return SignalKind::callback;
}

TEST_P(PipelineOnAFaultyDevice, GivesEachTileOneCompletionUnderEveryFault) {
  for (int fault = 0; fault <= static_cast<int>(cpu::Fault::false_wakeup); ++fault) {
    // A wake-up that is late waits until it is let go, which is a test of lanes.
    if (fault == static_cast<int>(cpu::Fault::late_wakeup)) continue;
    SCOPED_TRACE(fault);
    TearDown();
    SetUp();
    PipelineOptions options = usual();
    options.tuning.signal = signal_for(static_cast<cpu::Fault>(fault));
    options.tuning.transport = Transport::copies;
    options.tuning.graphs = fault == static_cast<int>(cpu::Fault::refuse_capture) ? Graphs::always : Graphs::never;
    open(options);
    for (std::uint64_t nth : {1U, 3U, 9U, 20U}) cpu().inject(static_cast<cpu::Fault>(fault), nth);
    std::size_t const before = sunk().size();
    CountingSource source(60);
    Stages const stages = on_device(
        [this](DeviceTile const& tile, StreamRef stream) {
          kernels().add_one(stream, tile.input);
          return tile.input.size();
        },
        {.capturable = true});
    Report const report = pipeline().run(source, stages, note());
    EXPECT_LT(cpu().armed_faults(), 4u) << "no fault struck";
    auto all = sunk();
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before));
    std::sort(all.begin(), all.end(), [](Sunk const& a, Sunk const& b) { return a.sequence < b.sequence; });
    ASSERT_EQ(report.tiles(), all.size());
    for (std::uint64_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].sequence, i) << "each once, and none left out";
      EXPECT_TRUE(all[i].content_right);
    }
  }
}

TEST_P(PipelineOnAFaultyDevice, BlamesNeitherATileNorTheFinishForARefusalThatItsSinkLeftOnALane) {
  PipelineOptions options = usual();
  options.lanes = 1;  // Its thread is then the only one that launches.
  options.tuning.sink_on_lanes = true;
  open(options);
  CountingSource source(20);
  Report const report = pipeline().run(source, add_one(), note([this](Completion&) {
                                         cpu().inject(cpu::Fault::drop_launch);
                                         cpu().thread_default_stream().launch(1, [](std::uint32_t) {});
                                       }));
  EXPECT_TRUE(report.ok()) << describe(report);
  expect_each_once(20);
  EXPECT_EQ(cpu().armed_faults(), 0u);
}

/// Seen to hang if a thread of the device may wait for its own kernel.
TEST_P(PipelineOnAFaultyDevice, TellsAKernelThatDrainsOrBorrowsThatItWouldWaitForItself) {
  auto options = usual();
  options.tuning.tiles = 2;
  open(options);
  std::atomic<int> told{0};
  std::promise<void> asked;  // Until then the pipeline has not ended.
  auto const expect_error = [&](auto const& call) {
    try {
      call();
    } catch (Error const& error) {
      if (error.kind() == ErrorKind::bad_argument) ++told;
    }
  };
  pipeline().start(on_device([&](DeviceTile const& tile, StreamRef stream) {
                     stream.launch(1, [&](std::uint32_t) {
                       expect_error([&] { static_cast<void>(pipeline().drain()); });
                       std::vector<Loan> all;
                       expect_error([&] {
                         for (int i = 0; i < 2; ++i) all.push_back(pipeline().feed().borrow());
                       });
                       asked.set_value();
                     });
                     return tile.output.size();
                   }),
                   note());
  pipeline().feed().submit(pipeline().feed().borrow());
  asked.get_future().wait();
  EXPECT_TRUE(pipeline().drain().ok());
  EXPECT_EQ(told, 2);
}

TEST_P(PipelineOnAFaultyDevice, SaysThatTheTilesCannotBePinned) {
  cpu().inject(cpu::Fault::fail_pin);
  try {
    open();
    FAIL() << "it was pinned";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_pinned_memory);
  }
}

TEST_P(PipelineOnAFaultyDevice, SaysThatTheLanesHaveNoMemoryAndIsFitForAnotherRun) {
  open();
  cpu().inject(cpu::Fault::fail_allocation);
  CountingSource source(10);
  EXPECT_THROW(static_cast<void>(pipeline().run(source, add_one(), note())), Error);
  EXPECT_EQ(pipeline().run(source, add_one(), note()).tiles_done, 10u);
}

INSTANTIATE_TEST_SUITE_P(Cpu, PipelineOnAFaultyDevice, testing::Values(support::cpu_device_under_test()), name_of);

}  // namespace
}  // namespace penstock
