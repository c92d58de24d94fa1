// SPDX-License-Identifier: Apache-2.0
#include "observe/report_json.hpp"

#include <chrono>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(VerdictAsJson, HasAllMembersInTheirOrder) {
  Verdict verdict;
  EXPECT_EQ(as_members(verdict).dump(),
            R"({"bound":"nothing measured","evidence":[],"ceiling_gb_per_s":null,"advice":[],"no_advice":null,)"
            R"("streams_will_not_help":null,"streams_reason":null,"device_times":null})");
  verdict.bound = Bound::upload;
  verdict.evidence = {"One.", "Two."};
  verdict.ceiling = Ceiling{50e9, "uploads alone"};
  verdict.advice = {{"--lanes 2", 1.5, "It helps."}};
  verdict.streams_will_not_help = WhyNoStreams{NoStreams::link_full, "Streams will not help."};
  verdict.device_times = DeviceTimes{.upload = 20e-6, .kernel = 10e-6, .overlap = 0.5, .speedup = 1.25};
  verdict.device_times->possible_speedup = 1.5;
  EXPECT_EQ(as_members(verdict).dump(),
            R"({"bound":"upload","evidence":["One.","Two."],"ceiling_gb_per_s":50.0,)"
            R"("advice":[{"change":"--lanes 2","gain":1.5,"why":"It helps."}],"no_advice":null,)"
            R"("streams_will_not_help":"Streams will not help.","streams_reason":"link full",)"
            R"("device_times":{"upload_us":20.0,"kernel_us":10.0,"download_us":null,"overlap":0.5,)"
            R"("speedup":1.25,"possible_speedup":1.5}})");
}

/// Two tiles done, one failed, and input left out.
struct AReportAsJson : testing::Test {
  Report report;
  AReportAsJson() {
    report.tiles_done = 2;
    report.tiles_failed = 1;
    report.bytes_in = 128;
    report.wall = std::chrono::milliseconds(1500);
    report.left_out = {{.unit = "record", .reason = "too long", .count = 3}};
    Attribution attribution;
    attribution.culprits = {{.sequence = 1, .tag = 9, .failure = {"stage", "It failed."}}};
    attribution.innocent = {0, 2};
    report.attribution = std::make_shared<Attribution const>(attribution);
  }
};

TEST_F(AReportAsJson, HasTheMembersOfRunInTheirOrder) {
  EXPECT_EQ(count_members(report).dump(),
            R"({"tiles":2,"failed":1,"cancelled":0,"bytes_in":128,"bytes_out":0,"wall_s":1.5})");
  EXPECT_EQ(left_out_json(report.left_out).dump(),
            R"([{"unit":"record","reason":"too long","count":3,"bytes":null,"remedy":null,"lost":true}])");
  EXPECT_EQ(attribution_json(report.attribution.get()).dump(),
            R"({"culprits":[{"sequence":1,"tag":9,"stage":"stage","reason":"It failed."}],"innocent":[0,2],)"
            R"("not_tried":[],"remark":null})");
  EXPECT_TRUE(attribution_json(nullptr).is_null());
}

TEST_F(AReportAsJson, ReplacesWhatIsNoUtf8) {
  report.placement = "a\xff";
  auto const json = nlohmann::json::parse(report_json(report));
  EXPECT_EQ(json["placement"], "a\xEF\xBF\xBD");
  EXPECT_EQ(json["left_out"][0]["count"], 3);
}

}  // namespace
}  // namespace penstock
