// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "penstock/error.hpp"

namespace penstock {

using CaptureBytes = std::span<std::byte const>;

/// Reads numbers of a capture in its byte order.
class CaptureNumbers {
 public:
  explicit CaptureNumbers(bool swapped) : swapped_(swapped) {}
  std::uint16_t half(CaptureBytes bytes, std::size_t at) const {
    auto const half = read<std::uint16_t>(bytes, at);
    return swapped_ ? __builtin_bswap16(half) : half;
  }
  std::uint32_t word(CaptureBytes bytes, std::size_t at) const {
    auto const word = read<std::uint32_t>(bytes, at);
    return swapped_ ? __builtin_bswap32(word) : word;
  }
  std::uint64_t long_word(CaptureBytes bytes, std::size_t at) const {
    auto const word = read<std::uint64_t>(bytes, at);
    return swapped_ ? __builtin_bswap64(word) : word;
  }
  bool swapped() const noexcept { return swapped_; }

 private:
  template <class Number>
  static Number read(CaptureBytes bytes, std::size_t at) {
    Number number = 0;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
  }

  bool swapped_;
};

/// Magic numbers of pcap: times in microseconds, in nanoseconds, and the format of A. Kuznetzov.
inline constexpr std::uint32_t pcap_microseconds = 0xA1B2C3D4, pcap_nanoseconds = 0xA1B23C4D,
                               pcap_modified = 0xA1B2CD34;
constexpr bool is_pcap_magic(std::uint32_t word) {
  return word == pcap_microseconds || word == pcap_nanoseconds || word == pcap_modified;
}
/// True if a pcap file of version 2.4 begins with these bytes, in either byte order. There are at least eight bytes.
inline bool begins_pcap(CaptureBytes bytes) {
  for (bool const swapped : {false, true}) {
    CaptureNumbers const numbers(swapped);
    if (is_pcap_magic(numbers.word(bytes, 0)) && numbers.half(bytes, 4) == 2 && numbers.half(bytes, 6) == 4)
      return true;
  }
  return false;
}

[[noreturn]] inline void refuse_capture(std::string const& sentence) {
  throw Error(ErrorKind::bad_argument, sentence);
}
[[noreturn]] inline void refuse_joined() {
  refuse_capture("Another capture begins within this one: join captures by `mergecap -w ALL FILE...`.");
}

/// Upper bound for packets and blocks, above those that any tool writes.
constexpr std::uint32_t most_captured = 1U << 26U;

}  // namespace penstock
