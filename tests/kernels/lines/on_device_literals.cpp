// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "kernels/kernels_on_device.hpp"
#include "penstock/lines.hpp"

namespace penstock {
namespace {

using Groups = std::vector<LineGroup>;
using Texts = std::vector<std::string>;

/// Returns what the device makes of the lines of these texts. Without literals all lines count.
Groups groups_of(KernelsOn& on, Texts const& texts, Texts const& literals, unsigned multiprocessors = 0) {
  Groups groups(11);
  std::vector<DeviceSpan<std::byte const>> inputs;
  for (std::string const& text : texts) {
    auto const there = on.memory(text.size());
    on.upload(there, std::as_bytes(std::span(text)));
    inputs.emplace_back(there);
  }
  DeviceSpan<std::byte const> table;
  if (!literals.empty()) {
    Literals const all(literals);
    auto const there = on.memory(all.table().size());
    on.upload(there, all.table());
    table = there;
  }
  auto const sums = on.memory(groups.size() * sizeof(LineGroup));
  on.upload(sums, std::as_bytes(std::span(groups)));
  sum_lines(inputs, {}, table, DeviceSpan<std::byte>(sums).as<LineGroup>(), {}, on.stream(), multiprocessors);
  on.download(std::as_writable_bytes(std::span(groups)), sums);
  return groups;
}

/// The lines of a text that have one of the literals.
std::string lines_with(std::string const& text, Texts const& literals) {
  std::string chosen;
  for (std::size_t at = 0; at < text.size();) {
    std::string const line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    bool const has_one = std::ranges::any_of(
        literals, [&](std::string const& literal) { return line.find(literal) != std::string::npos; });
    if (has_one) chosen += line + "\n";
  }
  return chosen;
}

/// Lines of two numbers and words; a few are longer than all that a block of GPU threads has beside it.
std::string some_text(unsigned seed, std::size_t bytes) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < bytes) {
    text += std::to_string(random() % 13) + " " + std::to_string(random() % 1000) + " ";
    for (std::size_t k = random() % 60 == 0 ? 12'000 : random() % 150; k > 0; --k) {
      text += static_cast<char>('a' + random() % 5);
    }
    text += '\n';
  }
  return text;
}

/// Returns `count` pieces of the text, each within a line.
Texts pieces_of(std::string const& text, std::size_t count, std::size_t least, std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  Texts pieces;
  while (pieces.size() < count) {
    std::string piece = text.substr(random() % text.size(), least + random() % (most - least + 1));
    if (piece.size() >= least && piece.find('\n') == std::string::npos) pieces.push_back(std::move(piece));
  }
  return pieces;
}

TEST_P(KernelsOn, SumLinesThatHaveALiteralOfAnyLength) {
  std::string const text = some_text(7, 300'000);
  struct Lengths {
    std::size_t least, most, count;
  };
  // Some lengths alone have each kind of window; shorter literals are in more lines.
  for (Lengths const lengths : {Lengths{22, 60, 90}, Lengths{9, 40, 60}, Lengths{8, 8, 40}, Lengths{4, 7, 9},
                                Lengths{3, 3, 2}, Lengths{1, 60, 5}}) {
    Texts literals = pieces_of(text, lengths.count, lengths.least, lengths.most, 3);
    literals.push_back("nowhere in it");
    std::string const chosen = lines_with(text, literals);
    ASSERT_LT(chosen.size(), text.size());
    ASSERT_EQ(groups_of(*this, {text}, literals), groups_of(*this, {chosen}, {}))
        << "literals of " << lengths.least << " to " << lengths.most;
  }
}

TEST_P(KernelsOn, SumLinesThatHaveOneOfThousandsOfLiterals) {
  std::string const text = some_text(8, 200'000);
  Texts literals = pieces_of(text, 300, 12, 30, 4);
  // They begin as many lines do, and share windows.
  for (unsigned k = 0; k < 6000; ++k) literals.push_back("abcabcabc" + std::to_string(k * 7919));
  EXPECT_EQ(groups_of(*this, {text}, literals, 1), groups_of(*this, {lines_with(text, literals)}, {}));
}

/// Literals that are much alike, and lines that are much like them.
struct Alike {
  char const* name;
  Texts literals, lines;
};

std::vector<Alike> alike() {
  auto const times = [](std::string const& part, std::size_t count) {
    std::string text;
    for (std::size_t k = 0; k < count; ++k) text += part;
    return text;
  };
  std::string const a100(100, 'a'), a2000(2000, 'a');
  Alike longer{"each begins the next", {}, {a100, a100 + "a", a100 + "b" + a100, a2000}};
  Alike one_other{"all are one byte, but for one", {}, {a100 + "b" + a100, times("a", 149) + "b" + a100, a2000}};
  Alike ends{"all end alike", {}, {"12" + a100 + "c", "k7" + a100 + "c", "7" + a100 + "c", a2000 + "c"}};
  Alike middles{"all have one middle", {}, {"<1>" + a100 + "<1>", "<7>" + a100 + "<8>", "<300>" + a100 + "<300>"}};
  Alike paths{
      "all begin and end alike", {}, {"GET /p/7/index.html HTTP", "GET /p/1700/index.html HTTP", "/p/7/index.htm"}};
  for (std::size_t k = 0; k < 300; ++k) {
    std::string const number = std::to_string(k);
    longer.literals.push_back(std::string(101 + k, 'a'));
    one_other.literals.push_back(std::string(300 - k, 'a') + "b" + std::string(k, 'a'));
    ends.literals.push_back("k" + number + a100 + "c");
    middles.literals.push_back("<" + number + ">" + a100 + "<" + number + ">");
    paths.literals.push_back("/p/" + number + "/index.html HTTP");
  }
  std::string const turns = times("ab", 60);
  Alike periods{"periods", {}, {turns, "a" + turns, turns + turns + "c", turns + turns, "b" + turns + "b"}};
  for (std::size_t k = 0; k < 60; ++k) {
    periods.literals.push_back(times("ab", 61 + k));
    periods.literals.push_back(times("ba", 61 + k) + "b");
    periods.literals.push_back(times("ab", k) + "c");
  }
  std::string const a9000(9000, 'a');
  Alike one_long{"one is longer than what is beside a block", {a9000 + "b"}, {a9000, a9000 + "b", a9000 + "a" + a9000}};
  return {longer, one_other, ends, middles, paths, periods, one_long};
}

TEST_P(KernelsOn, SumLinesWithLiteralsThatAreMuchAlike) {
  for (Alike const& each : alike()) {
    std::string text;
    for (std::size_t k = 0; text.size() < 150'000; ++k) {
      text += std::to_string(k % each.lines.size()) + " 1 " + each.lines[k % each.lines.size()] + "\n";
    }
    std::string const chosen = lines_with(text, each.literals);
    EXPECT_EQ(groups_of(*this, {text}, each.literals), groups_of(*this, {chosen}, {})) << each.name;
    EXPECT_LT(chosen.size(), text.size()) << each.name;
  }
}

TEST_P(KernelsOn, SumLinesWhereverTheLiteralIs) {
  for (std::string const literal : {"0123456789", "0123456789abcdefghijklmn"}) {
    std::string const begin = literal.substr(0, literal.size() - 1), end = literal.substr(1);
    // It lies where a block's own bytes end, where those beside it end, far behind both, and at the end of all.
    for (std::size_t const at : {std::size_t{4}, std::size_t{8185}, std::size_t{8190}, std::size_t{9210},
                                 std::size_t{9217}, std::size_t{40'001}, 66'000 - literal.size()}) {
      std::string line = "1 5 " + std::string(66'000 - 4, 'x');
      line.replace(at, literal.size(), literal);
      for (std::string const& text :
           {line, line + "\n2 7 " + begin + "\n", "3 8 " + begin + "\n" + line + "\n2 7 " + end + "\n"}) {
        auto const groups = groups_of(*this, {text}, {literal});
        ASSERT_EQ(groups[1], (LineGroup{1, 5})) << literal << " at " << at;
        ASSERT_EQ(groups[2].lines + groups[3].lines, 0U) << literal << " at " << at;
      }
    }
  }
}

TEST_P(KernelsOn, SumLinesWithLiteralsOfManyInputs) {
  Texts texts, chosen;
  Texts const literals{"ab", "dcba", "eeeeeeeeeee"};
  for (unsigned k = 0; k < 40; ++k) {
    texts.push_back(some_text(k, 1 + k * 400));
    chosen.push_back(lines_with(texts.back(), literals) + "0 0\n");
  }
  Groups expected = groups_of(*this, chosen, {});
  expected[0].lines -= texts.size();
  EXPECT_EQ(groups_of(*this, texts, literals), expected);
}

TEST_P(KernelsOn, SumLinesWithALiteralThatEndsWithTheText) {
  EXPECT_EQ(groups_of(*this, {"1 2 abcdefgh"}, {"abcdefgh"})[1].lines, 1U);
  EXPECT_EQ(groups_of(*this, {"1 2 abcdefg"}, {"abcdefgh"})[1].lines, 0U);
  EXPECT_EQ(groups_of(*this, {"1 2 abc"}, {"abcd", "zzzz"})[1].lines, 0U);
  EXPECT_EQ(groups_of(*this, {"1 2 abcd"}, {"abcd"})[1].lines, 1U);
  EXPECT_EQ(groups_of(*this, {"1 2 a"}, {"a"})[1].lines, 1U);
  EXPECT_EQ(groups_of(*this, {"1 2 y\n2 2 x"}, {"x"})[2].lines, 1U);
}

}  // namespace
}  // namespace penstock
