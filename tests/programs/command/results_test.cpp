// SPDX-License-Identifier: Apache-2.0
#include "programs/command/results.hpp"

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A verdict that says something of everything.
struct AFullVerdict : testing::Test {
  Verdict verdict;
  AFullVerdict() {
    verdict.bound = Bound::upload;
    verdict.evidence = {"One.", "Two."};
    verdict.ceiling = Ceiling{50e9, "uploads alone"};
    verdict.advice = {{"--lanes 2", 1.5, "It helps."}};
    verdict.streams_will_not_help = WhyNoStreams{NoStreams::link_full, "Streams will not help."};
    verdict.device_times = DeviceTimes{.upload = 20e-6, .kernel = 10e-6, .overlap = 0.5, .speedup = 1.2};
    verdict.device_times->possible_speedup = 1.5;
  }
};

TEST_F(AFullVerdict, IsWrittenMemberByMember) {
  Json const json = as_members(verdict);
  EXPECT_EQ(json.at("bound"), "upload");
  EXPECT_EQ(json.at("evidence"), Json({"One.", "Two."}));
  EXPECT_DOUBLE_EQ(json.at("ceiling_gb_per_s").get<double>(), 50);
  EXPECT_EQ(json.at("advice").at(0).at("change"), "--lanes 2");
  EXPECT_EQ(json.at("streams_will_not_help"), "Streams will not help.");
  EXPECT_EQ(json.at("streams_reason"), "link full");
  Json const& times = json.at("device_times");
  EXPECT_DOUBLE_EQ(times.at("upload_us").get<double>(), 20);
  EXPECT_DOUBLE_EQ(times.at("kernel_us").get<double>(), 10);
  EXPECT_TRUE(times.at("download_us").is_null());
  EXPECT_DOUBLE_EQ(times.at("overlap").get<double>(), 0.5);
  EXPECT_DOUBLE_EQ(times.at("speedup").get<double>(), 1.2);
  EXPECT_DOUBLE_EQ(times.at("possible_speedup").get<double>(), 1.5);
}

TEST_F(AFullVerdict, HasALineOnTheDeviceBelow) {
  std::string const text = as_text(verdict);
  EXPECT_TRUE(text.starts_with(describe(verdict))) << text;
  EXPECT_TRUE(
      text.ends_with("\n  A tile takes upload 20.0 us, kernel 10.0 us; overlap is 50 %, which is 1.20 x of one "
                     "after the other (1 - measured / one after the other: 17 %), and 1.50 x is possible.\n"))
      << text;
}

TEST(AnEmptyVerdict, IsWrittenWithNullForWhatIsNotKnown) {
  Json const json = as_members(Verdict{});
  for (char const* const name : {"ceiling_gb_per_s", "streams_will_not_help", "streams_reason", "device_times"}) {
    EXPECT_TRUE(json.at(name).is_null()) << name;
  }
  EXPECT_EQ(as_text(Verdict{}), "bound: nothing measured\n");
}

TEST(Text, BreaksLinesBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 2, 9), "  one two\n  three\n");
  EXPECT_EQ(wrapped("unbreakable", 2, 5), "  unbreakable\n");
  EXPECT_EQ(wrapped("  a   b ", 0, 80), "a b\n");
  EXPECT_EQ(wrapped("", 2, 80), "");
}

}  // namespace
}  // namespace penstock::cli
