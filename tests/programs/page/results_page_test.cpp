// SPDX-License-Identifier: Apache-2.0
#include "programs/page/results_page.hpp"

#include <cstddef>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view begin_of_results = R"(<script type="application/json" id="results">)";

/// Returns what a browser takes for the results.
std::string results_in(std::string const& page) {
  std::size_t const begin = page.find(begin_of_results) + begin_of_results.size();
  return page.substr(begin, page.find("</script", begin) - begin);
}
std::size_t count(std::string_view text, std::string_view wanted) {
  std::size_t found = 0;
  for (auto at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + wanted.size())) ++found;
  return found;
}

TEST(ResultsPage, HasTheResultsInItAsTheyAre) {
  std::string const results = R"({"schema": 1, "kind": "bench", "command": "penstock bench --tile \"4 KiB\" \\ µ"})";
  EXPECT_EQ(results_in(results_page(results, "a title")), results);
}

TEST(ResultsPage, HasTheTitleAsText) {
  EXPECT_THAT(results_page("{}", "1 < 2 & <b>x</b>"), HasSubstr("<title>1 &lt; 2 &amp; &lt;b&gt;x&lt;/b&gt;</title>"));
}

TEST(ResultsPage, LetsNothingInTheResultsEndTheirElement) {
  std::string const page =
      results_page(R"({"a": "</script><script>alert(1)</script>", "b": "<!--", "c": "</SCRIPT "})", "");
  EXPECT_EQ(results_in(page),
            R"({"a": "\u003c/script>\u003cscript>alert(1)\u003c/script>", "b": "\u003c!--", "c": "\u003c/SCRIPT "})");
  EXPECT_EQ(count(page, "<script"), count(results_page("{}", ""), "<script"));
}

TEST(ResultsPage, EscapesTheTwoLineSeparatorsAndNoOtherLetters) {
  EXPECT_EQ(results_in(results_page("[\"\xE2\x80\xA8 \xE2\x80\xA9 \xE2\x80\xA7 \xE2\x80\"]", "")),
            "[\"\\u2028 \\u2029 \xE2\x80\xA7 \xE2\x80\"]");
}

TEST(ResultsPage, TakesLittleBesidesTheResults) {
  EXPECT_LT(results_page("{}", "").size(), 200'000u);
}

TEST(ResultsPage, TakesLessThanAMegabyteWithAsManyPassagesAsAreAdvised) {
  std::string passages;
  for (int tile = 0; tile < 15'000; ++tile) {
    passages += (tile ? ",[12,10," : "[12,10,") + std::to_string(1'000'000 + tile) + ",1234567890,1234599990]";
  }
  EXPECT_LT(results_page(R"({"schema":1,"timeline":{"passages":[)" + passages + "]}}", "").size(), 1'000'000u);
}

/// Nothing in it makes a browser ask a network: only names of specifications and a licence may look like an address.
TEST(ResultsPage, LoadsNothing) {
  std::string const page = results_page("{}", "");
  for (std::string_view const loads :
       {" src=", "@import", "url(", "<iframe", "<object", "fetch(", "XMLHttpRequest", "WebSocket("}) {
    EXPECT_EQ(count(page, loads), 0u) << loads;
  }
  EXPECT_EQ(count(page, "href="), 2u) << "one to the page's own content, one icon that is data";
  EXPECT_EQ(count(page, "http://"), 0u);
  EXPECT_EQ(count(page, "https://"), 1u) << "uPlot says in its first line where it comes from";
}

TEST(ResultsPage, ForbidsItselfToLoadAndToRunWhatDidNotComeWithIt) {
  std::string const page = results_page("{}", "");
  std::size_t const begin = page.find("http-equiv=\"Content-Security-Policy\" content=\"");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_LT(begin, page.find("<style")) << "it counts only for what comes after it";
  std::string const policy = page.substr(begin, page.find('>', begin) - begin);
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_EQ(count(policy, "'sha256-"), count(page, "<style>") + count(page, "<script>"));
}

TEST(ResultsPage, NamesTheLicenceOfTheChartsInIt) {
  EXPECT_THAT(results_page("{}", ""), HasSubstr("Copyright (c) 2022 Leon Sorokin"));
}

}  // namespace
}  // namespace penstock
