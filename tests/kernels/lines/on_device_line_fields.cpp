// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "kernels/lines/line_groups.hpp"
#include "penstock/lines.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;
using Groups = std::vector<LineGroup>;

TEST_P(KernelsOn, SumLinesOfAnAccessLog) {
  std::string const text = R"(1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a b HTTP/1.1" 200 100 "-" "x")"
                           "\n"
                           R"(1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /\"c\" d HTTP/1.1" 404 7 "-" "x")"
                           "\n"
                           R"(1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 304 -)"
                           "\r\n"
                           "rubbish\n\n"
                           R"(1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 11)";
  auto const groups = groups_of(*this, text, access_log_fields, 601);
  EXPECT_EQ(groups[200], (LineGroup{2, 111}));
  EXPECT_EQ(groups[404], (LineGroup{1, 7}));
  EXPECT_EQ(groups[304], (LineGroup{1, 0}));
  EXPECT_EQ(groups[600], (LineGroup{2, 0}));
}

TEST_P(KernelsOn, FindTheStatusInAccessLogsWhateverIsInFrontOfIt) {
  std::mt19937 random(11);
  auto const one_of = [&](std::vector<std::string> const& all) { return all[random() % all.size()]; };
  std::vector<std::string> const hosts{
      "192.0.2.1", "www.example.com:80 192.0.2.1", "192.0.2.1, 198.51.100.7", "[::1]:80 ::1", "192.0.2.1 200 5", ""};
  std::vector<std::string> const users{"-",      "John Doe", "us[er", "[5] b", "[x]",
                                       "a\\\"b", "\"a b\"",  "a]",    "5",     "a \" 7 8"};
  std::vector<std::string> const times{"17/May/2015:10:05:03 +0000", " 7/May/2015:10:05:03 +0000"};
  std::vector<std::string> const requests{"GET / HTTP/1.1",
                                          "GET /a b\\\"c HTTP/1.1",
                                          "GET /a\"b HTTP/1.1",
                                          "GET /\" 7 8 HTTP/1.1",
                                          "",
                                          "-",
                                          "GET /[a] \\\\",
                                          "\\x16\\x03\\",
                                          "GET /\" \"HTTP",
                                          "\"",
                                          "GET /a\\\" \"x"};
  std::vector<std::string> const rests{"", " \"-\" \"curl\"", " \"http://a/\\\"b\" \"x y [5] z\" 0.005", " x"};
  Groups expected(601);
  std::string text;
  for (unsigned k = 0; k < 5000; ++k) {
    std::size_t const status = 200 + random() % 400;
    std::size_t const bytes = random() % 10'000;
    bool const has_bytes = random() % 5 != 0, is_log = random() % 20 != 0;
    text += one_of(hosts) + " - " + one_of(users) + (is_log ? " [" : " (") + one_of(times) + "] \"" + one_of(requests) +
            "\" " + std::to_string(status) + " " + (has_bytes ? std::to_string(bytes) : "-") + one_of(rests) +
            (random() % 9 == 0 ? "\r\n" : "\n");
    expected[is_log ? status : 600] += {.lines = 1, .sum = is_log && has_bytes ? bytes : 0};
  }
  // None of these has a time, a request and a status where they may be.
  for (std::string const line :
       {"", "rubbish", "1 - - [17/May/2015:10:05:03 +0000]", "1 - - [17/May/2015:10:05:03 +0000] \"",
        "1 - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1", "1 - - [17/May/2015:10:05:03 +0000] \"GET /\"",
        "1 - - [17/May/2015:10:05:03 +0000] \"GET /\" 20 5", "1 - - [5] \"GET /\" 200 5",
        "1 - - [17/May/2015:10:05:03 +0000] \"GET /\" 200 x", "1 - - [17/May/2015:10:05:03 +0000] 200 5 6",
        "1 - - - \"GET /\" 200 5 7", "1 2 3 4 5 200 5"}) {
    text += line + "\n";
    expected[600] += {.lines = 1};
  }
  auto const [groups, reasons] = totals_of(*this, text, access_log_fields, expected.size());
  EXPECT_EQ(groups, expected);
  EXPECT_EQ(reasons.keys_of(LineReason::shifted), expected[600].lines);
}

TEST_P(KernelsOn, EndTheRequestOfAnAccessLogAtTheFirstQuoteWithAStatusBehindIt) {
  std::string const text =
      "1 - - [17/May/2015:10:05:03 +0000] \"\"\" 200 5 \"a\" 404 7\n"
      "1 - - [17/May/2015:10:05:03 +0000] \"\" 200 5 \"\" 404 7\n"
      "1 - - [17/May/2015:10:05:03 +0000] \"GET /\"\"a b\" 200 5 \"\"\" 404 7\n";
  EXPECT_EQ(groups_of(*this, text, access_log_fields, 601)[200], (LineGroup{.lines = 3, .sum = 15}));
}

TEST_P(KernelsOn, NumberTheFieldsOfAnAccessLogFromItsTime) {
  std::string const text =
      "1.2.3.4 5 6 [17/May/2015:10:05:03 +0000] \"GET /\" 200 7 \"-\" \"9 x\" 8 9\n"
      "www.example.com 1.2.3.4 5 6 [17/May/2015:10:05:03 +0000] \"GET /a\"b\" 200 7 \"-\" \"9 x\" 8 9\n";
  auto const counted = [&](std::uint32_t key, std::uint32_t number) {
    LineFields fields = access_log_fields;
    fields.key = key;
    fields.number = number;
    Groups const groups = groups_of(*this, text, fields, 11);
    std::string all;
    for (std::size_t k = 0; k < groups.size(); ++k) {
      if (groups[k].lines != 0)
        all += std::to_string(k) + ":" + std::to_string(groups[k].lines) + "/" + std::to_string(groups[k].sum) + " ";
    }
    return all;
  };
  EXPECT_EQ(counted(6, 9), "7:2/16 ");
  EXPECT_EQ(counted(10, 5), "9:2/400 ");
  EXPECT_EQ(counted(2, 6), "6:1/7 10:1/7 ") << "what is in front of the time counts if it is three fields";
  EXPECT_EQ(counted(9, 1), "8:2/5 ");
}

TEST_P(KernelsOn, SumWordsAsAwkHasThem) {
  LineFields const words{.key = 1, .number = 0, .format = LineFormat::words};
  EXPECT_THAT(groups_of(*this, "      3 2\n\t12 \t 1 \n5\t\t2 x\r\n\n   \n7 \"1\" 1\n8\n  9 2\r\n", words, 4),
              ElementsAre(LineGroup{0, 0}, LineGroup{1, 12}, LineGroup{3, 17}, LineGroup{4, 15}));
  auto const reasons = totals_of(*this, "8\n\n  \n8 \n \r\n", words, 4).reasons;
  EXPECT_EQ(reasons.keys_of(LineReason::no_field), 5U);
}

TEST_P(KernelsOn, TakeQuotesInFieldsThatDoNotBeginWithOneAsTheyAre) {
  LineFields const csv{.separator = ',', .key = 0, .number = 2};
  EXPECT_THAT(
      groups_of(
          *this,
          "1,3.5\" disk,5\n1,5\" nail,\"7\"\n1,\"a \"\"b\"\", c\",11\n1,\"\",13\n1,\"\"\"\",17\n1,\"a\"b\"c,19\n2, \"a,"
          "23\n2,x,\"2\"\"3\"\n2,x,\"5\n2,x,\"\"5\"\"\n2,x,5\"\n\"2\"2,x,1\n",
          csv, 4),
      ElementsAre(LineGroup{0, 0}, LineGroup{6, 72}, LineGroup{5, 23}, LineGroup{1, 1}));
}

TEST_P(KernelsOn, CountTheLinesThatEndWithinQuotes) {
  LineFields const csv{.separator = ',', .key = 0, .number = 1};
  std::string const far(2500, 'x'), text = "1,5,\"a\nb\",7\n1,5,\"a\"\"\n1,5,a\"\n1,\"5\n1,5,\"" + far + "\n1,5," +
                                           far + "\"\n1,5,\"" + far + "\"\n1,5," + far + ",\"y,\n\"\"\n" + far + ",\"";
  auto const [groups, reasons] = totals_of(*this, text, csv, 3);
  EXPECT_EQ(reasons.open_quotes, 6U);
  EXPECT_EQ(groups[1], (LineGroup{8, 35}));
  LineFields escaped = csv;
  escaped.escape = '\\';
  EXPECT_EQ(totals_of(*this, text, escaped, 3).reasons.open_quotes, 0U);
  std::string many;
  for (int k = 0; k < 4000; ++k)
    many += "1,5,x,\"yyyyyyyyyyyyyyyyyyyyyyyy" + std::string(static_cast<std::size_t>(k % 90), ' ') +
            (k % 3 == 0 ? "\n" : "\",\"z\"\n");
  EXPECT_EQ(totals_of(*this, many, csv, 3).reasons.open_quotes, 1334U);
}

}  // namespace
}  // namespace penstock
