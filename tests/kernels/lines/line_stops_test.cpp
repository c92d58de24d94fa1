// SPDX-License-Identifier: Apache-2.0
#include "kernels/lines/line_stops.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/lines/access_log.hpp"
#include "kernels/lines/digit_walk.hpp"
#include "kernels/lines/stop_cursor.hpp"

namespace penstock {
namespace {

constexpr std::size_t parts = 4;

/// Returns where fields end, up to the first newline: byte by byte. A newline within quotes is '"'.
std::string stops_of(std::string const& text, LineFields const& fields) {
  std::string stops;
  if (fields.format == LineFormat::words) {
    for (std::size_t k = 0; text[k] != '\n'; ++k) {
      auto const blank = [&](std::size_t at) { return text[at] == ' ' || text[at] == '\t'; };
      stops += blank(k) && k > 0 && !blank(k - 1) ? '|' : '.';
      if (k + 1 == text.size()) return stops;
    }
    return stops + '|';
  }
  char closes = 0;
  bool begins = true, closed = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    char const byte = text[k];
    if (byte == '\n') return stops + (closes == fields.quote && closes != 0 ? '"' : '|');
    bool const here = std::exchange(begins, false), again = std::exchange(closed, false);
    if (closes != 0 && closes == fields.quote && fields.escape != 0 && byte == fields.escape) {
      stops += '.';
      if (k + 1 < text.size() && text[k + 1] == '\n') continue;
      if (++k == text.size()) break;
    } else if (closes != 0) {
      closed = byte == closes && byte == fields.quote;
      if (byte == closes) closes = 0;
    } else if (fields.quote != 0 && byte == fields.quote && (here || again)) {
      closes = byte;
    } else if (fields.brackets && byte == '[' && here) {
      closes = ']';
    } else if (byte == fields.separator) {
      begins = true;
    }
    stops += begins ? '|' : '.';
  }
  return stops;
}

std::string stops_of(std::string const& text, StopSet const& set) {
  std::string stops;
  StopSet::Before before;
  for (std::size_t part = 0; part < parts; ++part) {
    StopBits const bits = set.of(&text[64 * part], before);
    for (unsigned k = 0; k < 64; ++k) {
      bool const open = (bits.open >> k & 1U) != 0;
      stops += open ? '"' : (bits.ends >> k & 1U) != 0 ? '|' : '.';
      if (text[64 * part + k] != '\n') continue;
      EXPECT_NE(bits.ends >> k & 1U, 0U) << "a newline is a stop";
      return stops;
    }
  }
  return stops;
}

TEST(StopsOfLines, AreThoseOfAWalkHoweverManyBytesAreComparedAtOnce) {
  std::mt19937 random(1);
  // Few of what is rare in lines, so that all ways through are gone.
  constexpr std::array<std::string_view, 5> alphabets{"aaaaaaaa      \"\"[]", "aaaaaaaaaaaa    \"[]]\\\n", "a \"\\[]",
                                                      "aaaa \t", "aaa \"\n"};
  std::array<LineFields, 5> const all{LineFields{.escape = '\\', .brackets = true}, LineFields{.brackets = true},
                                      LineFields{.quote = 0}, LineFields{},
                                      LineFields{.quote = 0, .format = LineFormat::words}};
  for (int times = 0; times < 3000; ++times) {
    std::string_view const alphabet = alphabets.at(random() % alphabets.size());
    std::string text(64 * parts, ' ');
    std::ranges::generate(text, [&] { return alphabet[random() % alphabet.size()]; });
    for (LineFields const& fields : all) {
      std::string const expected = stops_of(text, fields);
      for (unsigned const at_most : {16U, 32U, 64U}) {
        ASSERT_EQ(stops_of(text, StopSet(fields, at_most)), expected) << text << "\n at most " << at_most;
      }
    }
  }
}

/// Returns what the lines of a text come to, each in brackets.
template <class Walk>
std::string walked(std::string_view text, Walk const& walk) {
  std::ostringstream all;
  for (std::size_t at = 0; at < text.size();) {
    auto const [line, next] = walk(at);
    all << '[' << at << ' ' << static_cast<int>(line.key_reason) << ' ' << (line.has_key() ? line.key : 0) << ' '
        << line.number << ' ' << line.stopped << ']';
    at = next;
  }
  return all.str();
}

TEST(DigitWalks, AreThoseOfAGpuHoweverManyBytesAreComparedAtOnce) {
  std::mt19937 random(2);
  constexpr std::array<std::string_view, 5> alphabets{"0123456789012345678901234567890 ",
                                                      "01234567890123456789    \"[]\n\r", "0aa0      \"[]\\\n",
                                                      "9a/: \n", "12  \t\n"};
  LineFields const log{.escape = '\\', .brackets = true, .key = 5, .number = 6, .format = LineFormat::access_log};
  LineFields later = log;
  later.number = 8;
  std::array<LineFields, 8> const all{log,
                                      later,
                                      LineFields{.quote = 0, .key = 1, .number = 3, .format = LineFormat::words},
                                      LineFields{.escape = '\\', .brackets = true, .key = 5, .number = 6},
                                      LineFields{.brackets = true, .key = 3, .number = 1},
                                      LineFields{.quote = 0},
                                      LineFields{.key = 2, .number = 2},
                                      LineFields{.key = 7, .number = 0}};
  for (int times = 0; times < 2000; ++times) {
    std::string_view const alphabet = alphabets.at(random() % alphabets.size());
    std::string text(random() % 300 + 1, ' ');
    std::ranges::generate(text, [&] { return alphabet[random() % alphabet.size()]; });
    // The parts are as in logs, whole and with what may be wrong with them.
    for (std::string_view const part : {"1 - - [17/May/2015:10:05:03 +0000] \"a b\" 200 5 \"-\" 7\n",
                                        "[17/May/2015:10:05:03 +0000] \"", "\" 200 5"}) {
      if (random() % 2 == 0) text.insert(random() % text.size(), part);
    }
    for (LineFields const& fields : all) {
      std::string const expected = walked(text, [&](std::size_t at) {
        auto const byte_at = [&](std::size_t place) { return text[place]; };
        EachStop stops(byte_at, at, text.size(), fields);
        WalkedLine const line = walk_line<LineWalk::digits>(stops, byte_at, at, text.size(), fields);
        return std::pair(line, std::min(text.find('\n', line.stopped), text.size() - 1) + 1);
      });
      for (unsigned const at_most : {16U, 32U, 64U}) {
        StopSet const set(fields, at_most);
        StopCursor<StopSet> stops(set, text);
        ASSERT_EQ(walked(text,
                         [&](std::size_t at) {
                           stops.seek(at);
                           WalkedLine const line = DigitWalk(stops, text, fields).walk(at);
                           bool in_quotes = false;
                           return std::pair(line, stops.next_line(in_quotes));
                         }),
                  expected)
            << text << "\n at most " << at_most;
      }
    }
  }
}

TEST(FewDigits, AreANumberIfAllAreDigits) {
  auto const number_of = [](std::string_view eight, std::size_t size) {
    std::uint64_t bytes = 0, number = 0;
    std::memcpy(&bytes, eight.data(), sizeof bytes);
    return few_digits(bytes, size, number) ? std::to_string(number) : "none";
  };
  EXPECT_EQ(number_of("12345678", 8), "12345678");
  EXPECT_EQ(number_of("99999999", 8), "99999999");
  EXPECT_EQ(number_of("x\xff 00200", 5), "200");
  EXPECT_EQ(number_of("1234567x", 1), "none");
  for (int other = -128; other < 128; ++other) {
    std::string text = "12345678";
    text[4] = static_cast<char>(other);
    EXPECT_EQ(number_of(text, 4) != "none", other >= '0' && other <= '9') << other;
    EXPECT_EQ(number_of(text, 3), "678");
  }
}

/// Seen to look at each byte as often as the line has times with a quote behind them.
TEST(PartsOfAnAccessLog, AreLookedForInEachByteAFewTimes) {
  std::string line;
  while (line.size() < 64 << 10) line += "[123456789012] \"";
  std::size_t looks = 0;
  auto const byte_at = [&](std::size_t at) {
    ++looks;
    return line[at];
  };
  LogParts<std::size_t, decltype(byte_at)> const log(byte_at, 0, line.size());
  EXPECT_FALSE(log.found);
  EXPECT_LT(looks, 20 * line.size());
}

}  // namespace
}  // namespace penstock
