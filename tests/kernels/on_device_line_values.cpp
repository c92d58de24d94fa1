// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include "kernels/line_groups.hpp"

#include "penstock/error.hpp"

namespace penstock {
namespace {

LineFields decimals(std::uint32_t places) {
  return {.separator = ',', .decimal = true, .places = places};
}
struct Written {
  std::string text;
  std::string sum;  ///< Empty: it is no number, or cannot be added.
};

TEST_P(KernelsOn, SumDecimalNumbersExactly) {
  std::string const zeros(3000, '0');
  std::vector<Written> const all{{"-3", "-3.00"},
                                 {"+2.50", "2.50"},
                                 {"1e3", "1000.00"},
                                 {"1E+3", "1000.00"},
                                 {"12345e-2", "123.45"},
                                 {"\"7\"", "7.00"},
                                 {".5", "0.50"},
                                 {"5.", "5.00"},
                                 {"-0.0", "0.00"},
                                 {"0e999999999999999999999", "0.00"},
                                 {"0.01" + zeros, "0.01"},
                                 {zeros + "1", "1.00"},
                                 {"1" + zeros + "e-3000", "1.00"},
                                 {"0." + zeros + "1e3001", "1.00"},
                                 {"1000000000000000000000e-10", "100000000000.00"},
                                 {"92233720368547758.07", "92233720368547758.07"},
                                 {"-92233720368547758.07", "-92233720368547758.07"},
                                 {"92233720368547758.08", "92233720368547758.08"},
                                 {"184467440737095516.15", "184467440737095516.15"},
                                 {"-184467440737095516.15", "-184467440737095516.15"},
                                 {"1e17", "100000000000000000.00"},
                                 {"184467440737095516.16", ""},
                                 {"-184467440737095516.16", ""},
                                 {"1e18", ""},
                                 {"1e999999999999999999999", ""},
                                 {"1e-999999999999999999999", ""},
                                 {"0.005", ""},
                                 {"1e-3", ""},
                                 {"", ""},
                                 {"-", ""},
                                 {".", ""},
                                 {"e5", ""},
                                 {"1e", ""},
                                 {"1e+", ""},
                                 {"1e5.", ""},
                                 {"1.2.3", ""},
                                 {"1-", ""},
                                 {"--1", ""},
                                 {" 1", ""},
                                 {"1 ", ""},
                                 {"0x10", ""},
                                 {"nan", ""},
                                 {"1,5", "1.00"}};
  std::string text;
  for (std::size_t k = 0; k < all.size(); ++k) text += std::to_string(k) + "," + all[k].text + "\n";
  std::vector<LineGroup> const groups = groups_of(*this, text, decimals(2), all.size() + 1);
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_EQ(groups[k].lines, 1U) << all[k].text;
    EXPECT_EQ(groups[k].without, all[k].sum.empty() ? 1U : 0U) << all[k].text;
    EXPECT_EQ(sum_text(groups[k], decimals(2)), all[k].sum.empty() ? "0.00" : all[k].sum) << all[k].text;
  }
  auto const sums = memory(2 * sizeof(LineGroup));
  EXPECT_THROW(
      sum_lines(DeviceSpan<std::byte const>(), decimals(19), DeviceSpan<std::byte>(sums).as<LineGroup>(), stream()),
      Error);
}

TEST_P(KernelsOn, SumDecimalNumbersBeyond64Bits) {
  std::string text;
  for (int k = 0; k < 7000; ++k) text += "0,9223372036854775807\n1,-9223372036854775807\n2,-1\n2,9223372036854775807\n";
  for (std::size_t const count : {std::size_t{4}, std::size_t{4096}}) {
    std::vector<LineGroup> groups = groups_of(*this, text, decimals(0), count);
    EXPECT_EQ(sum_text(groups[0], decimals(0)), "64563604257983430649000");
    EXPECT_EQ(sum_text(groups[1], decimals(18)), "-64563.604257983430649000");
    EXPECT_EQ(sum_text(groups[2], decimals(0)), "64563604257983430642000");
    EXPECT_EQ(groups[2].lines, 14'000U);
    groups[0] += groups[1];
    EXPECT_EQ(sum_text(groups[0], decimals(3)), "0.000");
  }
}

struct Moment {
  char const* text;
  std::optional<std::int64_t> seconds;
};

TEST_P(KernelsOn, GroupLinesByTime) {
  std::vector<Moment> const all{{"[10/Oct/2000:13:55:36 -0700]", 971211336},
                                {"10/Oct/2000:20:55:36", 971211336},
                                {"2000-10-10T20:55:36Z", 971211336},
                                {"2000-10-10t13:55:36.999-0700", 971211336},
                                {"\"2000-10-10 22:25:36,5+01:30\"", 971211336},
                                {"2000-10-10T13:55:36-07", 971211336},
                                {"2000-10-10T13:55 -07:00", 971211300},
                                {"2000-10-10", 971136000},
                                {"971211336", 971211336},
                                {"971211336.75", 971211336},
                                {"-1.5", -2},
                                {"-1.0", -1},
                                {"1969-12-31T23:59:59Z", -1},
                                {"2000-02-29", 951782400},
                                {"2100-02-28T23:59:59Z", 4107542399},
                                {"2100-03-01", 4107542400},
                                {"1900-03-01", -2203891200},
                                {"0000-02-29", -62162121600},
                                {"9999-12-31T23:59:59Z", 253402300799},
                                {"29/Feb/1999:00:00:00 +0000", {}},
                                {"2100-02-29", {}},
                                {"2001-04-31", {}},
                                {"2001-00-10", {}},
                                {"2001-13-10", {}},
                                {"2001-01-00", {}},
                                {"2001-01-01T24:00:00Z", {}},
                                {"2001-01-01T23:60:00Z", {}},
                                {"2001-01-01T23:59:60Z", {}},
                                {"2001-01-01T23:59:59+24:00", {}},
                                {"2001-01-01T23:59:59+01:60", {}},
                                {"2001-01-01T23:59:59 UTC", {}},
                                {"2001-01-01T23:59:59.Z", {}},
                                {"2001-01-01T", {}},
                                {"2001-1-01", {}},
                                {"2001-01-01Z", {}},
                                {"[10/Oct/2000:13:55:36 -0700", {}},
                                {"10/oct/2000:13:55:36 -0700", {}},
                                {"10/Okt/2000:13:55:36 -0700", {}},
                                {"10/Oct/2000:13:55 -0700", {}},
                                {"1.5e9", {}},
                                {"12345678901234567890", {}},
                                {"1.", {}},
                                {"-", {}},
                                {"", {}}};
  for (Moment const& moment : all) {
    std::string const line = std::string(moment.text) + "|5\n";
    LineFields fields{.separator = '|', .group_seconds = 1, .first_second = moment.seconds.value_or(0) - 2};
    std::size_t const group = moment.seconds ? 2 : 3;
    EXPECT_EQ(groups_of(*this, line, fields, 4)[group], (LineGroup{.lines = 1, .sum = 5})) << moment.text;
    EXPECT_EQ(first_time(line, fields), moment.seconds) << moment.text;
    if (*moment.text == '"') continue;  // The quotes are of the table.
    EXPECT_EQ(time_of_text(moment.text), moment.seconds) << moment.text;
  }
  std::string const log = R"(1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a b HTTP/1.1" 200 100)"
                          "\n"
                          R"(1.2.3.4 - - [17/May/2015:12:59:59 +0200] "GET /a b HTTP/1.1" 200 11)"
                          "\n"
                          R"(1.2.3.4 - - [17/May/2015:09:59:59 +0000] "GET /a b HTTP/1.1" 200 1)";
  LineFields fields = access_log_fields;
  fields.key = access_log_time;
  fields.group_seconds = 3600;
  EXPECT_EQ(first_time("rubbish\n" + log, fields), 1431857103);
  fields.first_second = 1431856800;
  EXPECT_EQ(groups_of(*this, log, fields, 3)[0], (LineGroup{.lines = 2, .sum = 111}));
  EXPECT_EQ(groups_of(*this, log, fields, 3)[2], (LineGroup{.lines = 1, .sum = 1}));
  EXPECT_EQ(group_name(14, fields), "2015-05-18T00:00:00Z");
  EXPECT_EQ(group_name(14, LineFields{}), "14");
  // A year of days, and one in which all centuries differ.
  for (std::int64_t day = -200'000; day < 200'000; day += 97) {
    LineFields const days{.group_seconds = 86'400, .first_second = day * 86'400};
    ASSERT_EQ(time_of_text(group_name(1, days)), (day + 1) * 86'400) << group_name(1, days);
  }
  LineFields const json{.format = LineFormat::json,
                        .key_name = LineName("t"),
                        .number_name = LineName("n"),
                        .group_seconds = 60,
                        .first_second = 971211300};
  EXPECT_EQ(groups_of(*this, "{\"t\":\"2000-10-10T20:55:36Z\",\"n\":-2}\n{\"n\":3,\"t\":971211337.5}", json, 2)[0],
            (LineGroup{.lines = 2, .sum = 1}));
}

}  // namespace
}  // namespace penstock
