// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "moments/random_moments.hpp"
#include <gmock/gmock.h>

#include "penstock/ingest/files.hpp"
#include "penstock/report.hpp"

namespace penstock::moments {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

/// Four files of lines, of which one is changed by another program at a random moment.
struct AFileThatVanishes : RandomMoments {
  static constexpr std::uint64_t files = 4, each = 600;
  std::vector<std::string> paths;

  void write_files() {
    paths.clear();
    for (std::uint64_t k = 0; k < files; ++k) {
      paths.push_back(path(std::to_string(k)));
      std::ofstream(paths.back(), std::ios::binary) << records(k, each);
      std::filesystem::last_write_time(paths.back(), {});
    }
  }
  /// Tiles of a file that came, by where they begin, and whether they did so whole.
  using Tiles = std::map<std::uint64_t, bool>;
  /// Returns how many of its records begin in tiles that failed: up to the next tile, or to its end.
  static std::uint64_t lost_of(std::uint64_t file, Tiles const& tiles) {
    std::uint64_t count = 0, at = 0;
    for (std::uint64_t k = 0; k < each; at += record(file, k++).size()) {
      auto const behind = tiles.upper_bound(at);
      count += behind != tiles.begin() && !std::prev(behind)->second ? 1U : 0U;
    }
    return count;
  }
  /// `change` is made when the sink has had so many tiles, to the file of this number.
  template <class Change>
  void run_with(Draw& draw, Change change, testing::Matcher<std::string> const& problem) {
    write_files();
    Ingest ingest;
    FileSource source(paths, ingest.pipeline.pool(), {.framing = lines()});
    std::uint64_t const chosen = draw.below(files), moment = draw.below(4 * files);
    Answers answers;
    std::uint64_t tiles = 0;
    Tiles of_chosen;
    Report const report = ingest.run(source, [&](Completion& completion) {
      if (tiles++ == moment) change(paths[chosen]);
      Tile const& tile = *completion.loan;
      if (tile.tag == chosen) of_chosen[source.place_of(tile).offset] = completion.ok();
      if (completion.ok()) return answers.take(tile.filled_input());
      EXPECT_EQ(tile.tag, chosen) << "another file failed";
      EXPECT_THAT(completion.failure->reason, testing::StartsWith(paths[chosen] + ": "));
      EXPECT_THAT(completion.failure->reason, problem);
    });
    std::uint64_t const lost = lost_of(chosen, of_chosen);
    EXPECT_EQ(answers.records() + lost, files * each) << "lost " << lost;
    EXPECT_EQ(report.tiles_failed, lost == 0 ? 0 : report.tiles_failed);
    EXPECT_EQ(report.tiles_done + report.tiles_failed, tiles);
    for (std::uint64_t k = 0; k < files; ++k) {
      if (k != chosen) {
        EXPECT_EQ(answers.of(k), each) << "file " << k;
      }
    }
    EXPECT_TRUE(source.loss().none()) << describe(left_out_of(source.loss()));
  }
};

TEST_F(AFileThatVanishes, ByBeingRemovedFailsInItsPlace) {
  at_each_moment([&](Draw& draw) {
    run_with(
        draw, [](std::string const& path) { std::filesystem::remove(path); },
        AnyOf(HasSubstr("it was linked or removed"), HasSubstr("No such file or directory")));
  });
}

TEST_F(AFileThatVanishes, ByBeingReplacedFailsInItsPlaceOrIsTheNewOne) {
  at_each_moment([&](Draw& draw) {
    auto const replace = [this](std::string const& path) {
      std::filesystem::copy_file(path, this->path("new"));
      std::filesystem::rename(this->path("new"), path);
    };
    run_with(draw, replace, HasSubstr("it was linked or removed"));
  });
}

TEST_F(AFileThatVanishes, ByBeingTruncatedFailsWhereItEnds) {
  at_each_moment([&](Draw& draw) {
    std::size_t const share = draw.below(100);
    std::uint64_t opened = 0;
    write_files();
    // A file that is not open by then is a shorter file, and has what it has.
    auto const truncate = [&](std::string const& path) {
      for (auto const& one : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        opened += std::filesystem::read_symlink(one.path(), gone) == path ? 1U : 0U;
      }
      if (opened != 0) std::filesystem::resize_file(path, std::filesystem::file_size(path) * share / 100);
    };
    run_with(draw, truncate, HasSubstr("it shrank"));
  });
}

/// A log that a program writes, renames, removes or truncates in the middle of a line, while it is followed.
struct AFollowedLog : RandomMoments {
  static constexpr std::uint64_t all = 600;
  std::atomic<std::uint64_t> answered{0};

  void append(std::string const& name, std::string_view text) const {
    std::ofstream(path(name), std::ios::app | std::ios::binary) << text;
  }
  void await_answers(std::uint64_t count) const {
    while (answered < count) std::this_thread::yield();
  }
  struct Followed {
    Report report;
    RecordLoss loss;
  };
  /// `strike` is called between two parts of a record, at a moment with at least 20 records before and behind it.
  template <class Strike>
  Followed run(Draw& draw, Strike strike) {
    answered = 0;
    append("log", "");
    std::stop_source stop;
    Ingest ingest;
    FileSource source({path("log")}, ingest.pipeline.pool(),
                      {.stop = stop.get_token(), .framing = lines(), .follow = true});
    Answers answers;
    Report report;
    std::jthread runs([&] {
      report = ingest.run(source, [&](TileResult<> tile) {
        answers.take(tile.input());
        answered = answers.records();
      });
    });
    std::uint64_t const moment = 20 + draw.below(all - 40);
    for (std::uint64_t k = 0; k < all; ++k) {
      std::string const text = record(0, k);
      if (k == moment) {
        strike(k, text, draw.below(text.size()));
      } else {
        append("log", text);
      }
      // A name means what it does when it is looked up first.
      if (k == 0) await_answers(1);
    }
    await_answers(all);
    stop.request_stop();
    runs.join();
    EXPECT_EQ(answers.records(), all);
    EXPECT_EQ(answers.missing(), 0U);
    return {report, source.loss()};
  }
};

TEST_F(AFollowedLog, ThatIsRenamedInTheMiddleOfALineLosesNothing) {
  at_each_moment([&](Draw& draw) {
    auto const [report, loss] = run(draw, [&](std::uint64_t, std::string const& text, std::size_t part) {
      append("log", text.substr(0, part));
      std::filesystem::rename(path("log"), path("log.1"));
      append("log.1", text.substr(part));
    });
    EXPECT_TRUE(report.ok()) << describe(report);
    EXPECT_TRUE(loss.none());
  });
}

TEST_F(AFollowedLog, ThatIsRemovedInTheMiddleOfALineLosesNothing) {
  at_each_moment([&](Draw& draw) {
    auto const [report, loss] = run(draw, [&](std::uint64_t, std::string const& text, std::size_t part) {
      std::ofstream open_file(path("log"), std::ios::app | std::ios::binary);
      open_file << text.substr(0, part) << std::flush;
      std::filesystem::remove(path("log"));
      open_file << text.substr(part) << std::flush;
    });
    EXPECT_TRUE(report.ok()) << describe(report);
    EXPECT_TRUE(loss.none());
  });
}

TEST_F(AFollowedLog, ThatIsTruncatedInTheMiddleOfALineLosesOnlyThat) {
  at_each_moment([&](Draw& draw) {
    std::size_t written = 0;
    auto const [report, loss] = run(draw, [&](std::uint64_t k, std::string const& text, std::size_t part) {
      // Bytes that are not read by then cannot be read any more.
      await_answers(k);
      append("log", text.substr(0, written = part));
      std::filesystem::resize_file(path("log"), 0);
      append("log", text);
      // It could outgrow until then what it was.
      await_answers(k + 1);
    });
    EXPECT_LE(loss.unfinished, 1U);
    EXPECT_EQ(loss.refused + loss.truncated, 0U);
    EXPECT_EQ(report.tiles_failed + report.tiles_cancelled, 0U);
    // The source had read the part, seen that it was there, or neither; what it had seen is counted.
    std::uint64_t truncations = 0, bytes = 0;
    for (LeftOut const& left : report.left_out) {
      if (left.reason != "of a followed file before all of it was read") continue;
      truncations += left.count;
      bytes += left.bytes;
    }
    EXPECT_LE(truncations, 1U);
    EXPECT_LE(bytes, written);
    EXPECT_TRUE(report.ok() || truncations + loss.unfinished != 0) << describe(report);
  });
}

}  // namespace
}  // namespace penstock::moments
