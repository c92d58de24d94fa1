// SPDX-License-Identifier: Apache-2.0
// Runs of a program in C.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>

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

/// Counts of the functions of a program that were called.
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

TEST_F(TheCInterface, SaysWhatBoundARunIfItIsAsked) {
  options.flags = PENSTOCK_VERDICT;
  input_tiles = 200;
  run();
  EXPECT_TRUE(report_data()["verdict"].contains("bound"));
}

TEST_F(TheCInterface, ComputesInPlace) {
  options.flags = PENSTOCK_IN_PLACE;
  stage.run = [](void* state, penstock_device_tile const* tile, penstock_stream* stream) {
    EXPECT_EQ(tile->input, tile->output);
    return increase(state, tile, stream);
  };
  run();
  EXPECT_EQ(done.size(), input_tiles);
  EXPECT_EQ(wrong, 0u);
}

TEST_F(TheCInterface, CallsTheSinkSeveralTimesAtOnce) {
  struct Meeting {
    std::mutex mutex;
    std::condition_variable met;
    int there = 0;
  } meeting;
  options.flags = PENSTOCK_PARALLEL_SINK;
  named[1] = {"consumers", "2"};
  sink.user = &meeting;
  sink.take = [](void* user, penstock_completion*) {
    auto& all = *static_cast<Meeting*>(user);
    std::unique_lock lock(all.mutex);
    ++all.there;
    all.met.notify_all();
    EXPECT_TRUE(all.met.wait_for(lock, std::chrono::minutes(2), [&] { return all.there >= 2; })) << "it was alone";
    return 0;
  };
  run();
}

/// Holds the lane in its first call of `run` until all tiles wait for it, so that it gets several at once.
struct Neighbours {
  static constexpr int tiles = 8;
  std::mutex mutex;
  std::condition_variable changed;
  int submitted = 0;
  int calls = 0;
};

TEST_F(TheCInterface, GetsNeighboursAsOneTileIfItsWorkIsElementwise) {
  Neighbours world;
  std::array<penstock_option, 3> const all_at_once{{{"tiles", "8"}, {"batch", "4"}, {"lanes", "1"}}};
  options.options = all_at_once.data();
  options.option_count = all_at_once.size();
  stage.user = &world;
  stage.promises = PENSTOCK_ELEMENTWISE;
  stage.run = [](void* state, penstock_device_tile const* tile, penstock_stream* stream) {
    auto& all = *static_cast<Neighbours*>(state);
    std::unique_lock lock(all.mutex);
    ++all.calls;
    all.changed.wait(lock, [&] { return all.submitted == Neighbours::tiles; });
    return increase(nullptr, tile, stream);
  };
  make();
  ASSERT_EQ(penstock_start(pipeline, &stage, &sink), PENSTOCK_OK) << penstock_last_error();
  for (int i = 0; i < Neighbours::tiles; ++i) {
    penstock_tile* tile = nullptr;
    ASSERT_EQ(penstock_borrow(pipeline, &tile), PENSTOCK_OK) << penstock_last_error();
    std::memset(penstock_tile_input(tile, 0).data, i, bytes);
    penstock_tile_set_filled(tile, 0, bytes);
    ASSERT_EQ(penstock_submit(pipeline, tile), PENSTOCK_OK) << penstock_last_error();
  }
  {
    std::lock_guard const lock(world.mutex);
    world.submitted = Neighbours::tiles;
    world.changed.notify_all();
  }
  ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK) << penstock_last_error();
  EXPECT_EQ(done.size(), std::size_t{Neighbours::tiles});
  EXPECT_EQ(wrong, 0u);
  EXPECT_LT(world.calls, Neighbours::tiles);
}

}  // namespace
}  // namespace penstock::c
