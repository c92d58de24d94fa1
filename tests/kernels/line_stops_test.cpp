// SPDX-License-Identifier: Apache-2.0
#include "penstock/kernels/line_stops.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

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
    std::uint64_t const mask = set.of(&text[64 * part], before);
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

}  // namespace
}  // namespace penstock
