// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/check_list.hpp"

#include <thread>
#include <utility>

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

std::string const hex(64, 'a');

TEST(SumLine, PrintsHashTwoSpacesAndPath) {
  EXPECT_EQ(sum_line(hex, "a b"), hex + "  a b");
}

TEST(SumLine, MarksALineWhosePathNeedsEscaping) {
  EXPECT_EQ(sum_line(hex, "a\nb"), "\\" + hex + "  a\\nb");
  EXPECT_EQ(sum_line(hex, "a\\b\nc"), "\\" + hex + "  a\\\\b\\nc");
}

TEST(SumLine, ReplacesBytesThatAreNoUtf8OncePerBrokenSequence) {
  EXPECT_EQ(printed("a\xff"
                    "b")
                .text,
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(printed("\xE2\x82").text, "\xEF\xBF\xBD") << "a sequence cut short is one";
  EXPECT_EQ(printed("\xC0\x80").text, "\xEF\xBF\xBD\xEF\xBF\xBD") << "an overlong one is two";
  EXPECT_EQ(printed("\xED\xA0\x80").text, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "a surrogate is three";
  EXPECT_EQ(printed("\xE2\x82\xAC\xF0\x9F\x98\x80").text, "\xE2\x82\xAC\xF0\x9F\x98\x80") << "what is right stays";
}

TEST(SumLine, ReadsWhatItPrints) {
  for (char const* path : {"plain", "two  spaces", "a\\b", "line\nbreak", "\\n", " "}) {
    auto const parsed = parse_sum_line(sum_line(hex, path));
    ASSERT_TRUE(std::holds_alternative<ExpectedSum>(parsed)) << std::get<std::string>(parsed);
    EXPECT_EQ(std::get<ExpectedSum>(parsed).hex, hex);
    EXPECT_EQ(std::get<ExpectedSum>(parsed).path, path);
  }
}

TEST(SumLine, KeepsAPathAsItsLineShowsIt) {
  for (auto const& [line, shown] :
       {std::pair(hex + "  new\\nline", "new\\nline"), std::pair("\\" + hex + "  new\\\\nline", "\\new\\\\nline"),
        std::pair(hex + "  a\xff", "a\xEF\xBF\xBD"), std::pair("\\" + hex + "  a", "\\a")}) {
    EXPECT_EQ(std::get<ExpectedSum>(parse_sum_line(line)).shown, shown);
  }
}

TEST(SumLine, KeepsACarriageReturnThatANameEndsWith) {
  EXPECT_EQ(std::get<ExpectedSum>(parse_sum_line(hex + "  a\r")).path, "a\r");
}

TEST(SumLine, SaysWhatIsWrongWithALine) {
  for (std::string const& line :
       {std::string(), hex, hex + "  ", hex + " a", hex.substr(1) + "  ab", std::string(64, 'X') + "  a",
        "\\" + hex + "  a\\x", "\\" + hex + "  a\\", hex + "  a\xEF\xBF\xBD", hex + std::string("  a\0b", 5)}) {
    EXPECT_TRUE(std::holds_alternative<std::string>(parse_sum_line(line))) << line;
  }
}

using testing::ElementsAre;
using testing::HasSubstr;

/// Sums of files that need not be there, and what a list says of itself.
struct CheckListsInAFolder : support::FolderOfFiles {
  std::vector<std::string> problems;
  std::stop_source stop;

  static std::string line(std::string const& path) { return std::string(64, 'a') + "  " + path; }
  std::string list(std::string const& name, std::string const& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  CheckList open(std::vector<std::string> lists) {
    return {std::move(lists),
            [this](std::string const& name, std::string const& what) {
              problems.push_back(std::filesystem::path(name).filename().string() + ": " + what);
            },
            stop.get_token()};
  }
  static std::vector<std::string> paths(CheckList check_list) {
    std::vector<std::string> all;
    while (auto wanted = check_list.next()) all.push_back(std::move(wanted->path));
    return all;
  }
};

TEST_F(CheckListsInAFolder, GiveTheirFilesInOrder) {
  auto const one = list("one", line("a") + "\n" + line("b") + "\n"), two = list("two", line("c"));
  EXPECT_THAT(paths(open({one, two})), ElementsAre("a", "b", "c")) << "a last line needs no newline";
  EXPECT_TRUE(problems.empty());
}

TEST_F(CheckListsInAFolder, KeepTheExpectedSum) {
  EXPECT_EQ(open({list("one", line("a"))}).next()->expected, std::string(64, 'a'));
}

TEST_F(CheckListsInAFolder, CountTheLinesThatCannotBeReadInEachOfThem) {
  auto const one = list("one", line("a") + "\nwrong\n" + line("b") + "\n\n"), two = list("two", "wrong");
  EXPECT_THAT(paths(open({one, two})), ElementsAre("a", "b"));
  EXPECT_THAT(problems, ElementsAre(HasSubstr("one: line 2: Not a checksum"), "one: line 4: Empty line",
                                    HasSubstr("two: line 1: Not a checksum")));
}

TEST_F(CheckListsInAFolder, ReadLinesLongerThanWhatIsReadAtOnce) {
  std::string const longer(10'000, 'x');
  EXPECT_THAT(paths(open({list("one", line(longer) + "\n" + line("b") + "\n")})), ElementsAre(longer, "b"));
}

TEST_F(CheckListsInAFolder, GoOnAfterAListThatCannotBeRead) {
  EXPECT_THAT(paths(open({path("nowhere"), folder, list("one", line("a"))})), ElementsAre("a"));
  EXPECT_THAT(problems, ElementsAre("nowhere: No such file or directory (os error 2)",
                                    HasSubstr(": Is a directory (os error 21)")));
}

TEST_F(CheckListsInAFolder, GiveALineOfAPipeBeforeTheNextIsWritten) {
  support::PipeWriter const writer(path("pipe"));
  CheckList check_list = open({path("pipe")});
  writer.write(line("a") + "\n");
  EXPECT_EQ(check_list.next()->path, "a");
}

TEST_F(CheckListsInAFolder, EndInTheMiddleOfALineWhenStopped) {
  support::PipeWriter const writer(path("pipe"));
  CheckList check_list = open({path("pipe"), list("one", line("a"))});
  writer.write("half a li");
  std::jthread reader([&] { EXPECT_FALSE(check_list.next()); });
  writer.await_read();
  stop.request_stop();
  reader.join();
  EXPECT_TRUE(problems.empty()) << problems.front();
}

}  // namespace
}  // namespace penstock::cli
