// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace penstock {

/// What a device implements to own a flag. Users hold a Flag or a FlagRef.
class FlagBackend {
 public:
  /// `word` is 0, aligned to a cache line of its own, and can be written by the device.
  explicit FlagBackend(std::uint64_t& word) noexcept : word_(&word) {}
  FlagBackend(FlagBackend const&) = delete;
  FlagBackend& operator=(FlagBackend const&) = delete;
  virtual ~FlagBackend() = default;
  std::uint64_t& word() const noexcept { return *word_; }

 private:
  std::uint64_t* word_;
};

/// A 64-bit number in host memory that streams write and the host reads. Cheap to copy; the Flag it came from must
/// outlive it.
class FlagRef {
 public:
  FlagRef(std::nullptr_t) = delete;
  explicit FlagRef(FlagBackend& backend) noexcept : backend_(&backend) {}

  /// The number that was written last; 0 at first.
  ///
  /// Threads: any.
  /// Blocks:  never; it is a load from memory and asks no driver.
  std::uint64_t read() const noexcept {
    // Acquire: what the stream brought to the host before it wrote the number is to be seen after it.
    return std::atomic_ref<std::uint64_t>(backend_->word()).load(std::memory_order_acquire);
  }
  FlagBackend& backend() const noexcept { return *backend_; }

 private:
  FlagBackend* backend_;
};

/// Owns a flag of a device. Must die before its Device, and after the streams that were asked to write it have done so.
class Flag : public FlagRef {
 public:
  explicit Flag(std::unique_ptr<FlagBackend> backend) noexcept : FlagRef(*backend), owned_(std::move(backend)) {}

 private:
  std::unique_ptr<FlagBackend> owned_;
};

}  // namespace penstock
