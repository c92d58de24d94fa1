// SPDX-License-Identifier: Apache-2.0
// What kernels of a program in C cost on a model of a GPU.
#include "c/c_pipeline.hpp"

namespace penstock::c {
namespace {

using testing::HasSubstr;

/// The same with one tile on a model of a GPU, whose clock is half as fast as this machine's.
struct TheCInterfaceOnAModel : TheCInterface {
  static constexpr double seconds = 0.2;  // More than all else that a run takes.
  penstock_kernel_cost cost = with_size<penstock_kernel_cost>();

  TheCInterfaceOnAModel() : TheCInterface("model:h200@2") {
    input_tiles = 1;
    stage.user = &cost;
    stage.run = [](void* state, penstock_device_tile const*, penstock_stream* stream) -> std::int64_t {
      auto const* const stated = static_cast<penstock_kernel_cost const*>(state);
      auto const nothing = [](void*, std::uint32_t) {};
      return penstock_stream_launch(stream, 1, nothing, nullptr, 0, stated->size > 0 ? stated : nullptr) == PENSTOCK_OK
                 ? 0
                 : -1;
    };
  }
  void takes_that_long() {
    run();
    EXPECT_THAT(failures, testing::IsEmpty());
    EXPECT_GE(report_data()["wall_s"], seconds);
  }
};

TEST_F(TheCInterfaceOnAModel, TakesTheTimeThatAKernelStates) {
  cost.nanoseconds = static_cast<std::uint64_t>(seconds * 1e9);
  takes_that_long();
}
/// An H200 does not access 10 TB in a second.
TEST_F(TheCInterfaceOnAModel, TakesTheTimeOfBytesRead) {
  cost.read_bytes[1] = static_cast<std::size_t>(seconds * 10e12);
  takes_that_long();
}
TEST_F(TheCInterfaceOnAModel, TakesTheTimeOfBytesWritten) {
  cost.write_bytes = static_cast<std::size_t>(seconds * 10e12);
  takes_that_long();
}
/// Nor does it 2e14 operations, or 5e15 on its tensor cores.
TEST_F(TheCInterfaceOnAModel, TakesTheTimeOfOperations) {
  cost.flops = seconds * 2e14;
  takes_that_long();
}
TEST_F(TheCInterfaceOnAModel, TakesTheTimeOfOperationsOnTensorCores) {
  cost.tensor_flops = seconds * 5e15;
  takes_that_long();
}
/// A multiprocessor has room for 2 blocks of 1024 threads, and an H200 has 132.
TEST_F(TheCInterfaceOnAModel, TakesTheTimeOfEachWaveOfBlocks) {
  cost.nanoseconds = static_cast<std::uint64_t>(seconds * 1e8);
  cost.blocks = 10 * 2 * 132;
  cost.block_threads = 1024;
  takes_that_long();
}

TEST_F(TheCInterfaceOnAModel, RefusesAKernelWithoutACost) {
  cost.size = 0;
  run();
  EXPECT_THAT(failures, testing::ElementsAre(HasSubstr("pass a penstock_kernel_cost")));
  EXPECT_THAT(kinds, testing::ElementsAre(PENSTOCK_BAD_ARGUMENT));
}

}  // namespace
}  // namespace penstock::c
