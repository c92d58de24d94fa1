// SPDX-License-Identifier: Apache-2.0
#include "programs/command/standard_output.hpp"

#include <array>
#include <climits>
#include <csignal>
#include <sstream>
#include <thread>
#include <vector>

#include "support/folder_of_files.hpp"
#include <sys/resource.h>

namespace penstock::cli {
namespace {

/// A pipe that hands its reader each write by itself, and what is written to it.
struct StandardOutputInAPipe : testing::Test {
  std::array<int, 2> ends{-1, -1};

  void SetUp() override { ASSERT_EQ(pipe2(ends.data(), O_DIRECT | O_CLOEXEC), 0); }
  void TearDown() override {
    for (int const end : ends) close(end);
  }
  /// The next write.
  std::string next() const {
    std::array<char, 4 * PIPE_BUF> bytes{};
    ssize_t const got = read(ends[0], bytes.data(), bytes.size());
    return {bytes.data(), static_cast<std::size_t>(got < 0 ? 0 : got)};
  }
};

TEST_F(StandardOutputInAPipe, HandsLinesOverAtOnceAndTogether) {
  StandardOutput output(ends[1]);
  EXPECT_TRUE(output.write("one\n"));
  EXPECT_EQ(next(), "one\n");
  EXPECT_TRUE(output.write("two\nthree\n"));
  EXPECT_EQ(next(), "two\nthree\n");
}

TEST_F(StandardOutputInAPipe, WritesWholeLinesThatAPipeTakesUndivided) {
  StandardOutput output(ends[1]);
  std::string lines;
  for (int line = 0; line < 1000; ++line) lines += "line " + std::to_string(line) + "\n";
  ASSERT_TRUE(output.write(lines));
  std::string read;
  while (read.size() < lines.size()) {
    std::string const one = next();
    ASSERT_LE(one.size(), std::size_t{PIPE_BUF});
    ASSERT_TRUE(one.ends_with('\n'));
    read += one;
  }
  EXPECT_EQ(read, lines);
}

TEST_F(StandardOutputInAPipe, WaitsForAReaderThatIsBehindThoughThePipeDoesNot) {
  ASSERT_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  StandardOutput output(ends[1]);
  std::string lines;
  for (int line = 0; line < 30'000; ++line) lines += "line " + std::to_string(line) + "\n";
  std::jthread writer([&] { EXPECT_TRUE(output.write(lines)); });
  std::string read;
  while (read.size() < lines.size()) read += next();
  EXPECT_EQ(read, lines);
}

TEST_F(StandardOutputInAPipe, DoesNotWaitForOneThatStandsStillOnceThereIsAHurry) {
  StandardOutput output(ends[1]);
  output.hurry();
  EXPECT_FALSE(output.write(std::string(1'000'000, '\n')));
  EXPECT_TRUE(output.given_up());
}

TEST_F(StandardOutputInAPipe, FailsOnceItsReaderHasGone) {
  auto* const before = std::signal(SIGPIPE, SIG_IGN);
  StandardOutput output(ends[1]);
  EXPECT_TRUE(output.probe());
  close(ends[0]);
  EXPECT_FALSE(output.probe());
  EXPECT_FALSE(output.write("line\n"));
  EXPECT_TRUE(output.failed());
  EXPECT_FALSE(output.given_up());
  std::signal(SIGPIPE, before);
  ends[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TEST_F(StandardOutputInAPipe, DiesOfAReaderThatHasGoneIfItIsTo) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::signal(SIGPIPE, SIG_DFL);
        StandardOutput output(ends[1]);
        close(ends[0]);
        output.write("line\n");
      },
      testing::KilledBySignal(SIGPIPE), "");
}

TEST(StandardOutput, FailsOfAFullDiskWithASentenceAndWritesNoMore) {
  int const full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  StandardOutput output(full);
  EXPECT_TRUE(output.probe());
  EXPECT_FALSE(output.write("line\n"));
  EXPECT_EQ(output.complaint(),
            "Standard output took less than all (No space left on device): see that its disk has room.");
  close(full);
}

TEST(StandardOutput, FailsIfItIsNotOpenForWriting) {
  int const input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  StandardOutput output(input);
  EXPECT_FALSE(output.probe());
  close(input);
}

/// A file that may grow to 100 bytes.
struct StandardOutputInAFile : support::FolderOfFiles {};

TEST_F(StandardOutputInAFile, LeavesNoTornLineWhereThereIsNoRoom) {
  int const file = open(path("out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit const little{.rlim_cur = 100, .rlim_max = before.rlim_max};
  StandardOutput output(file);
  setrlimit(RLIMIT_FSIZE, &little);
  bool const alone = output.write(std::string(29, 'a') + "\n");
  bool const together = output.write(std::string(39, 'b') + "\n" + std::string(49, 'c') + "\n");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  close(file);
  EXPECT_TRUE(alone);
  EXPECT_FALSE(together);
  std::ostringstream text;
  text << std::ifstream(path("out")).rdbuf();
  EXPECT_EQ(text.str(), std::string(29, 'a') + "\n" + std::string(39, 'b') + "\n");
}

}  // namespace
}  // namespace penstock::cli
