// SPDX-License-Identifier: Apache-2.0
// Kernels of a program's own code as stages; what only a GPU can show is in kernels_on_gpu_test.cpp.
#include <array>
#include <string>

#include "c/c_pipeline.hpp"

namespace penstock::c {
namespace {

using testing::HasSubstr;

struct AKernelOfAModule : TheCInterface {
  std::string image = "no code";
  penstock_kernel_of_module kernel = with_size<penstock_kernel_of_module>();
  penstock_stage made = with_size<penstock_stage>();

  AKernelOfAModule() {
    kernel.image = image.data();
    kernel.image_bytes = image.size();
    kernel.name = "increase";
  }
};

TEST_F(AKernelOfAModule, IsRefusedWithoutAGpu) {
  ASSERT_EQ(penstock_stage_of_kernel(&kernel, &made), PENSTOCK_OK) << penstock_last_error();
  make();
  EXPECT_EQ(penstock_begin(pipeline, nullptr, &made), PENSTOCK_UNSUPPORTED);
  EXPECT_THAT(penstock_last_error(), HasSubstr("The kernel 'increase' needs a GPU, and the lane's device is cpu:0"));
  penstock_stage_free(&made);
  EXPECT_EQ(made.run, nullptr);
  penstock_stage_free(&made);
}

TEST_F(AKernelOfAModule, IsRefusedBeforeItRunsWhereItCannotBeOne) {
  auto const is_refused = [&](std::string const& words) {
    refuses(penstock_stage_of_kernel(&kernel, &made), PENSTOCK_BAD_ARGUMENT, words);
    EXPECT_EQ(made.run, nullptr);
  };
  kernel.image_bytes = 0;
  is_refused("image of the kernel is empty");
  kernel.image_bytes = image.size();
  kernel.block = 2048;
  is_refused("1024 is the most");
  kernel.block = 0;
  kernel.name = nullptr;
  is_refused("`name` is null");
  kernel.name = "increase";
  std::array<penstock_kernel_argument, 1> arguments{{{PENSTOCK_KERNEL_VALUE, 4, nullptr}}};
  kernel.arguments = arguments.data();
  kernel.argument_count = 1;
  is_refused("`value` is null");
  arguments[0] = {PENSTOCK_KERNEL_VALUE, 0, &image};
  is_refused("has no bytes");
  arguments[0] = {99, 0, nullptr};
  EXPECT_EQ(penstock_stage_of_kernel(&kernel, &made), PENSTOCK_UNSUPPORTED);
  EXPECT_THAT(penstock_last_error(), HasSubstr("Argument 0 of the kernel 'increase'"));
}

TEST_F(AKernelOfAModule, LeavesStagesOfTheProgramAlone) {
  penstock_stage own = stage;
  penstock_stage_free(&own);
  EXPECT_EQ(own.run, stage.run);
  penstock_stage_free(nullptr);
}

}  // namespace
}  // namespace penstock::c
