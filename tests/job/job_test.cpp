// SPDX-License-Identifier: Apache-2.0
#include "penstock/job.hpp"

#include <array>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

TEST(JobValues, AreReadByName) {
  JobValues const values{{"bins", "12"}, {"word", "many"}};
  EXPECT_EQ(values.text("word"), "many");
  EXPECT_EQ(values.number("bins"), 12U);
  EXPECT_TRUE(values.has("bins"));
  EXPECT_FALSE(values.has("other"));
  EXPECT_THROW(values.text("other"), Error);
  EXPECT_THROW(values.number("word"), Error);
}

TEST(JobValues, MayBeSeveralOfOneName) {
  JobValues values{{"one", "a"}};
  values.set("input", std::vector<std::string>{"b", "a"});
  values.set("none", std::vector<std::string>{});
  EXPECT_EQ(values.texts("input"), (std::vector<std::string>{"b", "a"})) << "in their order";
  EXPECT_THROW(values.text("input"), Error) << "which of them?";
  EXPECT_EQ(values.texts("one"), std::vector<std::string>{"a"});
  EXPECT_EQ(values.text("none"), "");
  EXPECT_THROW(values.texts("other"), Error);
}

TEST(JobOptions, TakeNumbersWithinTheirBounds) {
  JobOption const option = number_option("bins", "So many", 4, 1, 64);
  EXPECT_EQ(option.preset, "4");
  EXPECT_EQ(option.read("064"), "64") << "as results say it";
  for (char const* const bad : {"", "0", "65", "4x", "-1", " 4"}) EXPECT_THROW(option.read(bad), Error) << bad;
}

TEST(JobOptions, TakeTheirWords) {
  JobOption const option = word_option("order", "In which", {"any", "sorted"});
  EXPECT_EQ(option.preset, "any");
  EXPECT_EQ(option.sentence, "In which: any, sorted");
  EXPECT_EQ(option.read("sorted"), "sorted");
  try {
    option.read("best");
    FAIL() << "that is no word of it";
  } catch (Error const& error) {
    EXPECT_STREQ(error.what(), "there are any, sorted.");
  }
}

TEST(JobOptions, TakeFilesThatCanBeRead) {
  JobOption const option = file_option("input", "The file");
  EXPECT_TRUE(option.required && option.names_input && !option.listed);
  EXPECT_EQ(option.read("/proc/self/exe"), "/proc/self/exe");
  EXPECT_THROW(option.read(""), Error);
  EXPECT_THROW(option.read("/nowhere"), Error);
}

TEST(JobOptions, TakeSeveralFilesEachOfWhichCanBeRead) {
  JobOption const option = files_option("input", "The files");
  EXPECT_TRUE(option.required && option.names_input && !option.listed && option.several);
  EXPECT_EQ(option.read("/proc/self/exe"), "/proc/self/exe");
  EXPECT_THROW(option.read("/nowhere"), Error);
}

TEST(JobOptions, TakeStandardInputForAnInputThatMustBeNamed) {
  EXPECT_EQ(file_option("input", "The file").read("-"), "-");
  EXPECT_THROW(optional_file_option("patterns", "The file").read("-"), Error) << "there is no file of this name";
}

TEST(JobOptions, TellAFolderFromAFile) {
  auto const said = [](JobOption const& option, std::string const& value) -> std::string {
    try {
      return option.read(value);
    } catch (Error const& error) {
      return error.what();
    }
  };
  EXPECT_EQ(said(folder_option("input", "The folder"), "/proc"), "/proc");
  EXPECT_EQ(said(file_option("input", "The file"), "/proc"), "it is a folder: name a file in it.");
  EXPECT_EQ(said(folder_option("input", "The folder"), "/proc/self/stat"),
            "it is no folder: name the folder that has it.");
  EXPECT_EQ(said(folder_option("input", "The folder"), "/proc/none"),
            "No such file or directory: name a folder that can be read.");
}

/// Source: the test vectors of FNV-1a by Noll.
TEST(ADigest, IsThatOfItsBytes) {
  EXPECT_EQ(digest_of_bytes({}), 0xcbf29ce484222325);
  std::array const letter{std::byte{'a'}};
  EXPECT_EQ(digest_of_bytes(letter), 0xaf63dc4c8601ec8c);
  std::array const two{std::byte{'a'}, std::byte{'b'}};
  EXPECT_EQ(digest_of_bytes(std::span(two).subspan(1), digest_of_bytes(letter)), digest_of_bytes(two));
}

}  // namespace
}  // namespace penstock
