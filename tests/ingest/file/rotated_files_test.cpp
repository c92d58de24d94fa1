// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/rotated_files.hpp"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "support/folder_of_files.hpp"
#include <gtest/gtest.h>
#include <unistd.h>

#include "ingest/file/change_watch.hpp"

namespace penstock {
namespace {

using Change = ChangeWatch::Change;
using Kind = NameEvent::Kind;

/// The files of a path whose events the test reports itself, when it likes. Each file has one byte.
struct FilesOfAPath : support::FolderOfFiles {
  ChangeWatch watch{std::stop_token()};
  std::deque<std::function<void()>> reports;  ///< Done by one look for changes each; later ones report nothing.
  std::optional<RotatedFiles> files;

  void SetUp() override {
    FolderOfFiles::SetUp();
    files.emplace(path("log"), 0, watch, [this] {
      if (reports.empty()) return;
      auto const report = reports.front();
      reports.pop_front();
      report();
    });
  }
  void TearDown() override {
    files.reset();
    FolderOfFiles::TearDown();
  }

  void make(std::string const& name, char byte) const { std::ofstream(path(name)) << byte; }
  void rename(std::string const& from, std::string const& to) const { std::filesystem::rename(path(from), path(to)); }
  void appeared(std::string const& name, std::uint32_t move = 0) {
    files->note({Change::name, {Kind::appeared, name, move}});
  }
  void left(std::string const& name, std::uint32_t move) { files->note({Change::name, {Kind::left, name, move}}); }
  /// The bytes of all open files in their order; the last one stays open.
  std::string all() {
    std::string bytes;
    for (;; files->drop_first()) {
      char byte = '?';
      EXPECT_EQ(pread(files->now()->descriptor(), &byte, 1, 0), 1);
      bytes += byte;
      if (!files->has_next()) return bytes;
    }
  }
};

/// Seen to fail where the second file of the two that can be opened made the reader forget that there is another round.
TEST_F(FilesOfAPath, AreAllOpenedWhereTheNameOfOneBecomesKnownMeanwhile) {
  make("log", 'a');
  files->look(false);
  rename("log", "log.1");
  make("log", 'b');
  rename("log", "log.2");
  std::filesystem::create_hard_link(path("log.1"), path("log.3"));
  make("log", 'c');
  left("log", 1);
  appeared("log.1", 1);
  appeared("log");
  left("log", 2);
  // The link had the name.
  appeared("log");
  left("log", 3);
  appeared("log.3", 3);
  appeared("log");
  reports = {[&] { appeared("log.2", 2); }};
  files->look(true);
  EXPECT_EQ(all(), "abc");
  EXPECT_EQ(files->lost(), 0u);
}

/// Seen to fail without `NameHistory::assume`, and with an event of its own in its place, which made two files of one.
TEST_F(FilesOfAPath, AreOpenedBeforeTheirEventComes) {
  make("log", 'a');
  files->look(false);
  make("new", 'b');
  rename("new", "log");
  auto const nothing = [] {};
  reports = {nothing, [&] { appeared("log", 1); }};
  files->look(false);
  EXPECT_TRUE(reports.empty());
  EXPECT_EQ(files->lost(), 0u);
  EXPECT_EQ(all(), "ab");
}

/// Seen to fail where only the changes of the last file were compared: the new file has none, as the old one had.
TEST_F(FilesOfAPath, AreNotSeenTwiceWhereAllTheirEventsComeWhileTheyAreLookedAt) {
  make("log", 'a');
  files->look(false);
  rename("log", "log.1");
  make("log", 'b');
  // The first look was before the new file had the name.
  reports = {[&] {
    left("log", 1);
    appeared("log.1", 1);
    appeared("log");
  }};
  files->look(false);
  EXPECT_TRUE(reports.empty());
  EXPECT_EQ(files->lost(), 0u);
  EXPECT_EQ(all(), "ab");
}

/// Seen to fail where each drop of events counted, and where none did.
TEST_F(FilesOfAPath, MayHideOthersIfTheyChangedWhileEventsWereDropped) {
  make("log", 'a');
  files->look(false);
  files->note({Change::events_dropped});
  files->look(false);
  EXPECT_TRUE(files->missed_events());
  EXPECT_EQ(files->unseen_rotations(), 0u) << "the path has the same file";
  rename("log", "log.1");
  make("log", 'b');
  left("log", 1);
  appeared("log.1", 1);
  appeared("log");
  files->look(false);
  EXPECT_EQ(files->unseen_rotations(), 0u) << "its events came";
  rename("log", "log.1");
  make("log", 'c');
  files->note({Change::events_dropped});
  files->look(false);
  files->look(false);
  EXPECT_EQ(files->unseen_rotations(), 1u);
}

/// Seen to fail where the history began anew for the events and again for the folder, and lost the file in between.
TEST_F(FilesOfAPath, AreNotLostWhereEventsAreDroppedAfterAllWasRead) {
  make("log", 'a');
  files->look(false);
  files->note({Change::events_dropped});
  files->look(true);
  EXPECT_EQ(files->lost(), 0u);
  EXPECT_EQ(all(), "a");
}

}  // namespace
}  // namespace penstock
