// SPDX-License-Identifier: Apache-2.0
// Runs of what writers put into a ring.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "c/c_pipeline.hpp"

namespace penstock::c {
namespace {

using testing::HasSubstr;

struct ARing : TheCInterface {
  std::filesystem::path folder;
  std::string path;
  penstock_ring ring = with_size<penstock_ring>();

  void SetUp() override {
    std::string pattern = testing::TempDir() + "penstock-ring-XXXXXX";
    folder = mkdtemp(pattern.data());
    path = folder / "ring";
    ring.path = path.c_str();
    ring.slots = 4;
  }
  void TearDown() override {
    TheCInterface::TearDown();
    std::filesystem::remove_all(folder);
  }
  void begin() {
    make();
    ASSERT_EQ(penstock_begin_ring(pipeline, &ring, &stage), PENSTOCK_OK) << penstock_last_error();
  }
  penstock_writer* open_writer() {
    penstock_writer* writer = nullptr;
    EXPECT_EQ(penstock_writer_open(path.c_str(), &writer), PENSTOCK_OK) << penstock_last_error();
    return writer;
  }
  static void write(penstock_writer* writer, unsigned char value) {
    penstock_bytes slot{};
    ASSERT_EQ(penstock_writer_claim(writer, -1, &slot), PENSTOCK_OK) << penstock_last_error();
    std::memset(slot.data, value, slot.size);
    ASSERT_EQ(penstock_writer_commit(writer, bytes, value), PENSTOCK_OK);
  }
  std::vector<std::uint64_t> take_all() {
    std::vector<std::uint64_t> tags;
    while (true) {
      auto completion = with_size<penstock_completion>();
      penstock_status const status = penstock_next(pipeline, -1, &completion);
      if (status == PENSTOCK_ENDED) return tags;
      EXPECT_EQ(status, PENSTOCK_OK) << penstock_last_error();
      EXPECT_EQ(completion.outcome, PENSTOCK_DONE);
      auto const* const result = static_cast<unsigned char const*>(penstock_tile_output(completion.tile).data);
      tags.push_back(penstock_tile_tag(completion.tile));
      EXPECT_EQ(*result, tags.back() + 1);
      penstock_tile_give_back(completion.tile);
    }
  }
};

TEST_F(ARing, GivesEachPieceAndEndsWithItsWriters) {
  ring.writers = 2;
  begin();
  penstock_writer* const one = open_writer();
  penstock_writer* const other = open_writer();
  std::thread first([&] {
    for (unsigned char value = 0; value < 50; ++value) write(one, value);
    penstock_writer_close(one);
  });
  std::thread second([&] {
    for (unsigned char value = 100; value < 150; ++value) write(other, value);
    penstock_writer_close(other);
  });
  std::vector<std::uint64_t> tags = take_all();
  first.join();
  second.join();
  std::ranges::sort(tags);
  ASSERT_EQ(tags.size(), 100u);
  EXPECT_EQ(tags[49], 49u);
  EXPECT_EQ(tags[99], 149u);
  ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK);
  EXPECT_EQ(penstock_report_ok(report), 1);
}

/// Seen to fail if the ring lives as long as the pipeline.
TEST_F(ARing, TellsAWriterThatNobodyReadsAnyMore) {
  begin();
  penstock_writer* const writer = open_writer();
  for (unsigned char value = 0; value < 4; ++value) write(writer, value);
  penstock_stop(pipeline);
  take_all();
  ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK);
  penstock_bytes slot{};
  constexpr std::int64_t minute = 60'000'000'000;
  EXPECT_EQ(penstock_writer_claim(writer, minute, &slot), PENSTOCK_SYSTEM);
  EXPECT_THAT(penstock_last_error(), HasSubstr("reader"));
  penstock_writer_close(writer);
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(path))) << "the link is gone, too";
}

TEST_F(ARing, HasNoSlotAtTheTimeLimitWhileTilesAreKept) {
  ring.slots = 1;
  begin();
  penstock_writer* const writer = open_writer();
  write(writer, 1);
  auto kept = with_size<penstock_completion>();
  ASSERT_EQ(penstock_next(pipeline, -1, &kept), PENSTOCK_OK);
  penstock_bytes slot{};
  EXPECT_EQ(penstock_writer_claim(writer, 1'000'000, &slot), PENSTOCK_OK);
  EXPECT_EQ(slot.data, nullptr);
  penstock_tile_give_back(kept.tile);
  EXPECT_EQ(penstock_writer_claim(writer, -1, &slot), PENSTOCK_OK);
  EXPECT_NE(slot.data, nullptr);
  penstock_writer_close(writer);
  take_all();
  ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK);
}

TEST_F(ARing, RefusesWhatCannotBe) {
  penstock_writer* writer = nullptr;
  EXPECT_EQ(penstock_writer_open((folder / "none").c_str(), &writer), PENSTOCK_BAD_ARGUMENT);
  EXPECT_EQ(writer, nullptr);
  penstock_writer_close(nullptr);
  make();
  ring.path = nullptr;
  EXPECT_EQ(penstock_begin_ring(pipeline, &ring, &stage), PENSTOCK_BAD_ARGUMENT);
  EXPECT_THAT(penstock_last_error(), HasSubstr("`path` is null"));
  ring.path = path.c_str();
  ring.writers = 1000;
  EXPECT_EQ(penstock_begin_ring(pipeline, &ring, &stage), PENSTOCK_BAD_ARGUMENT);
  ring.writers = 1;
  ASSERT_EQ(penstock_begin_ring(pipeline, &ring, &stage), PENSTOCK_OK) << penstock_last_error();
  EXPECT_EQ(penstock_begin_ring(pipeline, &ring, &stage), PENSTOCK_BAD_ARGUMENT);
  EXPECT_THAT(penstock_last_error(), HasSubstr("runs already"));
  penstock_stop(pipeline);
  take_all();
  ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK);
}

}  // namespace
}  // namespace penstock::c
