// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock {

/// Which stream a lane computes on.
enum class StreamMode : std::uint8_t {
  thread_default,  ///< The default stream of the lane's thread: a stage that names no stream is on it.
  own,             ///< A non-blocking stream of the lane's own.
};

}  // namespace penstock
