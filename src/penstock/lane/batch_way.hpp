// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock {

/// How a batch gets to its stage and back. LoneWays prefers the first.
enum class BatchWay : std::uint8_t {
  mapped,  ///< No copy: the stage works on the tiles themselves, and `landed` is behind the stage.
  copied,  ///< By copies, in the lane's streams.
};

}  // namespace penstock
