// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <string>
#include <vector>

#include "kernels/line_groups.hpp"

#include "penstock/error.hpp"

namespace penstock {
namespace {

LineFields members(char const* key, char const* number, std::uint32_t places = 0) {
  return {.format = LineFormat::json, .key_name = LineName(key), .number_name = LineName(number), .places = places};
}

struct JsonLine {
  char const* text;
  int key;     ///< -1: the line is in the last group.
  int number;  ///< -1: the line has none.
};

TEST_P(KernelsOn, SumMembersOfJsonLines) {
  std::vector<JsonLine> const lines{
      {R"({"k":1,"n":5})", 1, 5},
      {R"( { "n" : 50e-1 , "k" : 2.0 }  )"
       "\r",
       2, 5},
      {R"({"k":"3","n":"7"})", 3, 7},
      {R"({"a":"}","b":"\"k\":9,","k":4,"n":8})", 4, 8},
      {R"({"a":"\\","k":1,"b":"\\\"","n":9})", 1, 9},
      {R"({"a":{"k":6,"n":6,"b":[{"k":7}]},"k":2,"c":[],"d":{},"n":10})", 2, 10},
      {R"({"k":1,"n":3,"k":2,"n":4})", 2, 4},
      {R"({"k":1,"n":3,"k":null,"n":[4]})", -1, -1},
      {R"({"\u006B":5,"\u006e":11})", 5, 11},
      {R"({"kk":1,"":2,"K":3,"n":12})", -1, 12},
      {R"({"k":1})", 1, -1},
      {R"({"k":-1,"n":13})", -1, 13},
      {R"({"k":1.5,"n":2.5})", -1, -1},
      {R"({"k":true,"n":false})", -1, -1},
      {R"({"k":{"k":1},"n":"x"})", -1, -1},
      {R"({})", -1, -1},
      {R"( )", -1, -1},
      {R"([{"k":1,"n":1}])", -1, -1},
      {R"("k":1,"n":1)", -1, -1},
      {R"(17)", -1, -1},
      {R"({"k":1,"n":1)", -1, -1},
      {R"({"k":1,"n":1}})", -1, -1},
      {R"({"k":1,"n":1} {})", -1, -1},
      {R"({"k":1,"n":1]})", -1, -1},
      {R"({"k":1,"n":1,})", -1, -1},
      {R"({"k":1,"n":1,2})", -1, -1},
      {R"({"k":1,"n":1,"a"})", -1, -1},
      {R"({"k":1,"n":1,a:2})", -1, -1},
      {R"({"k":1,"n":1,"a":"b})", -1, -1},
      {R"({"k":1,"n":1,"a":"b\"})", -1, -1},
      {R"({"k":1,"n":1,"a":b{}})", -1, -1},
      {R"({"k":1,"n":1,"a":"b"}x)", -1, -1},
      {R"({"k":3,"n":14,"a":"end"})", 3, 14},
  };
  std::string all;
  std::vector<LineGroup> sums(9);
  for (JsonLine const& line : lines) {
    LineGroup& group = sums.at(line.key < 0 ? 8 : static_cast<std::size_t>(line.key));
    LineGroup const one{.lines = 1,
                        .sum = line.number < 0 ? 0 : static_cast<std::uint64_t>(line.number),
                        .without = line.number < 0 ? std::uint64_t{1} : 0};
    std::vector<LineGroup> alone(9);
    alone.at(static_cast<std::size_t>(&group - sums.data())) = one;
    group += one;
    EXPECT_EQ(groups_of(*this, line.text, members("k", "n"), 9), alone) << line.text;
    all += std::string(line.text) + "\n";
  }
  EXPECT_EQ(groups_of(*this, all, members("k", "n"), 9), sums);
  // A name in UTF-8, by escapes of one unit and of two; half of a pair is U+FFFD.
  std::string const name = "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBD\n";
  std::string const text = "{\"\\u00E4\\u20ac\\ud83d\\uDE00\\ud83d\\n\":1,\"n\":2}\n{\"\xC3\xA4\\n\":1,\"n\":1}";
  EXPECT_EQ(groups_of(*this, text, members(name.c_str(), "n"), 3)[1], (LineGroup{.lines = 1, .sum = 2}));
  EXPECT_THROW(LineName(std::string(64, 'a')), Error);
}

TEST_P(KernelsOn, SumJsonLinesWhereverAnEscapeIs) {
  // Strings are told apart in words of 32 or 64 bytes: escapes and quotes are at the end of one and behind it.
  std::string text;
  std::uint64_t lines = 0;
  for (std::size_t before = 20; before < 60; ++before) {
    for (std::size_t behind = 24; behind < 70; ++behind, ++lines) {
      std::string const escape = lines % 3 == 0 ? "\\\\" : "\\\"";
      text += "{\"p\":\"" + std::string(before, 'a') + escape + std::string(behind, 'b') + "\",\"k\":1,\"n\":5}\n";
    }
  }
  EXPECT_EQ(groups_of(*this, text, members("k", "n"), 3)[1], (LineGroup{.lines = lines, .sum = 5 * lines}));
}

TEST_P(KernelsOn, SumJsonLinesWhereverTheyBegin) {
  std::mt19937 random(7);
  auto const one_of = [&](auto const& all) { return all[random() % std::size(all)]; };
  char const* const pieces[] = {"a", "\\\"", "\\\\",    "{", "}",        "[", "]",
                                ",", ":",    "\\u0022", " ", "\xC3\xA4", "k", "n"};
  char const* const blanks[] = {"", "", "", " ", "\t "};
  auto const string = [&](std::size_t length) {
    std::string text = "\"";
    for (; length > 0; --length) text += one_of(pieces);
    return text + "\"";
  };
  std::string text;
  std::vector<LineGroup> expected(13);
  while (text.size() < 400'000) {
    // Some lines are longer than all that a block of GPU threads has beside it.
    std::size_t const longest = random() % 200 == 0 ? 20'000 : 12;
    std::uint64_t const key = random() % 14, number = random() % 100'000;
    bool const has_key = random() % 9 != 0, has_number = random() % 9 != 0, broken = random() % 20 == 0;
    std::vector<std::string> all;
    if (has_key) all.push_back("\"k\":" + std::string(one_of(blanks)) + std::to_string(key));
    if (has_number) {
      // In units of a hundredth.
      std::string const digits = std::to_string(number % 100 + 100).substr(1);
      all.push_back("\"n\"" + std::string(one_of(blanks)) + ":" + (number % 2 == 1 ? "-" : "") +
                    std::to_string(number / 100) + "." + digits);
    }
    for (std::size_t more = random() % 5; more > 0; --more) {
      std::string const value = string(random() % longest);
      all.push_back("\"x" + std::to_string(more) +
                    "\":" + (random() % 3 == 0 ? "[1,{\"k\":" + value + "},[]]" : std::string(one_of(blanks)) + value));
    }
    std::shuffle(all.begin(), all.end(), random);
    std::string line = "{";
    for (std::size_t k = 0; k < all.size(); ++k) line += (k == 0 ? "" : ",") + (one_of(blanks) + all[k]);
    text += line + (broken ? "" : "}") + "\n";
    LineGroup& group = expected[has_key && !broken && key < 12 ? key : 12];
    bool const counts = has_number && !broken;
    auto const signed_number = static_cast<std::int64_t>(number) * (number % 2 == 1 ? -1 : 1);
    group += {.lines = 1,
              .sum = counts ? static_cast<std::uint64_t>(signed_number) : 0,
              .high = counts && signed_number < 0 ? -1 : 0,
              .without = counts ? std::uint64_t{0} : 1};
  }
  text.pop_back();
  EXPECT_EQ(groups_of(*this, text, members("k", "n", 2), 13), expected);
  EXPECT_EQ(groups_of(*this, text, members("k", "n", 2), 13, 3, 1), expected);
  std::vector<LineGroup> many = groups_of(*this, text, members("k", "n", 2), 4096);
  many[4095] += many[12];
  many[4095] += many[13];
  many[12] = many[4095];
  many.resize(13);
  EXPECT_EQ(many, expected);
}

}  // namespace
}  // namespace penstock
