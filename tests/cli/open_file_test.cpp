// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/open_file.hpp"

#include <array>
#include <functional>
#include <span>
#include <stdexcept>
#include <thread>

#include "cli/folder_of_files.hpp"
#include <gmock/gmock.h>

namespace penstock::cli {
namespace {

struct OpenFileInAFolder : FolderOfFiles {
  std::array<std::byte, 100> room{};
  std::stop_source stop;

  /// What it threw, or nothing.
  static std::string problem_of(std::function<void()> const& what) {
    try {
      what();
    } catch (std::runtime_error const& problem) {
      return problem.what();
    }
    return {};
  }
  std::string text(std::size_t bytes) const { return {reinterpret_cast<char const*>(room.data()), bytes}; }
};

TEST_F(OpenFileInAFolder, ReadsAtAnyPlace) {
  OpenFile const opened(file("a", 1000));
  EXPECT_TRUE(opened.pieces());
  EXPECT_EQ(opened.size(), 1000u);
  EXPECT_EQ(opened.read_at(900, room), 100u);
  EXPECT_EQ(room.front(), std::byte{900 % 251});
  EXPECT_EQ(opened.read_at(0, room), 100u);
  EXPECT_EQ(room.back(), std::byte{99});
  opened.expect_unchanged();
}

TEST_F(OpenFileInAFolder, SaysWhyItCannotBeOpened) {
  EXPECT_EQ(problem_of([&] { OpenFile const opened(path("nowhere")); }), "No such file or directory (os error 2)");
}

TEST_F(OpenFileInAFolder, SaysThatItShrank) {
  OpenFile const opened(file("a", 1000));
  std::filesystem::resize_file(path("a"), 950);
  EXPECT_THAT(problem_of([&] { opened.read_at(900, room); }), testing::HasSubstr("shrank"));
  EXPECT_THAT(problem_of([&] { opened.expect_unchanged(); }), testing::HasSubstr("shrank"));
}

TEST_F(OpenFileInAFolder, SaysThatItGrew) {
  OpenFile const opened(file("a", 1000));
  std::ofstream(path("a"), std::ios::app) << 'x';
  EXPECT_EQ(opened.read_at(900, room), 100u) << "what it had is still there";
  EXPECT_THAT(problem_of([&] { opened.expect_unchanged(); }), testing::HasSubstr("grew"));
}

TEST_F(OpenFileInAFolder, SaysThatItChangedWithoutAChangeOfSize) {
  OpenFile const opened(file("a", 1000));
  std::fstream(path("a")) << 'x';
  EXPECT_THAT(problem_of([&] { opened.expect_unchanged(); }), testing::HasSubstr("changed"));
}

TEST_F(OpenFileInAFolder, ReadsAFileThatVanishedAfterItWasOpened) {
  OpenFile const opened(file("a", 1000));
  std::filesystem::remove(path("a"));
  EXPECT_EQ(opened.read_at(900, room), 100u);
  opened.expect_unchanged();
}

TEST_F(OpenFileInAFolder, ReadsAPipeToItsEndThoughItComesInPieces) {
  PipeWriter writer(path("pipe"));
  OpenFile const opened(path("pipe"));
  EXPECT_FALSE(opened.pieces());
  writer.write("abc");
  EXPECT_EQ(opened.read_some(room, stop.get_token()), 3u);
  writer.write("defg");
  writer.end();
  EXPECT_EQ(opened.read_on(room, stop.get_token()), 4u);
  EXPECT_EQ(text(4), "defg");
  EXPECT_EQ(opened.read_on(room, stop.get_token()), 0u);
}

TEST_F(OpenFileInAFolder, GivesWhatItHasWhenItIsStoppedWhileItWaits) {
  PipeWriter const writer(path("pipe"));
  OpenFile const opened(path("pipe"));
  writer.write("abc");
  std::size_t got = 0;
  std::jthread reader([&] { got = opened.read_on(room, stop.get_token()); });
  writer.await_read();
  stop.request_stop();
  reader.join();
  EXPECT_EQ(got, 3u);
}

}  // namespace
}  // namespace penstock::cli
