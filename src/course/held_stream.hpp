// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "course/workbench.hpp"
#include "engine/core/event_count.hpp"
#include "penstock/device.hpp"
#include "penstock/flavour.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {

/// True with CUDA_LAUNCH_BLOCKING=1 in the environment: each launch returns once its kernel is over.
inline bool launches_block() noexcept {
  char const* const wish = std::getenv("CUDA_LAUNCH_BLOCKING");
  return wish != nullptr && std::string_view(wish) == "1";
}

/// A non-blocking stream that the host can hold up. The order of late work and of work before it then does not depend
/// on how long anything takes.
///
/// A host function holds it, for at most ten seconds. Where launches block nothing is held, or the host would wait in a
/// launch for itself.
///
/// Threads: one.
class HeldStream {
 public:
  explicit HeldStream(Device& device) : stream_(device.make_stream()) {}
  HeldStream(HeldStream const&) = delete;
  HeldStream& operator=(HeldStream const&) = delete;
  /// Blocks: until its work is done. It is let go for that.
  ~HeldStream() { let_go(); }

  StreamRef ref() const noexcept { return stream_; }
  /// Puts the host function that holds it into the stream.
  ///
  /// Shape: once.
  void hold() {
    if (!launches_block()) stream_.launch_host_function(gate_);
  }
  /// Puts it into the stream, drawn in that row of a workbench of the device.
  void hold(Workbench& bench, std::string row) {
    bench.timed(std::move(row), "held", stream_, [&] { hold(); });
  }
  void let_go() noexcept { gate_.open(); }

 private:
  class Gate final : public StreamCallback {
   public:
    void called(StreamStatus) noexcept override {
      // Acquire: what the host did before it opened comes before what the stream does next.
      changed_.await([this] { return open_.load(std::memory_order_acquire); }, std::chrono::nanoseconds(0),
                     std::chrono::seconds(10));
    }
    void open() noexcept {
      open_.store(true, std::memory_order_release);
      changed_.notify();
    }

   private:
    EventCount changed_;
    std::atomic<bool> open_{false};
  };

  Gate gate_;
  Stream const stream_;  ///< Goes first, and waits for the gate.
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
