// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <string>
#include <vector>

#include "kernels/lines/line_groups.hpp"
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
      {R"({"k":1,"n":1} 2)", -1, -1},
      {R"({"k":1,"n":1},{})", -1, -1},
      {R"(["k":1,"n":1})", -1, -1},
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

TEST_P(KernelsOn, SumNumbersOfJsonUpTo64Bits) {
  std::string const text = R"({"k":1,"n":18446744073709551615}
{"k":1,"n":-18446744073709551615}
{"k":0,"n":9223372036854775808}
{"k":0,"n":1.8446744073709551615e19}
{"k":2,"n":18446744073709551616}
{"k":2,"n":1e300}
{"k":2,"n":0.5}
{"k":2,"n":null}
{"k":2,"n":"x"}
{"k":2,"n":[1]}
{"k":2})";
  for (std::size_t const count : {std::size_t{4}, std::size_t{4096}}) {
    auto const [groups, reasons] = totals_of(*this, text, members("k", "n"), count);
    EXPECT_EQ(groups[1], (LineGroup{.lines = 2}));
    EXPECT_EQ(sum_text(groups[0], members("k", "n")), "27670116110564327423");
    EXPECT_EQ(groups[2], (LineGroup{.lines = 7, .without = 7}));
    EXPECT_EQ(reasons.numbers_of(LineReason::too_large), 2U);
    EXPECT_EQ(reasons.numbers_of(LineReason::not_whole), 1U);
    EXPECT_EQ(reasons.numbers_of(LineReason::empty), 1U);
    EXPECT_EQ(reasons.numbers_of(LineReason::text), 2U);
    EXPECT_EQ(reasons.numbers_of(LineReason::no_field), 1U);
  }
}

TEST_P(KernelsOn, SumMembersOfMembers) {
  std::vector<JsonLine> const lines{
      {R"({"a":{"b":{"k":1}},"c":{"n":5}})", 1, 5},
      {R"({"c":{"x":{"n":1},"n":6,"y":[]},"a":{"k":2,"b":{"x":1,"k":"2"},"b.k":3}})", 3, 6},
      {R"({"a.b.k":4,"c.n":7})", 4, 7},
      {R"({"a.b":{"k":5},"c":{"n":8,"z":{}}})", 5, 8},
      {R"({"a":{"b.k":6},"c":{"\u006e":9}})", 6, 9},
      {R"({"a":{"b":{"k":1}},"a":{},"c":{"n":1},"c":2})", -1, -1},
      {R"({"a":{"b":{"k":1}},"a":{"b":{"k":2}},"c":{"n":2},"c":{"n":3}})", 2, 3},
      {R"({"a":{"b":1},"c":[{"n":1}]})", -1, -1},
      {R"({"a":{"a":{"b":{"k":1}}},"b":{"k":1},"k":1,"n":1})", -1, -1},
      {R"({"ab":{"k":1},"a":{"bk":1,"b":{"kk":1}},"cn":1})", -1, -1},
      {R"({"a":{"b":{"k":1},"c":{"n":2}})", -1, -1},
      {R"({"a":{"b":{"k":1}}],"c":{"n":2}})", -1, -1},
      {R"({"a":{"b":{"k":1},},"c":{"n":2}})", -1, -1},
      {R"( { "a" : { "b" : { "k" : 7 } } , "c" : { "n" : 1 } } )", 7, 1}};
  for (JsonLine const& line : lines) {
    std::vector<LineGroup> alone(9);
    alone.at(line.key < 0 ? 8 : static_cast<std::size_t>(line.key)) = {
        .lines = 1,
        .sum = line.number < 0 ? 0 : static_cast<std::uint64_t>(line.number),
        .without = line.number < 0 ? std::uint64_t{1} : 0};
    EXPECT_EQ(groups_of(*this, line.text, members("a.b.k", "c.n"), 9), alone) << line.text;
  }
  // A name leads into the other one's member, and both into the same.
  EXPECT_EQ(groups_of(*this, R"({"a":{"k":1,"b":{"n":5}}})", members("a.k", "a.b.n"), 3)[1],
            (LineGroup{.lines = 1, .sum = 5}));
  EXPECT_EQ(groups_of(*this, R"({"a":{"n":5,"k":1}})", members("a.k", "a.n"), 3)[1], (LineGroup{.lines = 1, .sum = 5}));
  EXPECT_EQ(groups_of(*this, R"({"a":{"n":5}})", members("a", "a.n"), 3)[2], (LineGroup{.lines = 1, .sum = 5}));
}

TEST_P(KernelsOn, SumSeveralTextsOfALine) {
  std::string line, text;
  for (std::size_t k = 0; k < 300; ++k)
    line += std::string(k % 3, ' ') + R"({"k":1,"s":"}{","n":)" + std::to_string(k) + "}";
  text = line + "\n\x1e" + line + "\r\n" + R"({"k":2,"n":1}{"k":2,"n":)" + "\n" + line;
  for (std::size_t const from : {std::size_t{0}, std::size_t{3}}) {
    auto const [groups, reasons] = totals_of(*this, text, members("k", "n"), 4, from);
    EXPECT_EQ(groups[1], (LineGroup{.lines = 900, .sum = 3 * 44'850}));
    EXPECT_EQ(groups[2], (LineGroup{.lines = 1, .sum = 1}));
    EXPECT_EQ(groups[3], (LineGroup{.lines = 1, .without = 1}));
    EXPECT_EQ(reasons.keys_of(LineReason::unfinished), 1U);
  }
}

TEST_P(KernelsOn, SayWhatIsWrongWithAJsonLine) {
  std::string const text =
      "\n \nplain text\n[{\"k\":1}]\n{\"k\":1\n{\"k\":\"1\n{\"k\":1}}\n{\"k\":1,}\n{\"a\":1}\n"
      "{\"k\":\"GET\"}\n{\"k\":-1}\n{\"k\":1.5}\n{\"k\":null}\n{\"k\":{}}\n";
  auto const [groups, reasons] = totals_of(*this, text, members("k", "n"), 4);
  EXPECT_EQ(groups[3].lines, 14U);
  EXPECT_EQ(reasons.keys_of(LineReason::empty), 3U);
  EXPECT_EQ(reasons.keys_of(LineReason::no_object), 2U);
  EXPECT_EQ(reasons.keys_of(LineReason::unfinished), 2U);
  EXPECT_EQ(reasons.keys_of(LineReason::broken), 2U);
  EXPECT_EQ(reasons.keys_of(LineReason::no_field), 1U);
  EXPECT_EQ(reasons.keys_of(LineReason::text), 2U);
  EXPECT_EQ(reasons.keys_of(LineReason::outside), 1U);
  EXPECT_EQ(reasons.keys_of(LineReason::not_whole), 1U);
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
      // The unit is a hundredth.
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
