// SPDX-License-Identifier: Apache-2.0
#include "tools/hash/check_list.hpp"

#include <thread>
#include <utility>

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>

namespace penstock::cli {
namespace {

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
