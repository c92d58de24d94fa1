// SPDX-License-Identifier: Apache-2.0
// A stream that the host holds. What other streams do meanwhile depends on their order, and not on how long work takes.
#pragma once

#include <atomic>
#include <cstdlib>
#include <string_view>

#include <penstock/device.hpp>

namespace course {

/// True with CUDA_LAUNCH_BLOCKING=1 in the environment: each launch returns once its kernel is over.
inline bool launches_block() {
  char const* const wish = std::getenv("CUDA_LAUNCH_BLOCKING");
  return wish != nullptr && std::string_view(wish) == "1";
}

/// A stream that stops at `hold`, until the host calls `let_go`. Where launches block nothing is held, or the host
/// would wait in a launch for itself.
class HeldStream {
 public:
  explicit HeldStream(penstock::Device& device) : stream_(device.make_stream()) {}
  HeldStream(HeldStream const&) = delete;
  HeldStream& operator=(HeldStream const&) = delete;
  ~HeldStream() { let_go(); }  // The destructor of the stream waits for its work.

  // NOLINTNEXTLINE(google-explicit-constructor): as a Stream.
  operator penstock::StreamRef() const noexcept { return stream_; }
  /// Puts a callback into the stream that returns when the host lets go.
  ///
  /// Shape: at most once. Kernels that are launched meanwhile are loaded before.
  void hold() {
    if (!launches_block()) stream_.call(gate_);
  }
  void let_go() noexcept { gate_.open(); }

 private:
  /// A callback keeps its stream until it returns.
  class Gate final : public penstock::StreamCallback {
   public:
    void called(penstock::StreamStatus) noexcept override { open_.wait(false); }
    void open() noexcept {
      open_ = true;
      open_.notify_all();
    }

   private:
    std::atomic<bool> open_{false};
  };

  Gate gate_;
  penstock::Stream stream_;  ///< It is destroyed first.
};

}  // namespace course
