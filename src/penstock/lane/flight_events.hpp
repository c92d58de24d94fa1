// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "penstock/device/device.hpp"

namespace penstock {

/// The events of one slot that order the three steps of a batch and say that it has landed.
struct FlightEvents {
  FlightEvents(Device& device, bool split, EventOptions options = {})
      : uploaded(split ? std::optional<Event>(device.make_event(options)) : std::nullopt),
        computed(split ? std::optional<Event>(device.make_event(options)) : std::nullopt),
        landed(device.make_event(options)) {}

  std::optional<Event> uploaded;  ///< This one and the next only where streams are split.
  std::optional<Event> computed;
  Event landed;
};

}  // namespace penstock
