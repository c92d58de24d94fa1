// SPDX-License-Identifier: Apache-2.0
// What a pipeline makes of a kernel that ends its GPU.
#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "cuda/a_lost_gpu.hpp"
#include "support/cuda_kernels.hpp"
#include <gmock/gmock.h>

#include "penstock/cuda/cuda_device.hpp"
#include "penstock/cuda/enumerate.hpp"
#include "penstock/flow/pipeline.hpp"

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
                          .tiles = 16,
                          .producers = 2,
                          .lanes = 2,
                          .consumers = 1,
                          .slots = 4,
                          .ordered = ordered});
  std::uint64_t filled = 0;
  std::set<std::uint64_t> seen;
  std::uint64_t done = 0, failed = 0;
  Report const report = pipeline.run(
      [&](Tile&) -> std::optional<std::size_t> {
        ++filled;
        return 4096;
      },
      each_tile([](DeviceTile const& tile, StreamRef stream) {
        if (tile.sequence == 50) support::write_to_nowhere(static_cast<cudaStream_t>(stream.native()));
        return tile.input.size();
      }),
      [&](Completion& completion) {
        verdict.expect(seen.insert(completion.loan->sequence).second, "a tile came back twice");
        verdict.expect(completion.outcome != Outcome::cancelled, "a tile was cancelled, and nobody asked");
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
    pipeline.run([](Tile&) -> std::optional<std::size_t> { return std::nullopt; },
                 each_tile([](DeviceTile const&, StreamRef) { return std::size_t{0}; }), [](Completion&) {});
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

/// The 20th tile of the second GPU writes to nowhere. The first goes on, and the report says which was lost.
int the_other_gpu_goes_on() {
  Verdict verdict;
  CudaDevice first(0), second(1);
  Pipeline pipeline({&first, &second}, {.tile = {.input_bytes = 4096, .output_bytes = 4096, .in_place = true},
                                        .tiles = 16,
                                        .producers = 1,
                                        .lanes = 2,
                                        .consumers = 1,
                                        .slots = 4});
  std::atomic<unsigned> on_second{0};
  std::uint64_t filled = 0, after = 0, failed = 0;
  Stages const stages = {.make =
                             [&](StageContext const& context) {
                               struct Breaking final : Stage {
                                 Breaking(std::atomic<unsigned>* tiles) : count(tiles) {}
                                 std::size_t run(DeviceTile const& tile, StreamRef stream) override {
                                   if (count != nullptr && ++*count == 20) {
                                     support::write_to_nowhere(static_cast<cudaStream_t>(stream.native()));
                                   }
                                   return tile.input.size();
                                 }
                                 std::atomic<unsigned>* count;
                               };
                               return std::make_unique<Breaking>(&context.device == &second ? &on_second : nullptr);
                             },
                         .merge = {}};
  Report const report = pipeline.run(
      [&](Tile&) -> std::optional<std::size_t> {
        if (on_second >= 20 && second.lost() && ++after > 500) return std::nullopt;
        ++filled;
        return 4096;
      },
      stages, [&](Completion& completion) { failed += completion.ok() ? 0U : 1U; });
  verdict.expect(report.tiles() == filled, "a tile never came back");
  verdict.expect(failed > 0 && failed <= 16, "as many tiles failed as a pool has not: " + std::to_string(failed));
  verdict.expect(report.devices[1].failed == failed && !report.devices[1].loss.empty(), describe(report));
  verdict.expect(report.devices[0].failed == 0 && report.devices[0].loss.empty(), describe(report));
  verdict.expect(describe(report).find("\ncuda:1 was lost, and ") != std::string::npos, describe(report));
  verdict.expect(!first.lost(), "the first is lost as well");
  return verdict.exit_code();
}

TEST_F(ALostGpu, LeavesTheOtherGpuOfItsPipelineAlone) {
  if (device_count() < 2) GTEST_SKIP() << "this takes two GPUs";
  EXPECT_EXIT(play([] { return the_other_gpu_goes_on(); }), testing::ExitedWithCode(0), Not(HasSubstr("BROKEN")));
}

}  // namespace
}  // namespace penstock::cuda
