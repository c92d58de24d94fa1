// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/device/signal.hpp"

namespace penstock {

/// No tickets at all: the lane asks the event behind each tile, for as long as any is in flight.
class EventPollSignal final : public Signal {
 public:
  void put(std::uint64_t /*number*/, StreamRef /*stream*/, EventRef /*landed*/) override {}
  void arm(std::uint64_t /*retired*/) override {}
  std::optional<std::uint64_t> read() const noexcept override { return std::nullopt; }
  bool wakes() const noexcept override { return false; }
};

}  // namespace penstock
