// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>

#include "engine/machine/slab.hpp"
#include "engine/machine/topology.hpp"
#include "penstock/device.hpp"

namespace penstock {

/// Host memory that a device copies from and to on its own.
class PinnedMemory {
 public:
  /// This is not a temporary object, since GCC warns that one may be read before it is written, if the sanitizers are
  /// on.
  static inline std::optional<NumaNode> const any_node{};

  /// Allocates and pins memory, on `node` if it names one.
  ///
  /// Blocks: as Slab, until `stop` is requested at most.
  /// Throws: Error, if there is not so much memory, if it cannot be pinned, or if `stop` was requested before.
  PinnedMemory(Device& device, std::size_t bytes, std::optional<NumaNode> const& node = any_node,
               std::stop_token const& stop = {})
      : slab_(bytes, node, Slab::default_touch_threads, stop), pinned_(device.pin(slab_.bytes())) {}

  std::span<std::byte> bytes() const noexcept { return slab_.bytes(); }

 private:
  Slab slab_;
  Pinned pinned_;  ///< It is destroyed first.
};

}  // namespace penstock
