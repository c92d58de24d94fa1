// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/lane/side_calls.hpp"

namespace penstock {

/// Tickets by stream callback from a side stream, one for several tiles.
///
/// The only mechanism that CUDA documents to come exactly once, and to bring the status of a device that failed.
class CallbackSignal final : public Signal {
 public:
  explicit CallbackSignal(SignalContext const& context) : calls_(context, &StreamRef::call) {}

  void put(std::uint64_t number, StreamRef /*stream*/, EventRef landed) override { calls_.put(number, landed); }
  void arm(std::uint64_t retired) override { calls_.arm(retired); }
  std::optional<std::uint64_t> read() const noexcept override { return std::nullopt; }
  bool wakes() const noexcept override { return true; }

 private:
  SideCalls calls_;
};

}  // namespace penstock
