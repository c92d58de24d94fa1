// SPDX-License-Identifier: Apache-2.0
// Floats in pinned memory of the host and in memory of a device, with the copies between them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#include <penstock/device.hpp>
#include <unistd.h>

namespace course {

/// Floats of the host in pinned memory: a device copies them while the host does other things. They must die before
/// their device.
class PinnedFloats {
 public:
  PinnedFloats(penstock::Device& device, std::size_t count, float value = 0)
      : bytes_(whole_pages(count * sizeof(float))),
        pages_(static_cast<std::byte*>(std::aligned_alloc(page(), bytes_)), &std::free),
        values_(reinterpret_cast<float*>(pages_.get()), count) {
    if (pages_ == nullptr) throw std::bad_alloc();
    std::ranges::fill(values_, value);
    pinned_ = device.pin({pages_.get(), bytes_});
  }
  std::span<float> values() const noexcept { return values_; }
  std::span<float> part(std::size_t number, std::size_t size) const { return values_.subspan(number * size, size); }

 private:
  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  static std::size_t whole_pages(std::size_t bytes) { return (bytes + page() - 1) / page() * page(); }

  std::size_t bytes_;
  std::unique_ptr<std::byte, decltype(&std::free)> pages_;
  std::span<float> values_;
  penstock::Pinned pinned_;  ///< It is destroyed first.
};

/// Floats in memory of a device. They must die before their device, and after the streams that use them.
class DeviceFloats {
 public:
  DeviceFloats(penstock::Device& device, std::size_t count) : memory_(device.allocate(count * sizeof(float))) {}
  penstock::DeviceSpan<float> values() const noexcept {
    return penstock::DeviceSpan<std::byte>(memory_.bytes()).as<float>();
  }
  penstock::DeviceSpan<float> part(std::size_t number, std::size_t size) const {
    return values().subspan(number * size, size);
  }

 private:
  penstock::DeviceMemory memory_;
};

/// Puts a copy into the stream and returns, if the floats of the host are pinned.
inline void upload(penstock::DeviceSpan<float> to, std::span<float const> from, penstock::StreamRef stream) {
  stream.upload(to.as<std::byte>(), std::as_bytes(from));
}
inline void download(std::span<float> to, penstock::DeviceSpan<float> from, penstock::StreamRef stream) {
  stream.download(std::as_writable_bytes(to), from.as<std::byte const>());
}

/// True if all values are this one.
inline bool all_are(float value, std::span<float const> values) {
  return std::ranges::all_of(values, [value](float one) { return one == value; });
}

/// Device time between two events that were passed.
///
/// Units: milliseconds.
inline double milliseconds(penstock::EventRef start, penstock::EventRef end) {
  return std::chrono::duration<double, std::milli>(end.since(start).value()).count();
}

}  // namespace course
