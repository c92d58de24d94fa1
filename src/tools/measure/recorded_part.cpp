// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/recorded_part.hpp"

#include <algorithm>
#include <cstdint>

namespace penstock::measure {

bool cut_to_recorded(Traced& traced, Metered& metered) {
  Recording const& recording = traced.recording;
  if (recording.missed == 0) return true;
  std::int64_t full = traced.opened, device_full = traced.opened;
  for (Passage const& passage : recording.passages) {
    auto& last = on_device(passage.step) ? device_full : full;
    last = std::max(last, passage.end);
  }
  // What is on the device is noted once the host hears of it: of what was under way nothing was.
  if (device_full > traced.opened) full = std::min(full, device_full);
  if (full >= traced.closed) return true;  // It was full when the window had closed.
  double const part = static_cast<double>(full - traced.opened) / static_cast<double>(traced.closed - traced.opened);
  traced.closed = full;
  metered.seconds *= part;
  metered.tiles *= part;
  metered.cpu_seconds *= part;
  return full > traced.opened;
}

}  // namespace penstock::measure
