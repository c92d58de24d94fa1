// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "penstock/report.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// The outcomes of the tiles that reached the sink, and failures of the run itself.
///
/// Failures are kept in a form that needs no memory.
///
/// Threads: any, but for `write_to`.
class RunOutcomes {
 public:
  /// Counts a tile that reaches the sink. `alone`: one call of this and of `add_sink_time` comes after the
  /// other, so no atomic addition is needed.
  void note(Completion const& completion, bool alone);
  /// The sink threw on this tile.
  void note_sink_failure(std::shared_ptr<Failure const> failure, std::uint64_t sequence, std::uint64_t tag);
  /// The input ended before its end; null for no reason.
  void note_input_failure(std::shared_ptr<Failure const> failure) noexcept;
  void add_sink_time(std::chrono::nanoseconds time, bool alone) noexcept {
    add(sink_time_, time.count(), alone, std::memory_order_relaxed);
  }
  /// Adds all of it to the report, and what lanes failed to finish or merge.
  ///
  /// Threads: one, once the last tile is through.
  void write_to(Report& report, std::vector<std::shared_ptr<Failure const>> const& of_lanes);
  /// Adds the current counts. For each tile in them, the calling thread sees what was counted of the tile before.
  void write_to(Snapshot& snapshot) const noexcept;

 private:
  template <class Number>
  static void add(std::atomic<Number>& sum, Number more, bool alone, std::memory_order order) noexcept {
    if (alone) {
      sum.store(sum.load(std::memory_order_relaxed) + more, order);
    } else {
      sum.fetch_add(more, order);
    }
  }
  struct Noted {
    std::shared_ptr<Failure const> failure;
    std::optional<std::uint64_t> sequence = {};
    std::uint64_t tag = 0;
    std::optional<FirstFailure> told() const;
  };

  // Incremented with release, and read with acquire.
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> cancelled_{0};
  std::atomic<std::uint64_t> sink_failures_{0};
  std::mutex mutex_;
  Noted first_;
  Noted first_of_sink_;
  std::shared_ptr<Failure const> of_input_;
  std::atomic<std::int64_t> sink_time_{0};
};

}  // namespace penstock
