// SPDX-License-Identifier: Apache-2.0
#include "penstock/report.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

std::vector<std::string> messages;  // NOLINT: a hook has no object.

void keep(std::string_view sentence) noexcept {
  messages.emplace_back(sentence);
}

/// Messages are kept, and each test leaves none that it did not expect.
struct ReportOfARun : testing::Test {
  ReportOfARun() : before(set_message_hook(&keep)) { messages.clear(); }
  void TearDown() override {
    set_message_hook(before);
    EXPECT_THAT(messages, testing::IsEmpty());
  }

  static Report as_pipelines_return(Report report) {
    report.unread = UnreadReport(report);
    return report;
  }
  static Report done(std::uint64_t tiles) {
    Report report;
    report.tiles_done = tiles;
    return report;
  }
  static Report failed() {
    Report report = done(2);
    report.tiles_failed = 1;
    report.first_failure = FirstFailure{.failure = {.stage = "source", .reason = "The disk is gone."}, .sequence = 2};
    return as_pipelines_return(report);
  }

  MessageHook const before;
};

TEST_F(ReportOfARun, SaysWhatFailedIfItDiesUnread) {
  static_cast<void>(failed());
  ASSERT_THAT(messages, testing::SizeIs(1));
  EXPECT_THAT(messages.front(), testing::HasSubstr("2 tiles done, 1 failed"));
  EXPECT_THAT(messages.front(), testing::HasSubstr("at source: The disk is gone."));
  EXPECT_THAT(messages.front(), testing::Not(testing::HasSubstr("\n")));
  messages.clear();
}

TEST_F(ReportOfARun, SaysNothingOnceItIsAskedOrDescribed) {
  EXPECT_FALSE(failed().ok());
  EXPECT_THAT(describe(failed()), testing::HasSubstr("1 failed"));
}

TEST_F(ReportOfARun, IsReadIfAnyCopyWas) {
  std::optional<Report> first = failed();
  Report const second = *first;
  first.reset();
  EXPECT_FALSE(second.ok());
}

TEST_F(ReportOfARun, SaysNothingIfAllWentWell) {
  static_cast<void>(as_pipelines_return(done(3)));
}

TEST_F(ReportOfARun, IsNotOkIfInputIsLost) {
  Report report = done(3);
  report.left_out = {{.unit = "line", .reason = "in the row `other`", .count = 4, .lost = false}};
  EXPECT_TRUE(report.ok());
  report.left_out.push_back({.unit = "line", .reason = "too long for a tile", .count = 1});
  EXPECT_FALSE(report.ok());
  EXPECT_THAT(describe(report),
              testing::HasSubstr("\nLeft out: 4 lines, in the row `other`; 1 line, too long for a tile."));
}

}  // namespace
}  // namespace penstock
