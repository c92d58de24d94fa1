// SPDX-License-Identifier: Apache-2.0
#include "penstock/literals.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/error.hpp"

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
