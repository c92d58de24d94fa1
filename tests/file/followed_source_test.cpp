// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/folder_of_files.hpp"
#include "support/records_of_text.hpp"
#include "support/thread_state.hpp"
#include <gmock/gmock.h>

#include "penstock/core/pool.hpp"
#include "penstock/cpu/cpu_device.hpp"
#include "penstock/files.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

/// Four tiles of 64 bytes, and a folder in which logs grow. The test is writer, producer and sink in one. It must leave
/// with all tiles home and no descriptor more than there were.
struct LogsThatAreFollowed : support::FolderOfFiles {
  static constexpr TileShape shape{.input_bytes = 64};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 4));
  Pool pool{slab, shape, 4};
  std::stop_source stop;
  FileSourceOptions options{.framing = lines(), .follow = true};
  std::vector<std::string> names{"log"};
  std::unique_ptr<FileSource> made;
  std::size_t descriptors = 0;

  void SetUp() override {
    FolderOfFiles::SetUp();
    // What others do beside it wakes no thread of the test.
    std::filesystem::create_directory(path("logs"));
    folder = path("logs");
    descriptors = support::open_descriptors();
  }
  void TearDown() override {
    made = nullptr;
    EXPECT_EQ(support::open_descriptors(), descriptors) << "a file stayed open";
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    folder = std::filesystem::path(folder).parent_path();
    FolderOfFiles::TearDown();
  }

  FileSource& source() {
    if (made != nullptr) return *made;
    std::vector<std::string> paths;
    for (std::string const& name : names) paths.push_back(path(name));
    options.stop = stop.get_token();
    made = std::make_unique<FileSource>(paths, pool, options);
    return *made;
  }
  void append(std::string const& name, std::string const& text) const {
    std::ofstream(path(name), std::ios::app | std::ios::binary) << text;
  }
  void rename(std::string const& from, std::string const& to) const { std::filesystem::rename(path(from), path(to)); }
  /// "FILE.GENERATION@OFFSET TEXT" of the next tile, why it failed, or "end".
  std::string next() {
    Loan const loan = pool.borrow();
    if (!source().next(*loan)) return "end";
    try {
      loan->filled = source().fill(*loan);
    } catch (FileProblem const& problem) {
      return problem.what();
    }
    auto const place = source().place_of(*loan);
    return std::to_string(place.file) + "." + std::to_string(place.generation) + "@" + std::to_string(place.offset) +
           " " + support::text_of(loan->filled_input());
  }
  /// What `next` gives after each of `steps`, if it waits before each.
  template <class... Steps>
  std::string next_after(Steps... steps) {
    source();
    std::atomic<pid_t> id{0};
    std::string got;
    std::jthread producer([&] {
      id = gettid();
      got = next();
    });
    while (id == 0) std::this_thread::yield();
    std::uint64_t slept = 0;
    // It may sleep on its way to where it waits, for memory say; not for long.
    auto const asleep_again = [&] {
      std::uint64_t const before = slept;
      for (int same = 0; same < 50 || slept == before; ++same) {
        support::await_asleep(id);
        std::uint64_t const now = support::times_asleep(id);
        if (std::exchange(slept, now) != now) same = 0;
      }
    };
    ((asleep_again(), steps()), ...);
    producer.join();
    return got;
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

TEST_F(LogsThatAreFollowed, AreReadToTheirEndBeforeTheOnesThatHaveTheirNames) {
  append("log", "a\nb");
  EXPECT_EQ(next(), "0.0@0 a\n");
  rename("log", "log.1");
  append("log.1", "c\nlast");
  append("log", "d\n");
  EXPECT_EQ(next(), "0.0@2 bc\n");
  EXPECT_EQ(next(), "0.0@5 last");
  EXPECT_EQ(next(), "0.1@0 d\n");
}

TEST_F(LogsThatAreFollowed, AreReadOnUntilTheNewOneHasBytes) {
  append("log", "a\n");
  EXPECT_EQ(next(), "0.0@0 a\n");
  EXPECT_EQ(next_after(
                [&] {
                  rename("log", "log.1");
                  append("log", "");
                },
                [&] { append("log.1", "b\n"); }),
            "0.0@2 b\n");
  EXPECT_EQ(next_after([&] { append("log", "c\n"); }), "0.1@0 c\n");
}

TEST_F(LogsThatAreFollowed, MayBeRotatedTwiceBeforeTheirBytesAreRead) {
  append("log", "a\n");
  EXPECT_EQ(next(), "0.0@0 a\n");
  EXPECT_EQ(next_after(
                [&] {
                  rename("log", "log.1");
                  append("log", "");
                },
                [&] {
                  rename("log", "log.2");
                  append("log", "b\n");
                }),
            "0.1@0 b\n");
}

TEST_F(LogsThatAreFollowed, BeginAgainWhereTheyAreTruncated) {
  append("log", "first\nunfin");
  EXPECT_EQ(next(), "0.0@0 first\n");
  EXPECT_EQ(next_after([&] { append("log", "ish"); },
                       [&] {
                         std::filesystem::resize_file(path("log"), 0);
                         append("log", "x\n");
                       }),
            "0.1@0 x\n");
  EXPECT_THAT(source().remarks(),
              testing::Contains(path("log") + " was truncated while it was followed (times: 1), and "
                                              "read from its beginning again."));
  EXPECT_EQ(source().loss(), (RecordLoss{.unfinished = 1}));
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
