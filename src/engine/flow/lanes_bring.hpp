// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

#include "engine/core/rundown.hpp"
#include "engine/lane/tile_bringer.hpp"

namespace penstock {

/// Brings tiles on the threads of lanes.
class BringsTiles {
 public:
  /// Does what TileBringer::bring promises.
  virtual bool bring(std::size_t lane) noexcept = 0;
  /// All lanes have left.
  virtual void all_ended() = 0;

 protected:
  ~BringsTiles() = default;
};

/// Leads lanes that bring their tiles themselves to the producers of their run, while there are any.
///
/// Threads: any.
class LanesBring final : public TileBringer {
 public:
  explicit LanesBring(std::size_t lanes) : going_(lanes) {}
  LanesBring(LanesBring const&) = delete;
  LanesBring& operator=(LanesBring const&) = delete;

  /// From here on lanes bring tiles by these; wake them then.
  void begin(BringsTiles& producers);
  /// Blocks: until no lane is in a call of the producers. They have been asked to stop, but a source may take its time.
  void end();

  bool ready() const noexcept override { return producers_.load(std::memory_order_acquire) != nullptr; }
  bool bring(unsigned lane) noexcept override;
  void leave() noexcept override;

 private:
  std::atomic<BringsTiles*> producers_{nullptr};
  Rundown inside_{false};
  std::mutex mutex_;   ///< Held by a lane that leaves, and at their beginning and end.
  std::size_t going_;  ///< Lanes that have not left.
};

}  // namespace penstock
