// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace penstock::cupti {

/// The part of CUPTI's interface that is used here, so that a build needs none of its headers and a start no library.
///
/// The records have versions; each of these fields has the same offset in all of CUDA 12 and 13, and a test compares
/// them with the headers where these are installed.
///
/// Source: cupti_activity.h, cupti_result.h of CUDA 13.0.
enum class Kind : std::uint32_t { memcpy = 1, memset = 2, runtime = 5, kernel = 10, peer_copy = 22, external = 39 };
inline constexpr std::uint8_t copy_in = 1;
inline constexpr std::uint8_t copy_out = 2;
inline constexpr int own_correlation = 3;  ///< CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0
inline constexpr int refused_privileges = 35;
inline constexpr int refused_virtual_privileges = 40;
inline constexpr std::size_t buffer_alignment = 8;

/// Offsets of the fields of a record, in bytes. The kind is at 0 in all of them.
namespace memcpy_record {
inline constexpr std::size_t way = 4, from = 5, to = 6, flags = 7, bytes = 8, begin = 16, end = 24, device = 32,
                             stream = 40, correlation = 44, size = 96;
}
namespace memset_record {
inline constexpr std::size_t bytes = 8, begin = 16, end = 24, device = 32, stream = 40, correlation = 44, flags = 48,
                             to = 50, size = 88;
}
/// Offsets in a copy between devices, up to its correlation.
namespace peer_copy_record {
inline constexpr std::size_t way = 4, from = 5, to = 6, flags = 7, bytes = 8, begin = 16, end = 24, device = 32,
                             stream = 40, correlation = 60, size = 96;
}
namespace kernel_record {
inline constexpr std::size_t begin = 16, end = 24, device = 40, stream = 48, grid = 52, block = 64, correlation = 92,
                             name = 104, size = 216;
}
namespace external_record {
inline constexpr std::size_t kind = 4, id = 8, correlation = 16, size = 24;
}

template <class Value>
Value field(std::uint8_t const* record, std::size_t at) noexcept {
  Value value;
  std::memcpy(&value, record + at, sizeof value);
  return value;
}

/// Offsets in CUPTI's data on a call of the driver.
///
/// Source: CUpti_CallbackData of cupti_callbacks.h.
namespace callback_data {
inline constexpr std::size_t site = 0, parameters = 16, result = 24, context = 48, own_data = 56, correlation = 64;
}
inline constexpr std::uint32_t site_enter = 0;
inline constexpr std::uint32_t driver_calls = 1;  ///< CUPTI_CB_DOMAIN_DRIVER_API
inline constexpr int refused_second_user = 39;    ///< CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED

/// CUPTI's functions, by their names there without "cupti".
struct Calls {
  using Request = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
  using Complete = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                            std::size_t valid);
  using Time = std::uint64_t (*)();
  int (*register_timestamp)(Time) = nullptr;
  int (*register_callbacks)(Request, Complete) = nullptr;
  int (*enable)(Kind) = nullptr;
  int (*disable)(Kind) = nullptr;
  int (*flush_all)(std::uint32_t flag) = nullptr;
  int (*next_record)(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) = nullptr;
  int (*push)(int kind, std::uint64_t id) = nullptr;
  int (*pop)(int kind, std::uint64_t* last) = nullptr;
};

}  // namespace penstock::cupti
