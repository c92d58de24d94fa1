// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

/// How a tile's bytes come to its stage and back.
enum class Transport : std::uint8_t {
  /// On the CPU device all is mapped where the stage allows it and the pool is pinned: a copy there is one more pass
  /// over the tile by the same processors. On a GPU small work for a device that has little is mapped, where the stage
  /// allows it and the lane does not find that it takes longer (LoneWays); all else is copied.
  automatic,
  copies,  ///< By the device's copy engines, to a slot in its memory and back.
  mapped,  ///< No copy: the stage works on the tile's own pinned memory, which the device reaches over the link.
};

inline constexpr std::array all_transports{Transport::automatic, Transport::copies, Transport::mapped};

/// "automatic", "copies", "mapped".
std::string_view to_string(Transport transport) noexcept;
/// All names, as a text lists them: "automatic, copies, mapped".
std::string transport_names();
/// The transport of that name.
///
/// Throws: Error of kind bad_argument, which names them all.
Transport parse_transport(std::string_view name);

}  // namespace penstock
