// SPDX-License-Identifier: Apache-2.0
#include "course/data_sheets.hpp"

#include <gtest/gtest.h>

#include "models/models.hpp"

namespace penstock::lab {
namespace {

TEST(ADataSheet, IsThatOfTheDeviceOrOfTheOneThatIsModelled) {
  EXPECT_EQ(data_sheet_of("NVIDIA A100-SXM4-80GB")->memory, 2.039e12);
  EXPECT_EQ(data_sheet_of("model of NVIDIA A100 80GB")->tensor, 312e12);
  EXPECT_EQ(data_sheet_of("NVIDIA H200")->memory, 4.8e12);
  EXPECT_EQ(data_sheet_of("NVIDIA GH200 96GB")->memory, 4e12) << "its name ends as that of the H200";
  EXPECT_EQ(data_sheet_of("Tesla T4")->tensor, 65e12);
}

TEST(ADataSheet, IsNotThatOfACardWithASimilarName) {
  for (char const* const other : {"CPU device", "NVIDIA L40S", "NVIDIA A100-PCIE-40GB", "NVIDIA GB200", "Tesla K20c"}) {
    EXPECT_FALSE(data_sheet_of(other)) << other;
  }
}

TEST(ADataSheet, MeetsWhereTheTextSays) {
  EXPECT_DOUBLE_EQ(a100_of_the_text.meet(), 156);
}

TEST(ADataSheet, PromisesNoLessThanItsModelReaches) {
  for (auto const& name : built_in_models()) {
    auto const model = built_in_model(name).value();
    auto const sheet = data_sheet_of(model.name);
    EXPECT_EQ(sheet.has_value(), model.kernels.tensor_tera_flops > 0) << name;
    if (!sheet) continue;
    EXPECT_GE(sheet->tensor, 1e12 * model.kernels.tensor_tera_flops) << name;
    EXPECT_GE(sheet->memory, 1e9 * model.kernels.memory) << name;
  }
}

}  // namespace
}  // namespace penstock::lab
