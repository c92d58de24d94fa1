// SPDX-License-Identifier: Apache-2.0
#include "observe/option_table.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

std::string refusal(OptionRow const& row, std::string const& text) {
  PipelineOptions options;
  try {
    row.set(options, text);
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    return error.what();
  }
  ADD_FAILURE() << "--" << row.name << " took '" << text << "'";
  return "";
}

/// Each value of it that there are few of; of numbers the ends of what it takes.
std::set<std::string> values_of(OptionRow const& row) {
  std::set<std::string> all{row.preset()};
  if (row.words == nullptr) {
    all.insert({"1", std::to_string(row.most)});
    return all;
  }
  std::string const words = row.words() + ", ";
  for (std::size_t from = 0; from < words.size();) {
    std::size_t const end = words.find(", ", from);
    all.insert(words.substr(from, end - from));
    from = end + 2;
  }
  return all;
}

TEST(OptionTable, ReadsWhatItWrites) {
  for (OptionRow const& row : option_table()) {
    PipelineOptions options;
    for (std::string const& value : values_of(row)) {
      row.set(options, value);
      EXPECT_EQ(row.text(options), value) << row.name;
    }
  }
}

/// Seen to fail with two rows that have the same member.
TEST(OptionTable, HasARowForEachMemberAndANameForEachRow) {
  std::set<std::string_view> names;
  for (OptionRow const& row : option_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice";
    EXPECT_EQ(find_option(row.name), &row);
    EXPECT_TRUE(row.former.empty() || find_option(row.former) == nullptr) << "an older name is no name";
    PipelineOptions options;
    std::set<std::string> values = values_of(row);
    values.erase(row.preset());
    row.set(options, *values.begin());
    for (OptionRow const& other : option_table()) {
      EXPECT_TRUE(&other == &row || other.text(options) == other.preset()) << row.name << " set " << other.name;
    }
  }
}

TEST(OptionTable, SaysOfEachRefusalWhichOptionItIsAndWhatWouldDo) {
  EXPECT_EQ(refusal(*find_option("lanes"), "1025"),
            "--lanes '1025': give whole numbers from 1 to 1024, or 0 for what suits the machine.");
  EXPECT_EQ(refusal(*find_option("shape"), "round"), "--shape 'round': choose from split, single.");
  EXPECT_EQ(refusal(*find_option("ordered"), "maybe"), "--ordered 'maybe': choose from yes, no.");
  EXPECT_EQ(refusal(*find_option("tile"), "2GiB"), "--tile '2GiB': give up to 1 GiB.");
  EXPECT_EQ(refusal(*find_option("spin"), "long"),
            "--spin 'long': give microseconds, up to 3600000000, or default for what suits the device.");
  for (OptionRow const& row : option_table()) {
    for (char const* const text : {"", "-1", " 1", "1.5", "99999999999999999999", "smoke"})
      EXPECT_FALSE(refusal(row, text).empty());
  }
}

TEST(OptionTable, TellsInHelpWhatAnOptionIsItsBoundsAndItsDefault) {
  EXPECT_EQ(
      find_option("lanes")->help(),
      "Threads that drive the devices. At most 1024. Default: 1 for each; for one GPU 2, if tiles are below 1 MiB; "
      "without a GPU 1 for each 4 CPUs, at most 4; as many as CPUs with --run-to-completion");
  EXPECT_EQ(find_option("shape")->help("single"),
            "Streams of a lane: split (upload, compute, download) or single. Default: single");
  for (OptionRow const& row : option_table()) {
    if (row.words == nullptr || row.kind == OptionKind::yes_no) continue;
    for (std::string const& word : values_of(row))
      EXPECT_NE(row.help().find(word), std::string::npos) << row.name << " has " << word;
  }
}

TEST(OptionTable, KnowsWhichValuesFollowFromOthers) {
  for (OptionRow const& row : option_table()) {
    bool const follows =
        std::ranges::any_of(option_table(), [&](OptionRow const& other) { return row.follows_from(other.name); });
    EXPECT_EQ(follows, !row.follows.empty()) << row.name;
    EXPECT_FALSE(row.follows_from(row.name)) << row.name;
    EXPECT_FALSE(row.follows_from("")) << row.name;
  }
  EXPECT_TRUE(find_option("batch")->follows_from("slots"));
  EXPECT_FALSE(find_option("batch")->follows_from("lanes"));
}

}  // namespace
}  // namespace penstock
