// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace penstock {

/// What a device implements to own a region: freeing device memory, or unpinning host memory, in its destructor.
class RegionBackend {
 public:
  virtual ~RegionBackend() = default;
};

/// Owns memory of a device. Must die before its Device.
///
/// The span's addresses mean something to the device; on a GPU the host must not read through them.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(std::span<std::byte> bytes, std::unique_ptr<RegionBackend> owned) noexcept
      : bytes_(bytes), owned_(std::move(owned)) {}
  DeviceMemory(DeviceMemory&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), owned_(std::move(other.owned_)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    bytes_ = std::exchange(other.bytes_, {});
    owned_ = std::move(other.owned_);
    return *this;
  }
  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
  std::unique_ptr<RegionBackend> owned_;
};

/// Keeps host memory pinned, so that the device may copy from and to it on its own. Unpins when it dies; must die
/// before its Device and before the memory does.
class Pinned {
 public:
  Pinned() = default;
  explicit Pinned(std::unique_ptr<RegionBackend> owned) noexcept : owned_(std::move(owned)) {}

 private:
  std::unique_ptr<RegionBackend> owned_;
};

}  // namespace penstock
