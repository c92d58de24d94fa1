// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "moments/random_moments.hpp"
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>

#include "egress/sink/little_files.hpp"
#include "ingest/net/peer.hpp"
#include "penstock/egress/sinks.hpp"
#include "penstock/ingest/sockets.hpp"

namespace penstock::moments {
namespace {

using testing::HasSubstr;

/// A file system of its own that has room for so many pages, where this process may have one.
class SmallDisk {
 public:
  SmallDisk(std::string path, std::size_t pages) : path_(std::move(path)) {
    std::filesystem::create_directory(path_);
    std::string const size = "size=" + std::to_string(4096 * pages);
    mounted_ = mount("none", path_.c_str(), "tmpfs", 0, size.c_str()) == 0;
  }
  SmallDisk(SmallDisk const&) = delete;
  SmallDisk& operator=(SmallDisk const&) = delete;
  ~SmallDisk() {
    if (mounted_) umount(path_.c_str());
  }
  bool mounted() const { return mounted_; }

  /// Gives a process without the right to mount a name space in which it has it, unless it has threads.
  static void ask_for_the_right() {
    auto const write = [](char const* file, std::string const& text) { std::ofstream(file) << text; };
    std::string const user = std::to_string(getuid()), group = std::to_string(getgid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return;
    write("/proc/self/setgroups", "deny");
    write("/proc/self/uid_map", user + " " + user + " 1");
    write("/proc/self/gid_map", group + " " + group + " 1");
  }

 private:
  std::string const path_;
  bool mounted_ = false;
};

/// Result of a run whose sink met a full disk.
struct Came {
  Report report;
  std::uint64_t received = 0, refused = 0;  ///< Bytes: of all peers, and of calls that threw.
  std::string problem;                      ///< Error that `close` threw.
};

struct AFullDisk : RandomMoments {
  static constexpr std::uint64_t senders = 3, each = 400;
  static constexpr std::size_t piece_bytes[] = {0, 1000, 10'000, std::size_t{1} << 20};
  /// Three peers send their records, which go to the sink. `before` is called with the number of each tile.
  template <class Sink, class Before>
  static Came ingest(Sink& sink, Before before) {
    Ingest world;
    ConnectionSource source({"tcp:127.0.0.1:0"}, world.pipeline.pool(), {.connections = senders, .framing = lines()});
    std::vector<std::jthread> peers;
    for (std::uint64_t k = 0; k < senders; ++k) {
      peers.emplace_back([k, at = source.addresses().front()] { support::Peer(at).send(records(k, each)); });
    }
    Came came;
    came.report = world.run(source, [&](TileResult<> tile) {
      before(tile.sequence());
      try {
        sink.append(tile.input());
      } catch (Error const&) {
        came.refused += tile.input().size();
        throw;
      }
    });
    try {
      sink.close();
    } catch (Error const& error) {
      came.problem = error.what();
    }
    came.received = source.counts().bytes;
    EXPECT_EQ(came.received, records(0, each).size() + records(1, each).size() + records(2, each).size());
    EXPECT_EQ(came.report.tiles_failed + came.report.tiles_cancelled, 0U) << describe(came.report);
    return came;
  }
  /// Expects that all that was received was written, is said to be lost, or was refused.
  static void expect_sums(Came const& came, SinkCounts const& counts, std::string const& text, std::size_t piece,
                          std::string const& reason) {
    Answers answers;
    answers.take(text);
    EXPECT_EQ(answers.missing(), 0U) << "records are missing in the middle";
    EXPECT_EQ(answers.bytes(), counts.written);
    EXPECT_EQ(counts.given + came.refused, came.received);
    EXPECT_LE(counts.written, counts.given);
    EXPECT_LE(counts.given - counts.written, piece) << "more is lost than a piece";
    bool const lost = counts.written < came.received;
    EXPECT_EQ(lost, !came.problem.empty());
    EXPECT_EQ(came.refused != 0, came.report.sink_failures != 0);
    if (!lost) return;
    EXPECT_THAT(came.problem, HasSubstr(reason));
    EXPECT_THAT(came.problem, HasSubstr("got " + std::to_string(counts.written) + " bytes in whole records"));
    if (came.report.first_sink_failure) {
      EXPECT_EQ(came.report.first_sink_failure->failure.reason, came.problem);
    }
  }
  static void no_more(std::uint64_t /*tile*/) {}
};

TEST_F(AFullDisk, LeavesWholeRecordsWhereFilesMayNotBeLarger) {
  at_each_moment([&](Draw& draw) {
    std::size_t const piece = piece_bytes[draw.below(4)];
    std::optional<FileSink> sink(std::in_place, path("out"), FileSinkOptions{.writing = {.piece_bytes = piece}});
    std::optional<Came> came;
    {
      support::FilesOfAtMost const limit(draw.below(60'000));
      came = ingest(*sink, no_more);
    }
    expect_sums(*came, sink->counts(), content("out"), piece, "File too large");
    sink.reset();
  });
}

TEST_F(AFullDisk, LeavesTheOldFileWhereItIsReplacedAtOnce) {
  at_each_moment([&](Draw& draw) {
    std::ofstream(path("out")) << "old";
    std::size_t const piece = piece_bytes[draw.below(4)];
    std::optional<FileSink> sink(std::in_place, path("out"),
                                 FileSinkOptions{.keeping = FileKeeping::at_once, .writing = {.piece_bytes = piece}});
    std::optional<Came> came;
    {
      support::FilesOfAtMost const limit(draw.below(30'000));
      came = ingest(*sink, no_more);
    }
    EXPECT_THAT(came->problem, HasSubstr("(File too large), and is as it was"));
    EXPECT_EQ(sink->counts().given + came->refused, came->received);
    sink.reset();
    EXPECT_EQ(content("out"), "old");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "it left another file";
  });
}

TEST_F(AFullDisk, LeavesWholeRecordsWhereItsFileBecomesADeviceThatIsFull) {
  at_each_moment([&](Draw& draw) {
    std::size_t const piece = piece_bytes[draw.below(4)], moment = 1 + draw.below(12);
    std::optional<FileSink> sink(std::in_place, path("out"), FileSinkOptions{.writing = {.piece_bytes = piece}});
    Came const came = ingest(*sink, [&](std::uint64_t tile) {
      if (tile != moment) return;
      std::filesystem::rename(path("out"), path("old"));
      std::filesystem::create_symlink("/dev/full", path("out"));
      sink->reopen();
    });
    bool const struck = std::filesystem::exists(path("old"));
    auto const counts = sink->counts();
    sink.reset();
    Answers answers;
    answers.take(content(struck ? "old" : "out"));
    EXPECT_EQ(answers.bytes(), counts.written);
    EXPECT_EQ(counts.given + came.refused, came.received);
    EXPECT_EQ(struck, came.problem.find("No space left on device") != std::string::npos) << came.problem;
  });
}

TEST_F(AFullDisk, LeavesWholeRecordsOnASmallDisk) {
  if (geteuid() != 0) SmallDisk::ask_for_the_right();
  if (!SmallDisk(path("disk"), 1).mounted()) GTEST_SKIP() << "needs to mount a file system";
  at_each_moment([&](Draw& draw) {
    SmallDisk const disk(path("disk"), 2 + draw.below(14));
    std::size_t const piece = piece_bytes[draw.below(4)];
    bool const rolls = draw.below(2) == 0;
    std::string text;
    if (rolls) {
      std::optional<RollingFiles> sink(std::in_place, path("disk/{number}"),
                                       RollingOptions{.bytes = 9000, .writing = {.piece_bytes = piece}});
      Came const came = ingest(*sink, no_more);
      for (int k = 1; std::filesystem::exists(path("disk/00000" + std::to_string(k))); ++k) {
        text += content("disk/00000" + std::to_string(k));
      }
      Answers answers;
      answers.take(text);
      EXPECT_EQ(answers.missing(), 0U);
      EXPECT_EQ(answers.bytes(), sink->counts().written);
      EXPECT_EQ(sink->counts().given + came.refused, came.received);
      EXPECT_EQ(came.problem.empty(), sink->counts().written == came.received);
      EXPECT_THAT(came.problem, testing::AnyOf("", HasSubstr("No space left on device")));
      sink.reset();
    } else {
      std::optional<FileSink> sink(std::in_place, path("disk/out"), FileSinkOptions{.writing = {.piece_bytes = piece}});
      Came const came = ingest(*sink, no_more);
      expect_sums(came, sink->counts(), content("disk/out"), piece, "No space left on device");
      sink.reset();
    }
  });
}

}  // namespace
}  // namespace penstock::moments
