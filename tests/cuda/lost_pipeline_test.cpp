// SPDX-License-Identifier: Apache-2.0
// What a pipeline makes of a kernel that ends its GPU.
#include <set>

#include "cuda/a_lost_gpu.hpp"
#include "support/cuda_kernels.hpp"
#include <gmock/gmock.h>

#include "penstock/cuda/cuda_device.hpp"
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

}  // namespace
}  // namespace penstock::cuda
