// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "engine/cpu/cpu_device.hpp"
#include "ingest/file/logs_that_are_followed.hpp"
#include "penstock/ingest/files.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using followed::LogsThatAreFollowed;

/// Lines behind a head of four bytes.
class HeadedLines final : public Framing {
 public:
  std::optional<std::uint64_t> record_bytes(std::span<std::byte const> bytes) const override {
    return lines()->record_bytes(bytes);
  }
  std::size_t head_bytes() const noexcept override { return 4; }
  OfInput of_input(std::span<std::byte const> first) const override {
    if (support::text_of(first) == "HEAD") return {lines(), 4};
    throw Error(ErrorKind::bad_argument, "No input begins so.");
  }
};

TEST_F(LogsThatAreFollowed, GiveWhatIsWrittenToThemLater) {
  append("log", "one\ntwo\n");
  EXPECT_EQ(next(), "0.0@0 one\ntwo\n");
  EXPECT_EQ(next_after([&] { append("log", "three\n"); }), "0.0@8 three\n");
}

TEST_F(LogsThatAreFollowed, KeepALineWholeThatComesInParts) {
  append("log", "a\nhe");
  EXPECT_EQ(next(), "0.0@0 a\n");
  EXPECT_EQ(next_after([&] { append("log", "ll"); }, [&] { append("log", "o\n"); }), "0.0@2 hello\n");
}

TEST_F(LogsThatAreFollowed, LoseTheirByteOrderMarkAndMayEndLinesByACarriageReturn) {
  options.text = true;
  append("log", "\xef\xbb\xbf");
  EXPECT_EQ(next_after([&] { append("log", "a\n"); }), "0.0@3 a\n");
  rename("log", "log.1");
  append("log", "b\rc\rd");
  EXPECT_EQ(next_after([&] { append("log", std::string(57, 'x') + "\r"); }, [&] { append("log", "y"); }),
            "0.1@0 b\nc\nd" + std::string(57, 'x') + "\n");
}

TEST_F(LogsThatAreFollowed, AreWaitedForWhileTheyAreNotThere) {
  EXPECT_EQ(next_after([&] { append("log", "a\n"); }), "0.0@0 a\n");
  EXPECT_EQ(next_after([&] {
              std::filesystem::remove(path("log"));
              append("log", "b\n");
            }),
            "0.1@0 b\n");
  rename("log", "log.1");
  EXPECT_EQ(next_after([&] { append("log.1", "c\n"); }), "0.1@2 c\n");
  EXPECT_EQ(next_after([&] {
              rename("log.1", "log");
              append("log", "d\n");
            }),
            "0.1@4 d\n");
}

TEST_F(LogsThatAreFollowed, EndAtOnceWhenTheSourceIsStopped) {
  append("log", "a\n");
  EXPECT_EQ(next(), "0.0@0 a\n");
  EXPECT_EQ(next_after([&] { stop.request_stop(); }), "end");
}

TEST_F(LogsThatAreFollowed, TakeTurns) {
  names = {"log", "other"};
  options.framing = nullptr;
  append("log", std::string(128, 'a'));
  append("other", std::string(128, 'b'));
  EXPECT_EQ(next(), "0.0@0 " + std::string(64, 'a'));
  EXPECT_EQ(next(), "1.0@0 " + std::string(64, 'b'));
  EXPECT_EQ(next(), "0.0@64 " + std::string(64, 'a'));
  append("other", "c");
  EXPECT_EQ(next(), "1.0@64 " + std::string(64, 'b'));
  EXPECT_EQ(next(), "1.0@128 c");
  EXPECT_EQ(next_after([&] { append("log", "c"); }), "0.0@128 c");
}

/// Calls a function when a file fails.
struct AtAFailure final : FileObserver {
  explicit AtAFailure(std::function<void()> to_call) : call(std::move(to_call)) {}
  void opened(std::uint64_t, InputFile const&) override {}
  void failed(std::uint64_t, FileProblem const&) override { call(); }
  void ended(std::uint64_t, std::uint64_t) override {}
  void abandoned(std::uint64_t, std::uint64_t) override {}
  std::function<void()> const call;
};

/// Seen to fail where the source waited although the look at the last file had taken the event of the second one: the
/// tile of the first file came instead, when its time was over.
TEST_F(LogsThatAreFollowed, WakeForAChangeThatALookAtAnotherFileFound) {
  names = {"early", "log", "nowhere/log", "other"};
  options.framing = nullptr;
  options.linger = std::chrono::seconds(60);
  append("early", "a");
  append("log", "");
  append("other", "");
  // The third file fails between the looks at the second and the last.
  AtAFailure at_the_third([this] { append("log", std::string(64, 'b')); });
  options.observer = &at_the_third;
  EXPECT_EQ(next(), "1.0@0 " + std::string(64, 'b'));
  made = nullptr;
}

TEST_F(LogsThatAreFollowed, MayHaveTwoNames) {
  names = {"log", "same"};
  append("log", "a\n");
  std::filesystem::create_hard_link(path("log"), path("same"));
  EXPECT_EQ(next(), "0.0@0 a\n");
  EXPECT_EQ(next(), "1.0@0 a\n");
  std::filesystem::remove(path("log"));
  append("log", "new\n");
  EXPECT_EQ(next(), "0.1@0 new\n");
  EXPECT_EQ(next_after([&] { append("same", "b\n"); }), "1.0@2 b\n");
}

TEST_F(LogsThatAreFollowed, WaitForMoreWhileTheirTileHasRoom) {
  options.linger = std::chrono::microseconds::max();
  append("log", "a\n");
  EXPECT_EQ(
      next_after([&] { append("log", std::string(30, 'b')); }, [&] { append("log", std::string(31, 'b') + "\n"); }),
      "0.0@0 a\n" + std::string(61, 'b') + "\n");
  append("log", "c\n");
  EXPECT_EQ(next_after([&] {
              rename("log", "log.1");
              append("log", "d\n");
            }),
            "0.0@64 c\n");
}

TEST_F(LogsThatAreFollowed, LeaveAfterTheirTime) {
  options.linger = std::chrono::milliseconds(1);
  append("log", "a\n");
  EXPECT_EQ(next(), "0.0@0 a\n");
}

TEST_F(LogsThatAreFollowed, LeaveOutALineThatIsLongerThanATile) {
  append("log", "a\n" + std::string(100, 'x'));
  EXPECT_EQ(next(), "0.0@0 a\n");
  EXPECT_EQ(next_after([&] { append("log", std::string(100, 'x') + "\nb\n"); }), "0.0@203 b\n");
  EXPECT_EQ(source().loss(), (RecordLoss{.refused = 1}));
}

TEST_F(LogsThatAreFollowed, MayHaveAHeadEach) {
  options.framing = std::make_shared<HeadedLines>();
  append("log", "HE");
  EXPECT_EQ(next_after([&] { append("log", "AD"); }, [&] { append("log", "a\n"); }), "0.0@4 a\n");
  rename("log", "log.1");
  EXPECT_EQ(next_after([&] { append("log", "HEADb\n"); }), "0.1@4 b\n");
  std::filesystem::resize_file(path("log"), 0);
  EXPECT_EQ(next_after([&] { rename("log", "log.1"); }, [&] { append("log", "HEADc\n"); }), "0.3@4 c\n");
  rename("log", "log.1");
  EXPECT_EQ(next_after([&] { append("log", "NONE"); }), path("log") + ": No input begins so.");
}

TEST_F(LogsThatAreFollowed, MissNothingWhereTheSystemDropsEvents) {
  std::size_t room = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> room;
  if (room > 100000) GTEST_SKIP() << "the system keeps " << room << " events";
  names = {"log", "other", "third"};
  options.framing = nullptr;
  for (std::string const& name : names) append(name, "a");
  for (std::string const number : {"0", "1", "2"}) EXPECT_EQ(next(), number + ".0@0 a");
  // The first one has been looked at by then since it was read.
  append("third", "b");
  EXPECT_EQ(next(), "2.0@1 b");
  {
    std::ofstream other(path("other"), std::ios::app), third(path("third"), std::ios::app);
    for (std::size_t k = 0; k < room; ++k) (k % 2 == 0 ? other : third) << 'x' << std::flush;
  }
  rename("log", "log.1");
  append("log", "new");
  std::string of_log;
  while (!of_log.starts_with("0.1")) {
    if (std::string const got = next(); got.starts_with("0")) of_log = got;
  }
  EXPECT_EQ(of_log, "0.1@0 new");
  auto const left_out = source().left_out();
  ASSERT_EQ(left_out.size(), 1u) << describe(left_out);
  EXPECT_EQ(left_out[0].unit, "rotation");
  EXPECT_EQ(left_out[0].count, 1u) << "others may have had its name in between";
  EXPECT_TRUE(left_out[0].lost);
}

TEST_F(LogsThatAreFollowed, FailWhereTheyCannotBeFollowed) {
  names = {"nowhere/log", "", "pipe", "log"};
  mkfifo(path("pipe").c_str(), 0600);
  append("log", "a\n");
  EXPECT_EQ(next(), path("nowhere/log") +
                        ": its folder: it cannot be watched for changes: No such file or directory (os "
                        "error 2)");
  EXPECT_THAT(next(), testing::HasSubstr(": its name is that of a folder"));
  EXPECT_EQ(next(), path("pipe") + ": it is no regular file, and no other can be followed");
  EXPECT_EQ(next(), "3.0@0 a\n");
  options.overlap = 8;
  EXPECT_THROW(FileSource({path("log")}, pool, options), Error);
  options.overlap = 0;
  made = std::make_unique<FileSource>(std::vector<std::string>{"-"}, pool, options);
  EXPECT_EQ(next(), "-: standard input cannot be followed; read it without that");
  EXPECT_EQ(next(), "end");
}

TEST_F(LogsThatAreFollowed, FailWhereTheyAreCompressed) {
  options.decompress = true;
  append("log", "\x1f");
  EXPECT_EQ(next_after([&] { append("log", "\x8b\x08\x02"); }),
            path("log") +
                ": it is compressed by gzip, and a file that is followed is not decoded: read it without following it");
  made = nullptr;
  rename("log", "log.1");
  append("log", "BZ\n");
  EXPECT_EQ(next(), "0.0@0 BZ\n");
}

TEST_F(LogsThatAreFollowed, EndWithTheirFolder) {
  names = {"inner/log"};
  std::filesystem::create_directory(path("inner"));
  append("inner/log", "a\nunfinished");
  EXPECT_EQ(next(), "0.0@0 a\n");
  std::size_t const all = support::open_descriptors();
  EXPECT_THAT(next_after([&] { std::filesystem::remove_all(path("inner")); }), testing::HasSubstr("its folder"));
  EXPECT_EQ(next(), "end");
  EXPECT_EQ(support::open_descriptors(), all - 1);
  EXPECT_EQ(source().loss(), (RecordLoss{.unfinished = 1}));
}

TEST_F(LogsThatAreFollowed, FeedAPipelineUntilItIsStopped) {
  cpu::CpuDevice device;
  Pipeline pipeline(device, {.tile = shape, .producers = 2, .tuning = {.tiles = 4}});
  options.stop = stop.get_token();
  FileSource followed({path("log")}, pipeline.pool(), options);
  append("log", "0\n");
  std::string got;
  auto const report =
      pipeline.run(followed, on_device([](DeviceTile const&, StreamRef) {}), [&](Completion& completion) {
        got += support::text_of(completion.loan->filled_input());
        int const number = static_cast<int>(got.size()) / 2;
        if (number == 9) stop.request_stop();
        if (number == 5) rename("log", "log.1");
        append("log", std::to_string(number) + "\n");
      });
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(got, "0\n1\n2\n3\n4\n5\n6\n7\n8\n");
}

}  // namespace
}  // namespace penstock
