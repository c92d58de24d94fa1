// SPDX-License-Identifier: Apache-2.0
#include "penstock/plan/expect_in_bounds.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "penstock/core/pool.hpp"
#include "penstock/core/words.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse_value(std::string const& sentence) {
  throw Error(ErrorKind::bad_argument, sentence);
}

void expect_threads(std::string const& name, std::uint64_t value) {
  if (value <= PipelineOptions::most_threads) return;
  refuse_value("A pipeline has up to " + std::to_string(PipelineOptions::most_threads) + " " + name + ", not " +
               std::to_string(value) + ": ask for about as many as there are CPUs.");
}

void expect_at_most(std::uint64_t most, std::string const& name, std::uint64_t value) {
  if (value <= most) return;
  refuse_value("`" + name + "` is at most " + std::to_string(most) + ", not " + std::to_string(value) +
               ": ask for fewer.");
}

void expect_time(std::string const& name, std::optional<std::chrono::microseconds> value) {
  if (value && value->count() < 0) {
    refuse_value("`" + name + "` is a time before now: give 0 us or more, or leave it empty.");
  }
}

/// `all` are the values that there are.
void expect_one_of(auto const& all, std::string const& name, auto value) {
  if (std::ranges::find(all, value) != all.end()) return;
  refuse_value("`" + name + "` has a value that there is not: choose from " + words_for(all) + ".");
}

}  // namespace

void expect_in_bounds(PipelineOptions const& options) {
  Tuning const& tuning = options.tuning;
  expect_threads("producers", options.producers);
  expect_threads("lanes", options.lanes);
  expect_threads("consumers", options.consumers);
  expect_at_most(Pool::max_tiles, "slots", tuning.slots);
  expect_at_most(Pool::max_tiles, "batch", tuning.batch);
  expect_at_most(Pool::max_tiles, "tiles", tuning.tiles);
  expect_at_most(Tuning::most_spare, "spare", tuning.spare);
  expect_time("spin", tuning.spin);
  expect_time("borrow_spin", tuning.borrow_spin);
  expect_one_of(all_aims, "aim", options.aim);
  expect_one_of(all_signal_kinds, "signal", tuning.signal);
  expect_one_of(all_stream_modes, "streams", tuning.streams);
  expect_one_of(all_lane_shapes, "shape", tuning.shape);
  expect_one_of(all_transports, "transport", tuning.transport);
  expect_one_of(all_graphs, "graphs", tuning.graphs);
}

}  // namespace penstock
