// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "kernels/lines/line_groups.hpp"
#include "penstock/error.hpp"
#include "penstock/lines.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;
using Groups = std::vector<LineGroup>;

std::vector<std::string> words_of(std::string const& line) {
  std::vector<std::string> all;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t", at)) != std::string::npos;) {
    std::size_t const end = std::min(line.find_first_of(" \t", at), line.size());
    all.push_back(line.substr(at, end - at));
    at = end;
  }
  return all;
}
/// Quotes and brackets mean something in fields that begin with them.
std::vector<std::string> separated(std::string const& line, LineFields const& fields) {
  std::vector<std::string> all(1);
  char closes = 0;
  bool closed = false;
  for (std::size_t k = 0; k < line.size(); ++k) {
    char const c = line[k];
    bool const again = std::exchange(closed, false);
    if (closes == 0 && c == fields.separator) {
      all.emplace_back();
      continue;
    }
    bool const begins = all.back().empty();
    all.back() += c;
    if (closes != 0 && closes == fields.quote && c == fields.escape && fields.escape != 0) {
      if (k + 1 < line.size()) all.back() += line[++k];
    } else if (closes != 0) {
      closed = c == closes && c == fields.quote;
      if (c == closes) closes = 0;
    } else if (c == fields.quote && c != 0 && (begins || again)) {
      closes = c;
    } else if (c == '[' && fields.brackets && begins) {
      closes = ']';
    }
  }
  return all;
}

/// Returns what groups_of returns, by plain code that splits each line into its fields first.
Groups expected(std::string const& text, LineFields const& fields, std::size_t count) {
  auto const number = [quote = fields.quote](std::string_view field) -> std::optional<std::uint64_t> {
    if (quote != 0 && field.size() >= 2 && field.front() == quote && field.back() == quote) {
      field = field.substr(1, field.size() - 2);
    }
    std::uint64_t value = 0;
    auto const [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (field.empty() || end != field.data() + field.size() || error != std::errc()) return std::nullopt;
    return value;
  };
  Groups groups(count);
  for (std::size_t at = 0; at < text.size();) {
    std::string line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::vector<std::string> all = fields.format == LineFormat::words ? words_of(line) : separated(line, fields);
    all.resize(std::max<std::size_t>(all.size(), 1 + std::max(fields.key, fields.number)));
    auto const key = number(all[fields.key]);
    LineGroup& group = groups[key && *key < count - 1 ? *key : count - 1];
    group += {.lines = 1, .sum = number(all[fields.number]).value_or(0)};
  }
  return groups;
}

TEST_P(KernelsOn, SumLinesWithQuotedFieldsInAnyOrder) {
  LineFields const csv{.separator = ',', .key = 2, .number = 0};
  EXPECT_THAT(
      groups_of(*this, "5,\"a,b\",1\n\"6\",x,\"0\"\r\n7,\"y,1\n18446744073709551615,,1,z\n18446744073709551616,,1", csv,
                3),
      ElementsAre(LineGroup{1, 6}, LineGroup{3, 4, 1}, LineGroup{1, 7}));
  LineFields const tabs{.separator = '\t', .quote = 0, .key = 0, .number = 0};
  EXPECT_THAT(groups_of(*this, "1\n0\n1\n2\n\n", tabs, 3),
              ElementsAre(LineGroup{1, 0}, LineGroup{2, 2}, LineGroup{2, 2}));
}

TEST_P(KernelsOn, SumLinesBeyond64Bits) {
  LineFields const csv{.separator = ','};
  std::string text = "1,18446744073709551615\n1,1\n2,4294967296\n2,4294967295\n";
  for (int k = 0; k < 5000; ++k) text += "0,18446744073709551615\n";
  for (std::size_t const count : {std::size_t{4}, std::size_t{4096}}) {
    std::vector<LineGroup> const groups = groups_of(*this, text, csv, count);
    EXPECT_EQ(sum_text(groups[0], csv), "92233720368547758075000");
    EXPECT_EQ(sum_text(groups[1], csv), "18446744073709551616");
    EXPECT_EQ(sum_text(groups[2], csv), "8589934591");
  }
}

TEST_P(KernelsOn, CountWhyKeysAndNumbersCouldNotBeUsed) {
  LineFields const csv{.separator = ',', .key = 1, .number = 2};
  std::string const text =
      "\nx\nx,,1\nx,-,1\nx,GET,1\nx,-3,1\nx,2.5,1\nx,18446744073709551616,1\nx,7,1\nx,4000,1\nx,0\nx,0,\nx,0,x\n"
      "x,0,1.5e3\nx,0,-1\nx,0,99999999999999999999\nx,0,\"2\"0\"0\"\nx,0,1-2\nx,0,+\nx,0,1.2.3.4\nx,0,2";
  for (std::size_t const count : {std::size_t{4}, std::size_t{2000}}) {
    auto const [groups, reasons] = totals_of(*this, text, csv, count);
    EXPECT_EQ(groups[0], (LineGroup{.lines = 11, .sum = 2}));
    EXPECT_EQ(groups.back().lines, count == 4 ? 10U : 9U);
    EXPECT_EQ(reasons.keys_of(LineReason::used), 0U);
    EXPECT_EQ(reasons.keys_of(LineReason::no_field), 2U);
    EXPECT_EQ(reasons.keys_of(LineReason::empty), 2U);
    EXPECT_EQ(reasons.keys_of(LineReason::text), 1U);
    EXPECT_EQ(reasons.keys_of(LineReason::decimal), 2U);
    EXPECT_EQ(reasons.keys_of(LineReason::too_large), 1U);
    EXPECT_EQ(reasons.keys_of(LineReason::outside), count == 4 ? 2U : 1U);
    EXPECT_EQ(reasons.largest, 4000U);
    EXPECT_EQ(reasons.before, 0U);
    EXPECT_EQ(reasons.numbers_of(LineReason::used), 0U);
    EXPECT_EQ(reasons.numbers_of(LineReason::no_field), 3U);
    EXPECT_EQ(reasons.numbers_of(LineReason::empty), 1U);
    EXPECT_EQ(reasons.numbers_of(LineReason::text), 5U);
    EXPECT_EQ(reasons.numbers_of(LineReason::decimal), 2U);
    EXPECT_EQ(reasons.numbers_of(LineReason::too_large), 1U);
  }
}

TEST_P(KernelsOn, SumLinesWhereverTheyBegin) {
  std::mt19937 random(5);
  std::string const letters = "0123456789012345 ,\"[]\\-\r";
  std::string text;
  while (text.size() < 700'000) {
    // Most are short; some are longer than all that a block looks at.
    for (std::size_t k = random() % 300 == 0 ? 30'000 : random() % 200; k > 0; --k)
      text += letters[random() % letters.size()];
    text += '\n';
  }
  text.pop_back();
  for (LineFields const& fields : {LineFields{.escape = '\\', .brackets = true, .key = 5, .number = 6}, LineFields{},
                                   LineFields{.quote = 0, .format = LineFormat::words},
                                   LineFields{.separator = ',', .escape = '\\', .key = 3, .number = 1},
                                   LineFields{.separator = ' ', .quote = 0, .brackets = true, .key = 0, .number = 2}}) {
    for (std::size_t const count : {std::size_t{13}, std::size_t{4096}}) {
      ASSERT_EQ(groups_of(*this, text, fields, count), expected(text, fields, count));
    }
  }
  EXPECT_EQ(groups_of(*this, text, {}, 13, 3, 1), expected(text, {}, 13));
}

TEST_P(KernelsOn, SumLinesOfManyInputs) {
  std::string all;
  std::vector<DeviceSpan<std::byte const>> inputs;
  for (std::size_t k = 0; k < 70; ++k) {
    // Some are empty, some are longer than others, and none ends its last line.
    std::string text;
    for (std::size_t line = 0; line < k * 53 % 400; ++line) text += std::to_string(line % 9) + " 1\n";
    if (!text.empty()) text.pop_back();
    auto const there = memory(std::max<std::size_t>(1, text.size()));
    if (!text.empty()) upload(there.first(text.size()), std::as_bytes(std::span(text)));
    inputs.push_back(DeviceSpan<std::byte>(there).subspan(0, text.size()));
    all += text.empty() ? "" : text + "\n";
  }
  Groups groups(13);
  auto const sums = memory(groups.size() * sizeof(LineGroup));
  upload(sums, std::as_bytes(std::span(groups)));
  sum_lines(inputs, {}, {}, DeviceSpan<std::byte>(sums).as<LineGroup>(), {}, stream());
  download(std::as_writable_bytes(std::span(groups)), sums);
  EXPECT_EQ(groups, expected(all, {}, 13));
}

TEST_P(KernelsOn, SumNoLinesAndRefuseFieldsThatCannotBeTold) {
  auto const sums = memory(5000 * sizeof(LineGroup));
  auto const groups = DeviceSpan<std::byte>(sums).as<LineGroup>();
  sum_lines(DeviceSpan<std::byte const>(), {}, groups.subspan(0, 2), stream());
  EXPECT_THROW(sum_lines(DeviceSpan<std::byte const>(), {}, groups.subspan(0, 1), stream()), Error);
  EXPECT_THROW(sum_lines(DeviceSpan<std::byte const>(), {}, groups, stream()), Error);
  EXPECT_THROW(sum_lines(DeviceSpan<std::byte const>(), {.separator = '"'}, groups.subspan(0, 2), stream()), Error);
  EXPECT_THROW(sum_lines(DeviceSpan<std::byte const>(), {.escape = '"'}, groups.subspan(0, 2), stream()), Error);
  EXPECT_THROW(sum_lines(DeviceSpan<std::byte const>(), {.escape = ' '}, groups.subspan(0, 2), stream()), Error);
  EXPECT_THROW(
      sum_lines(DeviceSpan<std::byte const>(), {.separator = ']', .brackets = true}, groups.subspan(0, 2), stream()),
      Error);
  EXPECT_THROW(
      sum_lines(DeviceSpan<std::byte const>(), {.quote = '[', .brackets = true}, groups.subspan(0, 2), stream()),
      Error);
  EXPECT_THROW(sum_lines(DeviceSpan<std::byte const>(), {.separator = '\n'}, groups.subspan(0, 2), stream()), Error);
}

}  // namespace
}  // namespace penstock
