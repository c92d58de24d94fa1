// SPDX-License-Identifier: Apache-2.0
#include "programs/doctor/links_text.hpp"

#include <algorithm>

#include <gmock/gmock.h>

#include "models/models.hpp"

namespace penstock::cli {
namespace {

using testing::HasSubstr;

TEST(RateOfLink, FollowsFromItsName) {
  EXPECT_NEAR(rate_of_link("PCIe 2 x16").value(), 8, 1e-9);
  EXPECT_NEAR(rate_of_link("PCIe 3 x16").value(), 15.75, 0.01);
  EXPECT_NEAR(rate_of_link("PCIe 4 x16").value(), 31.5, 0.02);
  EXPECT_NEAR(rate_of_link("PCIe 5 x8").value(), 31.5, 0.02);
  EXPECT_EQ(rate_of_link("NVLink 3"), 300);
  EXPECT_EQ(rate_of_link("NVLink-C2C"), 450);
}

TEST(RateOfLink, IsEmptyForOtherNames) {
  for (char const* const name : {"", "a cable", "PCIe 9 x16", "PCIe 0 x16", "NVLink"}) {
    EXPECT_FALSE(rate_of_link(name)) << name;
  }
}

TEST(RateOfLink, IsAboveThatOfEachModel) {
  for (std::string const& name : built_in_models()) {
    auto const model = built_in_model(name).value();
    EXPECT_GT(rate_of_link(model.link_name).value_or(0), std::max(model.link.up, model.link.down)) << name;
    EXPECT_EQ(model.link.peer > 0, !model.peer_name.empty()) << name;
    if (model.link.peer > 0) {
      EXPECT_GT(rate_of_link(model.peer_name).value_or(0), model.link.peer) << name;
    }
  }
}

/// A model with a slow link and one with a fast one, of which one reaches other GPUs.
struct TwoModels : testing::Test {
  cpu::DeviceModel slow, fast;
  TwoModels() {
    using Time = cpu::DeviceModel::Time;
    slow.link_name = "PCIe 3 x16";
    slow.link = {.up = 12, .down = 12, .both = 11, .peer = 0, .copy = Time(2.5)};
    fast.link_name = "PCIe 5 x16";
    fast.peer_name = "NVLink 4";
    fast.link = {.up = 50, .down = 50, .both = 45, .peer = 400, .copy = Time(500)};
  }
  std::string text() const { return links_text({{"fast", fast}, {"slow", slow}}); }
};

TEST_F(TwoModels, HaveTheSlowerLinkFirst) {
  EXPECT_LT(text().find("slow"), text().find("fast"));
}

TEST_F(TwoModels, SayWhatAnEmptyCopyAndAGigabyteTake) {
  EXPECT_THAT(text(), HasSubstr("2.500     83.34\n"));
  EXPECT_THAT(text(), HasSubstr("500.0     20.50\n")) << "it includes what an empty copy takes";
  EXPECT_THAT(text(), HasSubstr("500.0     3.000\n")) << "that to another GPU does too";
}

TEST_F(TwoModels, HaveTheRateByNameBesideThatOfTheModel) {
  EXPECT_THAT(text(), testing::ContainsRegex("slow +PCIe 3 x16 +15\\.75 +12\\.00 +12\\.00 +11\\.00"));
  EXPECT_THAT(text(), testing::ContainsRegex("fast +NVLink 4 +450\\.0 +400\\.0"));
}

TEST_F(TwoModels, LeaveOutALinkThatIsNotThere) {
  EXPECT_EQ(text().rfind("slow"), text().find("slow")) << text();
}

}  // namespace
}  // namespace penstock::cli
