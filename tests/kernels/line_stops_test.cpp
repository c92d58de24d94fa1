// SPDX-License-Identifier: Apache-2.0
#include "penstock/kernels/line_stops.hpp"

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

#include "penstock/kernels/digit_walk.hpp"
#include "penstock/kernels/stop_cursor.hpp"

namespace penstock {
namespace {

constexpr std::size_t parts = 4;

/// Where fields end, up to the first newline: byte by byte.
std::string stops_of(std::string const& text, LineFields const& fields) {
  std::string stops;
  bool quoted = false, bracketed = false;
  for (std::size_t k = 0; k < text.size() && text[k] != '\n'; ++k) {
    char const byte = text[k];
    bool ends = false;
    if (quoted && fields.escape != 0 && byte == fields.escape) {
      stops += '.';
      if (++k == text.size() || text[k] == '\n') break;
    } else if (!bracketed && fields.quote != 0 && byte == fields.quote) {
      quoted = !quoted;
    } else if (!quoted && fields.brackets && (byte == '[' || byte == ']')) {
      bracketed = byte == '[';
    } else {
      ends = !quoted && !bracketed && byte == fields.separator;
    }
    stops += ends ? '|' : '.';
  }
  return stops;
}

std::string stops_of(std::string const& text, StopSet const& set) {
  std::string stops;
  StopSet::Before before;
  for (std::size_t part = 0; part < parts; ++part) {
    std::uint64_t const mask = set.of(&text[64 * part], before).ends;
    for (unsigned k = 0; k < 64; ++k) {
      if (text[64 * part + k] == '\n') {
        EXPECT_NE(mask >> k & 1U, 0U) << "a newline is a stop";
        return stops;
      }
      stops += (mask >> k & 1U) != 0 ? '|' : '.';
    }
  }
  return stops;
}

TEST(StopsOfLines, AreThoseOfAWalkHoweverManyBytesAreComparedAtOnce) {
  std::mt19937 random(1);
  // Few of what is rare in lines, so that all ways through are gone.
  constexpr std::array<std::string_view, 3> alphabets{"aaaaaaaa      \"\"[]", "aaaaaaaaaaaa    \"[]]\\\n", "a \"\\[]"};
  std::array<LineFields, 4> const all{LineFields{.escape = '\\', .brackets = true}, LineFields{.brackets = true},
                                      LineFields{.quote = 0}, LineFields{}};
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

/// Stops byte by byte, as a GPU has them.
struct EachByte {
  std::string_view text;
  LineFields const& fields;
  std::size_t at;

  std::size_t next() {
    for (; at < text.size(); ++at) {
      if (is_stop(text[at], fields)) return at++;
    }
    return at;
  }
};

/// What the lines of a text come to, each in brackets.
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
  constexpr std::array<std::string_view, 4> alphabets{
      "0123456789012345678901234567890 ", "01234567890123456789    \"[]\n\r", "0aa0      \"[]\\\n", "9a/: \n"};
  std::array<LineFields, 5> const all{LineFields{.escape = '\\', .brackets = true, .key = 5, .number = 6},
                                      LineFields{.brackets = true, .key = 3, .number = 1}, LineFields{.quote = 0},
                                      LineFields{.key = 2, .number = 2}, LineFields{.key = 7, .number = 0}};
  for (int times = 0; times < 2000; ++times) {
    std::string_view const alphabet = alphabets.at(random() % alphabets.size());
    std::string text(random() % 300 + 1, ' ');
    std::ranges::generate(text, [&] { return alphabet[random() % alphabet.size()]; });
    for (LineFields const& fields : all) {
      std::string const expected = walked(text, [&](std::size_t at) {
        EachByte stops{text, fields, at};
        auto const byte_at = [&](std::size_t place) { return text[place]; };
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
                           return std::pair(line, stops.next_line());
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

}  // namespace
}  // namespace penstock
