// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "penstock/device.hpp"

namespace penstock {

/// The events of one slot that order the three steps of a batch and say that it has landed.
struct FlightEvents {
  /// `more_inputs`: how many inputs the tiles have beside the first.
  FlightEvents(Device& device, bool split, std::size_t more_inputs, EventOptions options = {})
      : uploaded(split ? std::optional<Event>(device.make_event(options)) : std::nullopt),
        computed(split ? std::optional<Event>(device.make_event(options)) : std::nullopt),
        landed(device.make_event(options)) {
    for (std::size_t i = 0; split && i < more_inputs; ++i) more_uploaded.push_back(device.make_event(options));
  }

  std::optional<Event> uploaded;  ///< This one and the next only where streams are split.
  std::optional<Event> computed;
  std::vector<Event> more_uploaded;  ///< One for each further input that tiles have; likewise.
  Event landed;
};

}  // namespace penstock
