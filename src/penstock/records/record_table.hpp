// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "penstock/device/device_span.hpp"

#ifdef __CUDACC__
#define PENSTOCK_HOST_DEVICE __host__ __device__
#else
#define PENSTOCK_HOST_DEVICE
#endif

namespace penstock {

/// Where one record lies.
///
/// Units: bytes; `offset` is from the first byte of all records.
struct RecordPlace {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;

  bool operator==(RecordPlace const&) const = default;
};

/// Which bytes of a tile belong to which record. It is given to kernels by value.
///
/// Threads: any. Only where `places` is memory of a device is it for that device alone.
class RecordTable {
 public:
  RecordTable() = default;
  /// Records of the same size, one behind the other.
  constexpr RecordTable(std::uint32_t count, std::uint32_t bytes_each) noexcept : count_(count), bytes_(bytes_each) {}
  /// Records that lie where `places` says, which has `count` entries.
  constexpr RecordTable(std::uint32_t count, RecordPlace const* places) noexcept : count_(count), places_(places) {}

  PENSTOCK_HOST_DEVICE constexpr std::uint32_t size() const noexcept { return count_; }
#ifdef __CUDACC__
  /// In a CUDA kernel.
  __device__ RecordPlace operator[](std::uint32_t number) const noexcept {
    return place(number);
  }
#endif
  /// In a CPU kernel: the table may be memory of the device, which only kernels read.
  constexpr RecordPlace at(KernelBlock, std::uint32_t number) const noexcept {
    return place(number);
  }

 private:
  PENSTOCK_HOST_DEVICE constexpr RecordPlace place(std::uint32_t number) const noexcept {
    return places_ != nullptr ? places_[number] : RecordPlace{number * bytes_, bytes_};
  }

  std::uint32_t count_ = 0;
  std::uint32_t bytes_ = 0;
  RecordPlace const* places_ = nullptr;
};

}  // namespace penstock
