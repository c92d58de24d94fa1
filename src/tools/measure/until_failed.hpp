// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

#include "penstock/flow/source.hpp"
#include "tools/measure/filler.hpp"

namespace penstock::measure {

/// Fills tiles, and is told when one has failed.
class UntilFailed : public Source {
 public:
  explicit UntilFailed(Filler& filler) : filler_(filler) {}
  /// There is no use in more tiles.
  void fail() noexcept { failed_.store(true, std::memory_order_relaxed); }
  std::size_t fill(Tile& tile) override { return filler_.fill(tile.input()); }

 protected:
  bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

 private:
  Filler& filler_;
  std::atomic<bool> failed_{false};
};

}  // namespace penstock::measure
