// SPDX-License-Identifier: Apache-2.0
// Runs of a program in C.
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "c/c_pipeline.hpp"

namespace penstock::c {
namespace {

using testing::HasSubstr;

TEST_F(TheCInterface, RunsASourceAStageAndASink) {
  run();
  EXPECT_EQ(penstock_report_ok(report), 1);
  EXPECT_EQ(done.size(), input_tiles);
  EXPECT_EQ(wrong, 0u);
  json const data = report_data();
  EXPECT_EQ(data["kind"], "report");
  EXPECT_EQ(data["schema"], 1);
  EXPECT_EQ(data["tiles"], input_tiles);
  EXPECT_EQ(data["bytes_in"], input_tiles * bytes);
  EXPECT_EQ(data["verdict"], nullptr);
  char* text = nullptr;
  ASSERT_EQ(penstock_report_text(report, &text), PENSTOCK_OK);
  EXPECT_THAT(owned(text), HasSubstr("20 tiles"));
}

TEST_F(TheCInterface, LetsNextFillWhereThereIsNoFill) {
  source.fill = nullptr;
  source.next = [](void* user, penstock_tile* tile) {
    std::uint64_t const sequence = penstock_tile_sequence(tile);
    if (sequence == static_cast<TheCInterface*>(user)->input_tiles) return 0;
    std::memset(penstock_tile_input(tile, 0).data, static_cast<int>(sequence), bytes);
    penstock_tile_set_filled(tile, 0, bytes);
    return 1;
  };
  run();
  EXPECT_EQ(done.size(), input_tiles);
  EXPECT_EQ(wrong, 0u);
}

TEST_F(TheCInterface, TakesTilesOfThreadsOfTheProgram) {
  make();
  ASSERT_EQ(penstock_start(pipeline, &stage, &sink), PENSTOCK_OK) << penstock_last_error();
  std::vector<std::thread> threads;
  std::atomic<int> submitted{0};
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 25; ++j) {
        penstock_tile* tile = nullptr;
        if (penstock_borrow(pipeline, &tile) != PENSTOCK_OK) return;
        std::memset(penstock_tile_input(tile, 0).data, 0, bytes);
        penstock_tile_set_filled(tile, 0, bytes);
        if (penstock_submit(pipeline, tile) == PENSTOCK_OK) ++submitted;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(snapshot()["submitted"], 50);
  ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK) << penstock_last_error();
  EXPECT_EQ(submitted, 50);
  EXPECT_EQ(report_data()["tiles"], 50);
}

TEST_F(TheCInterface, WritesNoTileWhereNoneIsFree) {
  named = {{{"tiles", "1"}, {"lanes", "1"}}};
  make();
  ASSERT_EQ(penstock_start(pipeline, &stage, &sink), PENSTOCK_OK) << penstock_last_error();
  penstock_tile* first = nullptr;
  ASSERT_EQ(penstock_borrow(pipeline, &first), PENSTOCK_OK);
  auto* second = first;
  EXPECT_EQ(penstock_try_borrow(pipeline, &second), PENSTOCK_OK);
  EXPECT_EQ(second, nullptr);
  penstock_tile_give_back(first);
  EXPECT_EQ(penstock_try_borrow(pipeline, &second), PENSTOCK_OK);
  EXPECT_NE(second, nullptr);
  penstock_tile_give_back(second);
  ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK);
}

TEST_F(TheCInterface, LetsTheSinkKeepTiles) {
  keeps = true;
  input_tiles = 5;
  run();
  EXPECT_EQ(kept.size(), 5u);
  EXPECT_EQ(snapshot()["pool"]["lent"], 5);
  for (penstock_tile* const tile : kept) {
    EXPECT_EQ(static_cast<unsigned char const*>(penstock_tile_output(tile).data)[0], penstock_tile_sequence(tile) + 1);
    penstock_tile_give_back(tile);
  }
}

TEST_F(TheCInterface, SaysWhyAFunctionOfTheProgramFailed) {
  source.fill = [](void*, penstock_tile* tile) -> std::int64_t {
    if (penstock_tile_sequence(tile) != 3) return bytes;
    penstock_fail("the card was pulled");
    return -1;
  };
  stage.run = [](void* state, penstock_device_tile const* tile, penstock_stream* stream) -> std::int64_t {
    return tile->sequence == 4 ? -1 : increase(state, tile, stream);
  };
  run();
  EXPECT_EQ(penstock_report_ok(report), 0);
  EXPECT_THAT(failures, testing::UnorderedElementsAre(HasSubstr("source: the card was pulled"),
                                                      HasSubstr("stage: `run` failed and gave no reason")));
  EXPECT_EQ(report_data()["failed"], 2);
}

TEST_F(TheCInterface, EndsTheInputWhereNextFails) {
  source.next = [](void*, penstock_tile* tile) {
    if (penstock_tile_sequence(tile) < 2) return 1;
    penstock_fail("no more tape");
    return -1;
  };
  run();
  json const data = report_data();
  EXPECT_EQ(data["tiles"], 2);
  EXPECT_EQ(data["ok"], false);
  EXPECT_THAT(data["run_failures"][0]["reason"].get<std::string>(), HasSubstr("no more tape"));
}

TEST_F(TheCInterface, LetsNoExceptionOfAFunctionOut) {
  stage.run = [](void*, penstock_device_tile const*, penstock_stream*) -> std::int64_t {
    throw std::runtime_error("thrown in C++");
  };
  input_tiles = 1;
  run();
  EXPECT_THAT(failures, testing::ElementsAre(HasSubstr("thrown in C++")));
}

/// Of a program that counts states.
struct States {
  std::atomic<int> made{0}, prepared{0}, finished{0}, merged{0}, destroyed{0};
  bool refuses = false;
};

penstock_stage counting(States& states) {
  auto stage = with_size<penstock_stage>();
  stage.user = &states;
  stage.make = [](void* user, penstock_lane const* lane, void** state) {
    auto& all = *static_cast<States*>(user);
    if (all.refuses) {
      penstock_fail("no state today");
      return -1;
    }
    EXPECT_STREQ(lane->device, "cpu:0");
    EXPECT_EQ(lane->on_gpu, 0);
    EXPECT_GE(lane->multiprocessors, 1u);
    EXPECT_EQ(penstock_stream_cuda(lane->stream), nullptr);
    ++all.made;
    *state = user;
    return 0;
  };
  stage.prepare = [](void* state, penstock_stream*) { return ++static_cast<States*>(state)->prepared, 0; };
  stage.run = TheCInterface::increase;
  stage.finish = [](void* state, penstock_stream*) { return ++static_cast<States*>(state)->finished, 0; };
  stage.merge = [](void*, void* state) { ++static_cast<States*>(state)->merged; };
  stage.destroy = [](void* state) { ++static_cast<States*>(state)->destroyed; };
  return stage;
}

TEST_F(TheCInterface, MakesAStateForEachLane) {
  States states;
  stage = counting(states);
  named[1] = {"lanes", "2"};
  run();
  for (auto const* const count :
       {&states.made, &states.prepared, &states.finished, &states.merged, &states.destroyed}) {
    EXPECT_EQ(*count, 2);
  }
  EXPECT_EQ(done.size(), input_tiles);
}

TEST_F(TheCInterface, RefusesARunWhoseStateCannotBeMade) {
  States states;
  states.refuses = true;
  stage = counting(states);
  make();
  EXPECT_EQ(penstock_run(pipeline, &source, &stage, &sink, &report), PENSTOCK_FAILED);
  EXPECT_THAT(penstock_last_error(), HasSubstr("no state today"));
  EXPECT_EQ(report, nullptr);
  EXPECT_EQ(states.destroyed, 0);
}

TEST_F(TheCInterface, GivesAStageInOrderAllTilesInTheirOrder) {
  struct Seen {
    std::atomic<int> lanes{0};
    std::vector<std::uint64_t> sequences;
  } seen;
  named[1] = {"lanes", "2"};
  stage.user = &seen;
  stage.in_order = 1;
  stage.make = [](void* user, penstock_lane const*, void** state) {
    ++static_cast<Seen*>(user)->lanes;
    *state = user;
    return 0;
  };
  stage.run = [](void* state, penstock_device_tile const* tile, penstock_stream* stream) {
    static_cast<Seen*>(state)->sequences.push_back(tile->sequence);
    return increase(state, tile, stream);
  };
  run();
  ASSERT_EQ(seen.lanes, 1) << "one lane gets them all";
  ASSERT_EQ(seen.sequences.size(), input_tiles);
  EXPECT_TRUE(std::ranges::is_sorted(seen.sequences));
}

TEST_F(TheCInterface, FillsSeveralInputs) {
  options.more_input_bytes[0] = 16;
  input_tiles = 1;
  source.fill = [](void*, penstock_tile* tile) -> std::int64_t {
    EXPECT_EQ(penstock_tile_input(tile, 1).size, 16u);
    EXPECT_EQ(penstock_tile_input(tile, 2).size, 0u);
    EXPECT_EQ(penstock_tile_input(tile, 9).size, 0u);
    penstock_tile_set_filled(tile, 1, 10);
    EXPECT_EQ(penstock_tile_filled(tile, 1), 10u);
    penstock_tile_set_tag(tile, 77);
    std::memset(penstock_tile_input(tile, 0).data, 0, bytes);
    return bytes;
  };
  stage.run = [](void* state, penstock_device_tile const* tile, penstock_stream* stream) {
    EXPECT_EQ(tile->more_input_bytes[0], 10u);
    EXPECT_EQ(tile->more_input_bytes[1], 0u);
    EXPECT_EQ(tile->tag, 77u);
    return increase(state, tile, stream);
  };
  run();
  EXPECT_EQ(done.size(), 1u);
}

TEST_F(TheCInterface, CopiesInTheOrderOfAStream) {
  input_tiles = 1;
  stage.run = [](void*, penstock_device_tile const* tile, penstock_stream* stream) -> std::int64_t {
    static std::array<unsigned char, bytes> host;
    host.fill(1);  // What the sink expects of tile 0.
    EXPECT_EQ(penstock_stream_upload(stream, tile->output, host.data(), bytes), PENSTOCK_OK);
    EXPECT_EQ(penstock_stream_synchronize(stream), PENSTOCK_OK);
    std::array<unsigned char, bytes> back{};
    EXPECT_EQ(penstock_stream_download(stream, back.data(), tile->output, bytes), PENSTOCK_OK);
    EXPECT_EQ(penstock_stream_synchronize(stream), PENSTOCK_OK);
    EXPECT_EQ(back, host);
    return bytes;
  };
  run();
  EXPECT_EQ(done.size(), 1u);
}

TEST_F(TheCInterface, SaysWhatBoundARunIfItIsAsked) {
  options.flags = PENSTOCK_VERDICT;
  input_tiles = 200;
  run();
  EXPECT_TRUE(report_data()["verdict"].contains("bound"));
}

TEST_F(TheCInterface, StopsARunFromAnotherThread) {
  source.next = [](void* user, penstock_tile* tile) {
    auto& world = *static_cast<TheCInterface*>(user);
    if (penstock_tile_sequence(tile) == 5) penstock_stop(world.pipeline);
    return 1;  // It has no end.
  };
  run();
  EXPECT_EQ(report_data()["stopped"], true);
}

}  // namespace
}  // namespace penstock::c
