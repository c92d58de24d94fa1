// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/lane/side_calls.hpp"

namespace penstock {

/// Tickets by host function from a side stream, one for several tiles.
///
/// CUDA's newer callback. It knows no status, and is documented not to come once the device is lost.
class HostFuncSignal final : public Signal {
 public:
  explicit HostFuncSignal(SignalContext const& context) : calls_(context, &StreamRef::launch_host_function) {}

  void put(std::uint64_t number, StreamRef /*stream*/, EventRef landed) override { calls_.put(number, landed); }
  void arm(std::uint64_t retired) override { calls_.arm(retired); }
  std::optional<std::uint64_t> read() const noexcept override { return std::nullopt; }
  bool wakes() const noexcept override { return true; }

 private:
  SideCalls calls_;
};

}  // namespace penstock
