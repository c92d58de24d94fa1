// SPDX-License-Identifier: Apache-2.0
// Tests what a pipeline makes of a kernel that ends its GPU.
#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "support/cuda_kernels.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "engine/cuda/a_lost_gpu.hpp"
#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/probe.hpp"
#include "penstock/pipeline.hpp"

namespace penstock::cuda {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The stage of tile 50 writes to nowhere. Each tile that was filled must come back once, with the loss as its reason
/// from some tile on, and none may stay on loan.
int every_tile_comes_back_once(bool ordered) {
  Verdict verdict;
  CudaDevice gpu;
  Pipeline pipeline(gpu, {.tile = {.input_bytes = 4096, .output_bytes = 4096, .in_place = true},
                          .producers = 2,
                          .lanes = 2,
                          .consumers = 1,
                          .ordered = ordered,
                          .tuning = {.tiles = 16, .slots = 4}});
  std::uint64_t filled = 0;
  std::set<std::uint64_t> seen;
  std::uint64_t done = 0, failed = 0;
  Report const report =
      pipeline.run(serial([&](Tile&) -> std::optional<std::size_t> {
                     ++filled;
                     return 4096;
                   }),
                   on_device([](DeviceTile const& tile, StreamRef stream) {
                     if (tile.sequence == 50) support::write_to_nowhere(static_cast<cudaStream_t>(stream.native()));
                     return tile.input.size();
                   }),
                   [&](Completion& completion) {
                     verdict.expect(seen.insert(completion.loan->sequence).second, "a tile came back twice");
                     verdict.expect(completion.outcome != Outcome::cancelled, "a tile was cancelled without a request");
                     if (completion.ok()) ++done;
                     if (completion.outcome == Outcome::failed) {
                       ++failed;
                       verdict.expect(completion.failure->kind == ErrorKind::device_lost, completion.failure->reason);
                     }
                   });
  verdict.expect(seen.size() == filled, "a tile never came back");
  verdict.expect(done + failed == filled && failed > 0, "the loss failed no tile");
  verdict.expect(report.tiles() == filled && report.tiles_failed == failed, "the report counts otherwise");
  verdict.expect(report.first_failure && report.first_failure->sequence, "the report names no first tile");
  verdict.expect(pipeline.pool().on_loan() == 0, "a tile is not home");
  try {
    static_cast<void>(pipeline.run(serial([](Tile&) -> std::optional<std::size_t> { return std::nullopt; }),
                                   on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; }),
                                   [](Completion&) {}));
    verdict.expect(false, "it ran again on a lost GPU");
  } catch (Error const& error) {
    verdict.expect(error.sticky(), error.what());
  }
  return verdict.exit_code();
}

TEST_F(ALostGpu, FailsTheTilesOfItsPipelineOnceEachAndEndsTheRun) {
  EXPECT_EXIT(play([] { return every_tile_comes_back_once(false); }), testing::ExitedWithCode(0),
              Not(HasSubstr("BROKEN")));
}

TEST_F(ALostGpu, FailsTheTilesOfAnOrderedPipelineOnceEachAndEndsTheRun) {
  EXPECT_EXIT(play([] { return every_tile_comes_back_once(true); }), testing::ExitedWithCode(0),
              Not(HasSubstr("BROKEN")));
}

/// The 20th tile of the second GPU does something that GPUs do not survive, while the first has tiles as well; 500 more
/// are filled once the second is lost, if they are wanted.
struct TwoGpusOfAPipeline {
  using Harm = void (*)(cudaStream_t);

  CudaDevice first{0}, second{1};
  std::uint64_t filled = 0, failed = 0;
  bool home = false;  ///< No tile is on loan any more.

  Report run(Harm harm, std::chrono::nanoseconds patience) {
    Pipeline pipeline({&first, &second}, {.tile = {.input_bytes = 4096, .output_bytes = 4096, .in_place = true},
                                          .producers = 1,
                                          .lanes = 2,
                                          .consumers = 1,
                                          .tuning = {.tiles = 16, .slots = 4, .patience = patience}});
    struct Harming final : Stage {
      Harming(Harm does, std::atomic<unsigned>* tiles) : harm(does), count(tiles) {}
      std::size_t run(DeviceTile const& tile, StreamRef stream) override {
        if (count != nullptr && ++*count == 20) harm(static_cast<cudaStream_t>(stream.native()));
        return tile.input.size();
      }
      Harm harm;
      std::atomic<unsigned>* count;
    };
    std::atomic<unsigned> on_second{0};
    std::uint64_t after = 0;
    Stages const stages = {.make =
                               [&](StageContext const& context) {
                                 auto* const count = &context.device == &second ? &on_second : nullptr;
                                 return std::make_unique<Harming>(harm, count);
                               },
                           .merge = {}};
    Report report = pipeline.run(serial([&](Tile&) -> std::optional<std::size_t> {
                                   if (on_second >= 20 && second.lost() && ++after > 500) return std::nullopt;
                                   ++filled;
                                   return 4096;
                                 }),
                                 stages, [&](Completion& completion) { failed += completion.ok() ? 0U : 1U; });
    home = pipeline.pool().on_loan() == 0;
    return report;
  }
};

/// A kernel that never ends is one GPU's matter.
int the_other_gpu_goes_on() {
  Verdict verdict;
  TwoGpusOfAPipeline two;
  Report const report = two.run(support::run_for_ever, std::chrono::milliseconds(300));
  verdict.expect(report.tiles() == two.filled && two.home, "a tile never came back");
  verdict.expect(two.failed > 0 && two.failed <= 16, "failed that none has: " + std::to_string(two.failed));
  verdict.expect(report.devices[1].failed == two.failed && !report.devices[1].loss.empty(), describe(report));
  verdict.expect(report.devices[0].failed == 0 && report.devices[0].loss.empty(), describe(report));
  verdict.expect(report.devices[0].tiles > 500, describe(report));
  verdict.expect(describe(report).find("\ncuda:1 was lost, and ") != std::string::npos, describe(report));
  verdict.expect(!two.first.lost(), "the first is lost as well");
  return verdict.exit_code();
}

/// A GPU that faults ends the process's work on all GPUs, says CUDA; at least the one that faulted is named.
int both_are_reported() {
  Verdict verdict;
  TwoGpusOfAPipeline two;
  Report const report = two.run(support::write_to_nowhere, std::chrono::seconds(20));
  verdict.expect(report.tiles() == two.filled && two.home, "a tile never came back");
  verdict.expect(report.devices[0].failed + report.devices[1].failed == two.failed, describe(report));
  verdict.expect(!report.devices[1].loss.empty(), describe(report));
  verdict.expect(report.devices[0].loss.empty() == (report.devices[0].failed == 0), describe(report));
  return verdict.exit_code();
}

TEST_F(ALostGpu, LeavesTheOtherGpuOfItsPipelineAloneIfItsKernelNeverEnds) {
  if (device_count() < 2) GTEST_SKIP() << "this takes two GPUs";
  EXPECT_EXIT(play([] { return the_other_gpu_goes_on(); }), testing::ExitedWithCode(0), Not(HasSubstr("BROKEN")));
}

TEST_F(ALostGpu, IsReportedBesideTheOtherGpuOfItsPipelineThatItsFaultTook) {
  if (device_count() < 2) GTEST_SKIP() << "this takes two GPUs";
  EXPECT_EXIT(play([] { return both_are_reported(); }), testing::ExitedWithCode(0), Not(HasSubstr("BROKEN")));
}

}  // namespace
}  // namespace penstock::cuda
