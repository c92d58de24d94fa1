// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/tile.hpp"

namespace penstock {

/// What a lane did.
struct LaneSummary {
  std::uint64_t tiles = 0;
  std::uint64_t batches = 0;  ///< In which tiles were put on the device.
  std::uint64_t copies = 0;   ///< That the device was asked for, both ways: neighbours in the pool are one.
  std::uint64_t mapped = 0;   ///< Tiles that their stage worked on in the host's memory.
  std::uint64_t graphs = 0;   ///< Tiles for which the stage was launched as a captured graph.
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t tickets = 0;  ///< That its signal brought.
  std::uint64_t naps = 0;     ///< How often it slept because its device had enough to do.
  /// Tiles that the lane found done when its watchdog woke it: their signal was lost, or late.
  std::uint64_t found_by_watchdog = 0;
  std::chrono::nanoseconds served{0};   ///< From the first tile that it took to its end.
  std::chrono::nanoseconds idle{0};     ///< Of these, with nothing to do but to watch its device or to sleep.
  std::uint64_t failed = 0;             ///< Tiles that it got and that failed, for any reason.
  std::shared_ptr<Failure const> loss;  ///< Why it gave its device up; null if it did not.
  /// Why its stage could not be captured, though it promises so: it was run for each tile from then on. Null if it
  /// could be captured, or was not to be.
  std::shared_ptr<Failure const> not_captured;
};

struct Verdict;

/// The first thing that went wrong in a run.
struct FirstFailure {
  Failure failure;
  /// The tile's place in the source's order and its tag; empty if no tile was concerned (the source ended the input by
  /// throwing, say).
  std::optional<std::uint64_t> sequence;
  std::uint64_t tag = 0;
};

/// What one device did in a run.
struct DeviceSummary {
  std::string name;          ///< As device_name: "cuda:1".
  unsigned lanes = 0;        ///< That drove it.
  std::uint64_t tiles = 0;   ///< Done.
  std::uint64_t failed = 0;  ///< That its lanes got and that failed.
  std::string loss;          ///< Why it was lost; empty if it was not.
};

/// What a run did. Each tile submitted is counted once, as done, failed or cancelled.
struct Report {
  std::uint64_t tiles_done = 0;
  std::uint64_t tiles_failed = 0;
  std::uint64_t tiles_cancelled = 0;
  /// Completions on which the sink threw, whatever their outcome was.
  std::uint64_t sink_failures = 0;
  std::uint64_t bytes_in = 0;               ///< Filled bytes of the tiles that are done.
  std::uint64_t bytes_out = 0;              ///< Produced bytes of the tiles that are done.
  std::chrono::nanoseconds wall{0};         ///< From start to the last completion and the merge.
  std::chrono::nanoseconds borrow_wait{0};  ///< What all producers together waited for tiles.
  /// What all producers together rested because others of them were enough.
  std::chrono::nanoseconds producers_rest{0};
  std::chrono::nanoseconds fill{0};  ///< What all producers together spent in the source.
  std::chrono::nanoseconds sink{0};  ///< What all consumers together spent in the sink.
  bool stopped = false;              ///< It was asked to stop before the input ended.
  std::optional<FirstFailure> first_failure;
  /// The first completion on which the sink threw.
  std::optional<FirstFailure> first_sink_failure;
  /// What went wrong with the run and not with one tile, each in its turn: the source ended the input by throwing, a
  /// lane's stage could not be finished or merged, so its share of the result is missing.
  std::vector<Failure> run_failures;
  std::vector<LaneSummary> lanes;
  std::vector<DeviceSummary> devices;  ///< In the pipeline's order.
  /// What bounded the run and what to change, if PipelineOptions::watch asked for it; null if it did not, or if no tile
  /// is done or a device was lost. penstock/verdict.hpp has the type.
  std::shared_ptr<Verdict const> verdict;
  std::vector<std::string> remarks;  ///< What the machine would not do (bind a thread, place a page), in words.

  std::uint64_t tiles() const noexcept { return tiles_done + tiles_failed + tiles_cancelled; }
  /// True if every tile is done and nothing else went wrong.
  bool ok() const noexcept {
    return tiles_failed == 0 && tiles_cancelled == 0 && sink_failures == 0 && !stopped && !first_failure;
  }
};

/// The report in one line for a person, and one for each kind of failure; of several devices one for each that was
/// lost; and the verdict, if there is one.
std::string describe(Report const& report);

/// Which of several devices were lost, with how many tiles, and why: a sentence or more. Empty if none was, or if there
/// was one device only.
std::string lost_devices(Report const& report);

}  // namespace penstock
