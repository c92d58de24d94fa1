// SPDX-License-Identifier: Apache-2.0
// Runs whose tiles wait for the program.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "c/c_pipeline.hpp"

namespace penstock::c {
namespace {

using testing::HasSubstr;

/// A tile that was taken, with its place.
struct Taken {
  penstock_completion completion = with_size<penstock_completion>();
  penstock_place place = with_size<penstock_place>();

  std::string input() const {
    auto const* const text = static_cast<char const*>(penstock_tile_input(completion.tile, 0).data);
    return std::string(text, penstock_tile_filled(completion.tile, 0));
  }
};

/// Files whose tiles wait, and tiles that the program feeds.
struct TilesThatWait : TheCInterface {
  std::filesystem::path folder;
  std::vector<std::string> paths;
  std::vector<char const*> names;
  penstock_files files = with_size<penstock_files>();

  void SetUp() override {
    std::string pattern = testing::TempDir() + "penstock-waiting-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override {
    TheCInterface::TearDown();
    std::filesystem::remove_all(folder);
  }
  void add_file(std::string const& name, std::string const& text) {
    paths.push_back(folder / name);
    std::ofstream(paths.back()) << text;
  }
  void begin_files(std::uint64_t flags = 0) {
    make();
    for (std::string const& path : paths) names.push_back(path.c_str());
    files.paths = names.data();
    files.count = names.size();
    files.flags = flags;
    ASSERT_EQ(penstock_begin(pipeline, &files, nullptr), PENSTOCK_OK) << penstock_last_error();
  }
  void begin_fed() {
    make();
    ASSERT_EQ(penstock_begin(pipeline, nullptr, &stage), PENSTOCK_OK) << penstock_last_error();
  }
  /// The next tile; its `tile` is null behind the last.
  Taken next() {
    Taken taken;
    penstock_status const status = penstock_next(pipeline, -1, &taken.completion);
    if (status == PENSTOCK_ENDED) return taken;
    EXPECT_EQ(status, PENSTOCK_OK) << penstock_last_error();
    return taken;
  }
  void feed(unsigned char value) {
    penstock_tile* tile = nullptr;
    ASSERT_EQ(penstock_borrow(pipeline, &tile), PENSTOCK_OK) << penstock_last_error();
    std::memset(penstock_tile_input(tile, 0).data, value, bytes);
    ASSERT_EQ(penstock_tile_set_filled(tile, 0, bytes), PENSTOCK_OK);
    ASSERT_EQ(penstock_submit(pipeline, tile), PENSTOCK_OK) << penstock_last_error();
  }
  unsigned first_of(Taken const& taken) {
    return *static_cast<unsigned char const*>(penstock_tile_output(taken.completion.tile).data);
  }
  void drain() { ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK) << penstock_last_error(); }
};

TEST_F(TilesThatWait, HaveTheBytesOfTheFilesAndTheirPlaces) {
  named[0] = {"ordered", "yes"};
  add_file("a", std::string(600, 'a'));
  add_file("b", "bcd");
  options.output_bytes = 0;
  begin_files();
  std::vector<std::string> texts(2);
  while (true) {
    Taken taken = next();
    if (taken.completion.tile == nullptr) break;
    ASSERT_EQ(penstock_tile_place(pipeline, taken.completion.tile, &taken.place), PENSTOCK_OK);
    std::string& text = texts.at(taken.place.file);
    EXPECT_EQ(taken.place.offset, text.size()) << "they come in their order";
    text += taken.input();
    penstock_tile_give_back(taken.completion.tile);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{std::string(600, 'a'), "bcd"}));
  drain();
  EXPECT_EQ(penstock_report_ok(report), 1);
}

TEST_F(TilesThatWait, HaveWholeLinesIfLinesAreWanted) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "line " + std::to_string(i) + "\n";
  add_file("lines", text);
  named[0] = {"ordered", "yes"};
  begin_files(PENSTOCK_LINES);
  std::string all;
  for (Taken taken = next(); taken.completion.tile != nullptr; taken = next()) {
    EXPECT_EQ(taken.input().back(), '\n');
    EXPECT_EQ(penstock_tile_produced(taken.completion.tile), taken.input().size()) << "the output is a copy";
    all.append(static_cast<char const*>(penstock_tile_output(taken.completion.tile).data), taken.input().size());
    penstock_tile_give_back(taken.completion.tile);
  }
  EXPECT_EQ(all, text);
  drain();
}

/// Seen to fail if the texts are those of a completion that has died.
TEST_F(TilesThatWait, SayWhyTheyFailedUntilTheyAreGivenBack) {
  add_file("a", "a");
  paths.push_back(folder / "gone");
  begin_files();
  std::vector<Taken> kept;
  for (Taken taken = next(); taken.completion.tile != nullptr; taken = next()) kept.push_back(taken);
  auto const failed =
      std::ranges::find_if(kept, [](Taken const& one) { return one.completion.outcome != PENSTOCK_DONE; });
  ASSERT_NE(failed, kept.end());
  EXPECT_EQ(failed->completion.outcome, PENSTOCK_TILE_FAILED);
  EXPECT_STREQ(failed->completion.stage, "source");
  EXPECT_THAT(failed->completion.reason, HasSubstr("No such file"));
  ASSERT_EQ(penstock_tile_place(pipeline, failed->completion.tile, &failed->place), PENSTOCK_OK);
  EXPECT_EQ(failed->place.file, 1u);
  for (Taken const& one : kept) penstock_tile_give_back(one.completion.tile);
  drain();
  EXPECT_EQ(penstock_report_ok(report), 0);
}

TEST_F(TilesThatWait, AreThoseThatTheProgramFed) {
  begin_fed();
  std::jthread const feeder([&] {
    for (unsigned char i = 0; i < 100; ++i) feed(i);
    EXPECT_EQ(penstock_end_input(pipeline), PENSTOCK_OK);
  });
  std::vector<unsigned> firsts;
  for (Taken taken = next(); taken.completion.tile != nullptr; taken = next()) {
    firsts.push_back(first_of(taken));
    penstock_tile_give_back(taken.completion.tile);
  }
  std::ranges::sort(firsts);
  ASSERT_EQ(firsts.size(), 100u);
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(firsts[i], i + 1);
  drain();
  EXPECT_EQ(report_data()["tiles"], 100);
}

TEST_F(TilesThatWait, HoldTheInputBackWhileTheProgramKeepsAll) {
  EXPECT_EQ(penstock_tile_count((make(), pipeline)), 8u);
  ASSERT_EQ(penstock_begin(pipeline, nullptr, &stage), PENSTOCK_OK);
  for (unsigned char i = 0; i < 8; ++i) feed(i);
  std::vector<Taken> kept;
  for (int i = 0; i < 8; ++i) kept.push_back(next());
  penstock_tile* none = nullptr;
  EXPECT_EQ(penstock_try_borrow(pipeline, &none), PENSTOCK_OK);
  EXPECT_EQ(none, nullptr);
  Taken late;
  EXPECT_EQ(penstock_next(pipeline, 1'000'000, &late.completion), PENSTOCK_OK) << "the time is over, and not the run";
  EXPECT_EQ(late.completion.tile, nullptr);
  penstock_tile_give_back(kept.back().completion.tile);
  kept.pop_back();
  EXPECT_EQ(penstock_try_borrow(pipeline, &none), PENSTOCK_OK);
  ASSERT_NE(none, nullptr);
  penstock_tile_give_back(none);
  drain();
  for (Taken const& one : kept) penstock_tile_give_back(one.completion.tile);
}

TEST_F(TilesThatWait, ComeHomeIfTheRunIsStoppedAndNobodyTakesThem) {
  add_file("large", std::string(100'000, 'x'));
  begin_files();
  Taken const kept = next();
  penstock_stop(pipeline);
  drain();
  EXPECT_EQ(next().completion.tile, nullptr) << "the drain gave them back";
  penstock_tile_give_back(kept.completion.tile);
}

TEST_F(TilesThatWait, ComeHomeIfThePipelineDiesBeforeTheRunIsDrained) {
  add_file("large", std::string(100'000, 'x'));
  begin_files();
  penstock_tile_give_back(next().completion.tile);
  penstock_pipeline_destroy(pipeline);
  pipeline = nullptr;
}

TEST_F(TilesThatWait, ComeAgainInASecondRun) {
  begin_fed();
  feed(1);
  drain();
  penstock_report_destroy(report);
  ASSERT_EQ(penstock_begin(pipeline, nullptr, &stage), PENSTOCK_OK) << penstock_last_error();
  feed(2);
  Taken const taken = next();
  EXPECT_EQ(first_of(taken), 3u);
  penstock_tile_give_back(taken.completion.tile);
  drain();
}

TEST_F(TilesThatWait, AreRefusedWhereTheyCannotBe) {
  Taken taken;
  make();
  EXPECT_EQ(penstock_next(pipeline, 0, &taken.completion), PENSTOCK_ENDED);
  EXPECT_THAT(penstock_last_error(), HasSubstr("penstock_begin"));
  EXPECT_EQ(penstock_begin(pipeline, &files, nullptr), PENSTOCK_BAD_ARGUMENT);
  EXPECT_THAT(penstock_last_error(), HasSubstr("no files"));
  files.flags = 1U << 30U;
  EXPECT_EQ(penstock_begin(pipeline, &files, nullptr), PENSTOCK_UNSUPPORTED);
  penstock_pipeline_destroy(pipeline);
  add_file("a", "a");
  begin_files();
  EXPECT_EQ(penstock_begin(pipeline, nullptr, nullptr), PENSTOCK_BAD_ARGUMENT);
  EXPECT_THAT(penstock_last_error(), HasSubstr("runs already"));
  EXPECT_EQ(penstock_end_input(pipeline), PENSTOCK_BAD_ARGUMENT);
  drain();
}

}  // namespace
}  // namespace penstock::c
