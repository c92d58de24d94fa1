// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/lines/literal_trie.hpp"
#include "penstock/error.hpp"
#include "penstock/lines.hpp"

namespace penstock {
namespace {

std::string refusal(std::vector<std::string> const& texts) {
  try {
    Literals const literals(texts);
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    return error.what();
  }
  return "";
}

TEST(SetOfLiterals, CountsEqualOnesOnce) {
  EXPECT_EQ(Literals(std::vector<std::string>{"one", "two", "one"}).size(), 2U);
}

TEST(SetOfLiterals, RefusesWhatNoLineOrEachLineHas) {
  EXPECT_NE(refusal({}).find("no literal to look for"), std::string::npos);
  EXPECT_NE(refusal({"a", ""}).find("empty literal is in each line"), std::string::npos);
  EXPECT_NE(refusal({"a\nb"}).find("line break"), std::string::npos);
  EXPECT_NE(refusal({std::string(Literals::most_bytes, 'a'), "b"}).find("look for fewer"), std::string::npos);
}

TEST(SetOfLiterals, HasATableThatCanBeUploadedAsItIs) {
  Literals const literals(std::vector<std::string>{"a", "four", "more than eight"});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(literals.table().data()) % 8, 0U);
  EXPECT_EQ(literals.table().size() % 8, 0U);
}

TEST(SetOfLiterals, KeepsOfThoseThatContainEachOtherTheInnermost) {
  auto const same = [](std::vector<std::string> const& some, std::vector<std::string> const& others) {
    return std::ranges::equal(Literals(some).table(), Literals(others).table());
  };
  EXPECT_TRUE(same({"she", "he", "hers", "usher", "his"}, {"he", "his"}));
  EXPECT_TRUE(same({"abc", "xbcx", "bc", "c"}, {"c"}));
  EXPECT_TRUE(same({"aab", "aaab", "baab", "aa"}, {"aa"}));
  EXPECT_FALSE(same({"ab", "ba"}, {"ab"}));
  EXPECT_EQ(Literals(std::vector<std::string>{"she", "he"}).size(), 2U) << "they are counted as they were given";
}

TEST(LiteralTrees, FindTheInnermostOfRandomOnes) {
  std::mt19937 random(3);
  for (unsigned times = 0; times < 300; ++times) {
    std::vector<std::string> texts(1 + random() % 40);
    for (std::string& text : texts) {
      text.resize(1 + random() % (1 + times % 9));
      std::ranges::generate(text, [&] { return static_cast<char>('a' + random() % 2); });
    }
    std::ranges::sort(texts);
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    std::vector<std::uint32_t> expected;
    for (std::uint32_t k = 0; k < texts.size(); ++k) {
      auto const within = [&](std::string const& other) {
        return &other != &texts[k] && texts[k].find(other) != std::string::npos;
      };
      if (std::ranges::none_of(texts, within)) expected.push_back(k);
    }
    ASSERT_EQ(LiteralTrie(std::vector<std::string_view>(texts.begin(), texts.end())).innermost(), expected);
  }
}

TEST(LiteralsOfLines, TakeEachLineWithoutItsEnd) {
  EXPECT_EQ(literals_of_lines("one\r\ntwo\none").size(), 2U);
  Literals const with_return = literals_of_lines("one\r\n"), without = literals_of_lines("one");
  EXPECT_TRUE(std::ranges::equal(with_return.table(), without.table()));
}

TEST(LiteralsOfLines, NameTheLineThatIsEmpty) {
  try {
    static_cast<void>(literals_of_lines("one\ntwo\n\nthree\n"));
    FAIL() << "an empty line was taken";
  } catch (Error const& error) {
    EXPECT_NE(std::string(error.what()).find("Line 3 is empty"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace penstock
