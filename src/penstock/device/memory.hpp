// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace penstock {

/// Bytes of this process: memory of devices, and memory of the host that devices have pinned (by each that did).
struct MemoryUse {
  std::uint64_t device = 0;
  std::uint64_t pinned = 0;
};

/// What is held at this moment.
///
/// Threads: any. The same is true of the other two.
MemoryUse memory_held() noexcept;
/// The most of each that was held since the process began, or since forget_memory_peaks.
MemoryUse memory_peaks() noexcept;
/// Lets the peaks begin with what is held now.
void forget_memory_peaks() noexcept;

/// What a device implements to own a region: freeing device memory, or unpinning host memory, in its destructor.
class RegionBackend {
 public:
  enum class Kind : std::uint8_t { device, pinned };

  RegionBackend() = default;
  RegionBackend(RegionBackend const&) = delete;
  RegionBackend& operator=(RegionBackend const&) = delete;
  virtual ~RegionBackend();

 protected:
  /// Counts the region as held from here on, until it dies. Call this at most once; a region without a call is not
  /// counted.
  void count_as(Kind kind, std::size_t bytes) noexcept;
  /// The region stays counted as held after this object dies.
  void count_for_ever() noexcept;

 private:
  Kind kind_ = Kind::device;
  std::size_t bytes_ = 0;
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
