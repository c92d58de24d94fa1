// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/pool.hpp"
#include "penstock/pipeline.hpp"

namespace penstock::measure {

/// Ends the input after a stop, once the source has given out all that it had read by then: at most as many tiles as
/// there are. So none of them is cancelled.
class UntilStopped final : public Source {
 public:
  UntilStopped(Source& input, Pool const& pool, std::stop_token stop)
      : input_(input), stop_(std::move(stop)), left_(pool.size()) {}
  bool next(Tile& tile) override {
    if (stop_.stop_requested() && left_-- == 0) return false;
    return input_.next(tile);
  }
  std::size_t fill(Tile& tile) override { return input_.fill(tile); }
  std::vector<std::string> remarks() const override { return input_.remarks(); }
  TileTypes types() const noexcept override { return input_.types(); }
  std::vector<LeftOut> left_out() const override { return input_.left_out(); }

 private:
  Source& input_;
  std::stop_token const stop_;
  std::size_t left_;
};

/// Stops a pipeline once a stop is requested and a device was lost: the rest of the input has no use then. Without a
/// loss a stop ends the source, and data that was read is processed.
///
/// Threads: any.
class StopIfLost {
 public:
  StopIfLost(Pipeline& pipeline, std::stop_token const& stop)
      : pipeline_(pipeline), stop_(stop), asked_(stop, [this] { look(); }) {}
  StopIfLost(StopIfLost const&) = delete;
  StopIfLost& operator=(StopIfLost const&) = delete;
  void see(Completion const& done) {
    if (done.failure != nullptr && done.failure->kind == ErrorKind::device_lost && !lost_.exchange(true)) look();
  }

 private:
  void look() {
    if (lost_.load() && stop_.stop_requested()) pipeline_.stop();
  }

  Pipeline& pipeline_;
  std::stop_token const stop_;
  std::atomic<bool> lost_{false};
  std::stop_callback<std::function<void()>> const asked_;
};

}  // namespace penstock::measure
