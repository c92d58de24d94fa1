// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/lines/line_groups.hpp"

namespace penstock {
namespace {

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
                                // Other kinds of text.
                                {"10/oct/2000:13:55:36 -0700", 971211336},
                                {"[ 1/Oct/2000:13:55:36 -0700]", 970433736},
                                {"1/Oct/2000", 970358400},
                                {"2000-10-10T20:55:36 UTC", 971211336},
                                {"2000-10-10 20:55:36.5 GMT", 971211336},
                                {"2000-10-10 20:55:36UTC", 971211336},
                                {"2000-1-1 0:00", 946684800},
                                {"2000/10/10 20:55:36", 971211336},
                                {"2000-10-10 22:55:36 CEST", 971211336},
                                {"Tue, 10 Oct 2000 16:55:36 EDT", 971211336},
                                {"Tue, 10 Oct 2000 20:55:36 UT", 971211336},
                                {"2000-10-10 8:55:36.25 PM", 971211336},
                                {"Oct 10, 2000 8:55:36 pm UTC", 971211336},
                                {"2000-10-10 12:00 AM", 971136000},
                                {"2000-10-10 12:00pm", 971179200},
                                {"2000/10/10", 971136000},
                                {"[Tue Oct 10 20:55:36.902022 2000]", 971211336},
                                {"Tue Oct 10 20:55:36 2000", 971211336},
                                {"Sun Oct  1 20:55:36 UTC 2000", 970433736},
                                {"Tue Oct 10 2000 13:55:36 GMT-0700 (PDT)", 971211336},
                                {"Tue, 10 Oct 2000 20:55:36 GMT", 971211336},
                                {"Tue, 10 Oct 2000 13:55:36 -0700 (PDT)", 971211336},
                                {"10 October 2000 20:55", 971211300},
                                {"Tuesday, 10-Oct-00 20:55:36 GMT", 971211336},
                                {"10-OCT-2000", 971136000},
                                {"Oct 10, 2000", 971136000},
                                {"October 10 2000 20:55:36", 971211336},
                                {"20001010", 971136000},
                                {"20001010T205536Z", 971211336},
                                {"20001010T2055", 971211300},
                                {"20001010205536", 971211336},
                                {"200010102055", 971211300},
                                {"20001010 20:55:36", 971211336},
                                // A leap second is in the minute that it ends.
                                {"2016-12-31T23:59:60Z", 1483228799},
                                {"31/Dec/2016:23:59:60 +0000", 1483228799},
                                {"2017-01-01T05:29:60+05:30", 1483228799},
                                {"2017-01-01 00:59:60", 1483232399},
                                {"2001-01-01T23:59:60Z", 978393599},
                                // Numbers: their size says the unit.
                                {"253402300799", 253402300799},
                                {"315532800000", 315532800},
                                {"1431857103123", 1431857103},
                                {"1431857103123.75", 1431857103},
                                {"-315532800001", -315532801},
                                {"1431857103123456", 1431857103},
                                {"1431857103123456789", 1431857103},
                                {"253402300799999", 253402300799},
                                {"18446744073709551615", 18446744073},
                                {"-62167219200", -62167219200},
                                {"253402300800", {}},
                                {"315532799999", {}},
                                {"253402300800000", {}},
                                {"-62167219201", {}},
                                {"18446744073709551616", {}},
                                {"9999-12-31T23:59:59-00:01", {}},
                                {"0000-01-01T00:00:00+00:01", {}},
                                {"20000230", {}},
                                {"20001301", {}},
                                {"20001010246060", {}},
                                {"2001-01-01T12:59:60Z", {}},
                                {"2001-01-01T23:59:61Z", {}},
                                {"2001-01-01T23:59:59 XYZ", {}},
                                {"2001-01-01T23:59:59 IST", {}},
                                {"2001-01-01T23:59:59 UTX", {}},
                                {"2000-10-10 13:05:36 PM", {}},
                                {"201513171005", {}},
                                {"Oct 10 20:55:36", {}},
                                {"Oct 10", {}},
                                {"Tue Okt 10 20:55:36 2000", {}},
                                {"10/10/2000", {}},
                                {"10-10-2000", {}},
                                {"Octob 10, 2000", {}},
                                {"2000-10-10 10-10", {}},
                                {"29/Feb/1999:00:00:00 +0000", {}},
                                {"2100-02-29", {}},
                                {"2001-04-31", {}},
                                {"2001-00-10", {}},
                                {"2001-13-10", {}},
                                {"2001-01-00", {}},
                                {"2001-01-01T24:00:00Z", {}},
                                {"2001-01-01T23:60:00Z", {}},
                                {"2001-01-01T23:59:59+24:00", {}},
                                {"2001-01-01T23:59:59+01:60", {}},
                                {"2001-01-01T23:59:59.Z", {}},
                                {"2001-01-01T", {}},
                                {"2001-01-01Z", {}},
                                {"[10/Oct/2000:13:55:36 -0700", {}},
                                {"10/Okt/2000:13:55:36 -0700", {}},
                                {"10/Oct/2000:13:55 -0700", {}},
                                {"1.5e9", {}},
                                {"1.", {}},
                                {"-", {}},
                                {"", {}}};
  for (Moment const& moment : all) {
    std::string const line = std::string(moment.text) + "|5\n";
    LineFields fields{.separator = '|', .group_seconds = 1, .first_second = moment.seconds.value_or(0) - 2};
    std::size_t const group = moment.seconds ? 2 : 3;
    EXPECT_EQ(groups_of(*this, line, fields, 4)[group], (LineGroup{.lines = 1, .sum = 5})) << moment.text;
    EXPECT_EQ(first_time(line, fields).seconds, moment.seconds) << moment.text;
    if (*moment.text == '"') continue;  // The quotes are of the table.
    EXPECT_EQ(time_of_text(moment.text), moment.seconds) << moment.text;
  }
}

/// The seconds of the first day of 2001 on, and what lines are in none of its groups.
TEST_P(KernelsOn, GroupLinesByATimeOfSeveralWords) {
  std::vector<Moment> const all{{"2001-01-02 10:05:03 GET / 5", 978429903},
                                {"2001-01-02 10:05:03,123 INFO x", 978429903},
                                {"2001/01/02 10:05:03 [error] 1#1: x", 978429903},
                                {"[2001-01-02 10:05:03,123] x", 978429903},
                                {"[2001-01-02T10:05:03.123+0000][info] x", 978429903},
                                {"[Tue Jan 02 10:05:03.902022 2001] [core:error] [pid 1] x", 978429903},
                                {"Jan  2 10:05:03 host sshd[1]: x", 978429903},
                                {"Jan 2 10:05:03 2015", 978429903},
                                {"Tue Jan  2 10:05:03 2001 x", 978429903},
                                {"2001-01-02 10:05:03 +0100 x", 978426303},
                                {"2001-01-02 10:05:03 -0100 x", 978433503},
                                {"2001-01-02 10:05:03 -1000 x", 978465903},
                                {"2001-01-02 10:05:03 -1234 x", 978429903},
                                {"2001-01-02 10:05:03 -5 x", 978429903},
                                {"2001-01-02 10:05:03 UTC x", 978429903},
                                {"2001-01-02 10:05:03 UTCx", 978429903},
                                {"2001-01-02 11:05:03.123 CET [1] LOG: x", 978429903},
                                {"2001-01-02 10:05:03 IST [1] LOG: x", {}},
                                {"Jan 2, 2001 10:05:03 PM com.x.y", 978473103},
                                {"2001-01-02 10:05:03 AMD x", 978429903},
                                {"2001-01-02 10:05:03: x", 978429903},
                                {"2001-01-02 10 20", 978393600},
                                {"2001-01-02", 978393600},
                                {"2001-01-02\r", 978393600},
                                {"20010102 10:05:03", 978429903},
                                {"2 Jan 2001 10:05:03 x", 978429903},
                                {"2 Jan 2001: x", 978393600},
                                {"978429903.123 200 5", 978429903},
                                {"\"2001-01-02 10:05:03\" 5", 978429903},
                                {"Jan  1 00:00:00 x", 978307200},
                                {"Feb 29 00:00:00 x", {}},
                                {"Jan host", {}},
                                {"2001-01-02 10:70:00 x", {}},
                                {"2001-01-02T10:05:03x y", {}},
                                {"\"2001-01-02\" 10:05:03", 978393600},
                                {"978429903:5", {}}};
  LineFields const fields{.group_seconds = 1, .first_second = 978307200};
  for (Moment const& moment : all) {
    // The second of these has another line right behind it.
    for (std::string const& text : {std::string(moment.text), std::string(moment.text) + "\n10:05:03\n"}) {
      auto const [groups, reasons] = totals_of(*this, text, fields, 4096);
      ASSERT_EQ(reasons.keys_of(LineReason::text), (moment.seconds ? 0U : 1U) + (text == moment.text ? 0U : 1U))
          << text;
      auto const group = static_cast<std::uint64_t>(moment.seconds.value_or(0) - fields.first_second);
      if (!moment.seconds) continue;
      if (group < 4095) {
        EXPECT_EQ(groups[group].lines, 1U) << text;
      } else {
        EXPECT_EQ(reasons.largest, group) << text;
      }
    }
  }
}

TEST_P(KernelsOn, SayHowFarTimesAreFromTheGroups) {
  LineFields const fields{.separator = '|', .group_seconds = 3600, .first_second = 978307200};
  auto const [groups, reasons] =
      totals_of(*this, "978307199\n978300000|1\n978307200\n978314400\n979000000\nx\n\n-\n253402300800\n", fields, 3);
  EXPECT_EQ(groups[0].lines, 1U);
  EXPECT_EQ(reasons.keys_of(LineReason::outside), 4U);
  EXPECT_EQ(reasons.before, 2U);
  EXPECT_EQ(reasons.largest, 192U);
  EXPECT_EQ(reasons.keys_of(LineReason::text), 1U);
  EXPECT_EQ(reasons.keys_of(LineReason::empty), 2U);
  EXPECT_EQ(reasons.keys_of(LineReason::too_large), 1U);
  auto const syslog = totals_of(*this, "May  7 10:05:03 x\n", {.group_seconds = 60, .first_second = -62167219201}, 3);
  EXPECT_EQ(syslog.reasons.keys_of(LineReason::no_year), 1U);
  FirstTime const first = first_time("x\nMay  7 10:05:03 x\n", {.group_seconds = 60});
  EXPECT_TRUE(first.without_year && !first.seconds);
}

TEST_P(KernelsOn, NameGroupsOfTimes) {
  std::string const log = R"(1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a b HTTP/1.1" 200 100)"
                          "\n"
                          R"(1.2.3.4 - - [17/May/2015:12:59:59 +0200] "GET /a b HTTP/1.1" 200 11)"
                          "\n"
                          R"(1.2.3.4 - - [17/May/2015:09:59:59 +0000] "GET /a b HTTP/1.1" 200 1)";
  LineFields fields = access_log_fields;
  fields.key = access_log_time;
  fields.group_seconds = 3600;
  EXPECT_EQ(first_time("rubbish\n" + log, fields).seconds, 1431857103);
  EXPECT_FALSE(first_time("rubbish\n" + log, fields).without_year);
  fields.first_second = 1431856800;
  EXPECT_EQ(groups_of(*this, log, fields, 3)[0], (LineGroup{.lines = 2, .sum = 111}));
  EXPECT_EQ(groups_of(*this, log, fields, 3)[2], (LineGroup{.lines = 1, .sum = 1}));
  std::string const user = R"(host 1.2.3.4 - [17/May/2015 [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 100)";
  EXPECT_EQ(groups_of(*this, user, fields, 3)[0], (LineGroup{.lines = 1, .sum = 100})) << "a bracket of the user";
  EXPECT_EQ(group_name(14, fields), "2015-05-18T00:00:00Z");
  EXPECT_EQ(group_name(14, LineFields{}), "14");
  LineFields const far{.group_seconds = 86'400, .first_second = 253402214400};
  EXPECT_EQ(group_name(0, far), "9999-12-31T00:00:00Z");
  EXPECT_EQ(group_name(1, far), "10000-01-01T00:00:00Z");
  EXPECT_EQ(group_name(0, {.group_seconds = 1, .first_second = -62167219201}), "-0001-12-31T23:59:59Z");
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
