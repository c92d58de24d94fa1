// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "penstock/device/device.hpp"
#include "penstock/machine/slab.hpp"

namespace penstock::lab {

/// Host memory that a device copies from and to on its own.
class PinnedMemory {
 public:
  /// Throws: Error, if there is not so much memory, or it cannot be pinned.
  PinnedMemory(Device& device, std::size_t bytes) : slab_(bytes), pinned_(device.pin(slab_.bytes())) {}

  std::span<std::byte> bytes() const noexcept { return slab_.bytes(); }

 private:
  Slab slab_;
  Pinned pinned_;
};

/// The floats that lie in some memory.
inline std::span<float> as_floats(std::span<std::byte> bytes) noexcept {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

}  // namespace penstock::lab
