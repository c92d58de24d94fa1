// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/core/completion.hpp"
#include "penstock/lane/lane_summary.hpp"

namespace penstock {

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
